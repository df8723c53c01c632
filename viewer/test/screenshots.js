// Takes the pictures of the docs, of the demo's trace: `node screenshots.js FOLDER`.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exported, launch, open, serve, settle } from "./browser.js";
import { growingIn } from "./growing.js";
import { DEMO } from "./locktrace.js";

const folder = process.argv[2];
const PICTURES = {
  summary: "view=summary",
  tree: "view=tree&at=java.util.Hashtable&at=demo.Ledger.formatStatement()Ljava/lang/String;",
  flame: "view=flame&flame=chain",
  timeline: "view=timeline&lanes=thread&from=100000000&to=400000000",
  graph: "view=graph",
  waits: "view=waits",
  compare: "view=compare&from=0&to=1000000000&other.from=1500000000&other.to=2500000000",
};
const PAGES = [
  ["", { viewport: { width: 1280, height: 800 }, colorScheme: "light" }],
  ["-dark", { viewport: { width: 1280, height: 800 }, colorScheme: "dark" }],
  ["-phone", { viewport: { width: 390, height: 844 }, colorScheme: "light" }],
];

mkdirSync(folder, { recursive: true });
const file = exported(DEMO);
const browser = await launch();
for (const [suffix, options] of PAGES) {
  for (const [name, fragment] of Object.entries(PICTURES)) {
    // All in light; of the others one is enough to see that they are there.
    if (suffix !== "" && name !== "summary") continue;
    const page = await open(browser, file.address, `#v=1&${fragment}`, { ...options, offline: true });
    await settle(page);
    await page.screenshot({ path: join(folder, `${name}${suffix}.png`) });
    await page.context().close();
  }
}
const made = mkdtempSync(join(tmpdir(), "locktrace-live-"));
const trace = growingIn(made, "demo.lct");
for (let step = 0; step < 5; step++) trace.grow();
const server = await serve(trace.file);
const live = await open(browser, server.address, "#v=1&view=timeline&lanes=thread&last=1000000000");
await live.getByRole("region", { name: "The running program" }).waitFor();
await settle(live);
await live.screenshot({ path: join(folder, "live.png") });
await live.context().close();
server.stop();
rmSync(made, { recursive: true });
await browser.close();
file.stop();
