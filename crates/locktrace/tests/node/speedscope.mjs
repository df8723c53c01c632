// Opens profiles with speedscope's page in a browser, and prints what it exports of each in its own format, as a JSON
// list.
import { existsSync, readFileSync } from "node:fs";
import { chromium } from "../../../../build/test-node/playwright-core/index.mjs";

const PAGE = new URL("../../../../build/test-node/speedscope/dist/release/index.html", import.meta.url);
const CHROMIUM = process.env.LOCKTRACE_CHROMIUM ?? ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find(existsSync);

// Chromium has no sandbox for root, and tests run as root in containers.
const browser = await chromium.launch({ executablePath: CHROMIUM, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
const exports = [];
for (const profile of process.argv.slice(2)) {
  const page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  // It says so in a window what it cannot read.
  page.on("dialog", (dialog) => {
    throw new Error(`${profile}: ${dialog.message()}`);
  });
  await page.goto(PAGE.href);
  await page.setInputFiles("input[type=file]", profile);
  await page.getByText("Sandwich").waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Control+s")]);
  exports.push(JSON.parse(readFileSync(await download.path(), "utf8")));
  await page.close();
}
await browser.close();
console.log(JSON.stringify(exports));
