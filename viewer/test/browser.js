// A browser, and both ways to get the page: from the server, and as one file.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { LOCKTRACE, locktrace } from "./locktrace.js";

const CHROMIUM = process.env.LOCKTRACE_CHROMIUM ?? ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find(existsSync);

export async function launch() {
  // Chromium has no sandbox for root, and tests run as root in containers.
  return chromium.launch({ executablePath: CHROMIUM, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
}

/** Starts `locktrace view`; `address` is the page's. */
export async function serve(trace, ...options) {
  const child = spawn(LOCKTRACE, ["view", "--no-open", ...options, trace], { stdio: ["ignore", "pipe", "pipe"] });
  const address = await new Promise((resolve, reject) => {
    let said = "";
    const listen = (data) => {
      said += data;
      const found = /http:\/\/127\.0\.0\.1:\d+\/\S*/.exec(said);
      if (found) resolve(found[0]);
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.on("exit", (code) => reject(new Error(`locktrace view ended with ${code}: ${said}`)));
  });
  return { address, stop: () => child.kill() };
}

/** Writes the page in one file; `address` is the file's. */
export function exported(trace) {
  const folder = mkdtempSync(join(tmpdir(), "locktrace-page-"));
  const file = join(folder, "report.html");
  locktrace("view", "--export", file, trace);
  return { address: pathToFileURL(file).href, file, stop: () => rmSync(folder, { recursive: true }) };
}

/** Opens the page; what it logs or throws, and requests of other hosts, are kept in `faults`. */
export async function open(browser, address, fragment = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]).catch(() => {});
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(String(error.stack)));
  page.on("console", (message) => {
    if (message.type() === "error") page.faults.push(message.text());
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (!["file:", "data:"].includes(url.protocol) && url.hostname !== "127.0.0.1") page.faults.push(`request of ${url}`);
  });
  await page.goto(address + fragment);
  await settle(page);
  return page;
}

/** Waits until the page has asked and drawn all that it wants to. */
export async function settle(page) {
  await page.waitForSelector("#main");
  await page.waitForFunction(() => document.querySelector(".loading") === null && !document.body.textContent.includes("Reading…"));
  await page.waitForTimeout(120);
}

export const VIEWS = ["summary", "tree", "flame", "timeline", "graph", "waits", "compare"];
