// Measures how long the page takes, on a trace of any size: `node viewer/bench/interactions.js
// TRACE`. Prints a line for each interaction: milliseconds until the view shows the answer.
import { launch, serve } from "../test/browser.js";

const trace = process.argv[2];
const started = performance.now();
const { address, stop } = await serve(trace);
const browser = await launch();
const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
page.setDefaultTimeout(600_000);
const say = (what, ms, digits = 0) => console.log(`${ms.toFixed(digits).padStart(8)} ms  ${what}`);

await page.goto(address);
await page.waitForSelector("#main");
say("the first screen, from the start of locktrace view", performance.now() - started);
await page.waitForFunction(() => document.querySelector("[role=progressbar]") === null);
say("all of the trace is read", performance.now() - started);
await page.waitForTimeout(1_500);

const { duration_ns } = await page.evaluate(async () => (await fetch("api/model")).json());
const part = (share) => Math.floor(duration_ns * share);

/** Goes to an address, and waits until what was asked is answered and drawn. */
async function measure(what, fragment) {
  const times = [];
  for (let run = 0; run < 5; run++) {
    await page.evaluate(() => (location.hash = "#v=1&view=compare"));
    await page.waitForTimeout(300);
    times.push(await page.evaluate(async (hash) => {
      const begin = performance.now();
      location.hash = hash;
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      const isBusy = () => document.querySelector(".loading") !== null || document.querySelector("#main").textContent.includes("Reading…") || document.querySelector("#main [role=treegrid], #main canvas, #main svg[role=group], #main .histogram, .findings, #main .empty") === null;
      await frame();
      do await frame(); while (isBusy());
      return performance.now() - begin;
    }, `#v=1&${fragment}`));
  }
  times.sort((a, b) => a - b);
  say(`${what} (${times[0].toFixed(0)} to ${times[4].toFixed(0)})`, times[2]);
}

await measure("summary", "view=summary");
await measure("tree by lock", "view=tree");
await measure("tree by lock, a tenth of the time", `view=tree&from=${part(0.4)}&to=${part(0.5)}`);
await measure("tree by threads", "view=tree&by=thread,owner-thread,lock");
await measure("flame graph of owners", "view=flame");
await measure("flame graph from owner to waiter", "view=flame&flame=chain");
await measure("timeline by lock", "view=timeline");
await measure("timeline by thread, a hundredth of the time", `view=timeline&lanes=thread&from=${part(0.5)}&to=${part(0.51)}`);
await measure("who blocks whom by thread", "view=graph&grain=thread");
await measure("waits", "view=waits");
await measure("waits, a tenth of the time", `view=waits&from=${part(0.4)}&to=${part(0.5)}`);

await page.evaluate((hash) => (location.hash = hash), `#v=1&view=timeline&from=${part(0.4)}&to=${part(0.6)}`);
await page.waitForTimeout(2_000);
const frames = await page.evaluate(async () => {
  const times = [];
  let last = performance.now();
  for (let frame = 0; frame < 60; frame++) {
    dispatchEvent(new KeyboardEvent("keydown", { key: frame % 4 < 2 ? "d" : "w", bubbles: true }));
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "d", bubbles: true }));
    await new Promise((resolve) => requestAnimationFrame(resolve));
    times.push(performance.now() - last);
    last = performance.now();
  }
  return times.sort((a, b) => a - b);
});
// At 60 frames a second none takes less than 16.7.
say(`a frame while the timeline moves, median (95 % within ${frames[56].toFixed(1)}, slowest ${frames[59].toFixed(1)})`, frames[30], 1);
await browser.close();
stop();
