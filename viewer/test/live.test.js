// The page of a trace that is still being written.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { violations } from "./axe.js";
import { exported, launch, open, serve, settle, VIEWS } from "./browser.js";
import { growingIn } from "./growing.js";
import { DEMO, locktrace } from "./locktrace.js";

let browser;
let folder;
let growing;

before(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), "locktrace-live-"));
  growing = (name) => growingIn(folder, name);
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

const bar = (page) => page.getByRole("region", { name: "The running program" });
const headline = (page) => page.locator(".headline .big").innerText();

async function until(what, isSo, ms = 15_000) {
  const start = Date.now();
  while (!(await isSo())) {
    assert.ok(Date.now() - start < ms, what);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Lets the trace grow, and waits until the page shows more than before. */
async function growSeen(page, trace) {
  const before = await headline(page);
  const isSeen = async () => (await headline(page)) !== before;
  trace.grow();
  // A step may end inside of a chunk, and have no wait that has ended.
  await until("", isSeen, 4_000).catch(() => trace.grow());
  await until("the page grows", isSeen);
}

test("the page grows with the trace, until that ends", async () => {
  const trace = growing("grows.lct");
  const server = await serve(trace.file);
  const page = await open(browser, server.address);
  await bar(page).getByText("Live").waitFor();
  for (let step = 0; step < 2; step++) await growSeen(page, trace);
  // Not more often than once a second.
  let asked = 0;
  page.on("request", (request) => { if (request.url().endsWith("api/model")) asked++; });
  const begin = Date.now();
  await growSeen(page, trace);
  await page.waitForTimeout(2_000);
  assert.ok(asked <= 1 + (Date.now() - begin) / 1_000, `${asked} times`);
  trace.end();
  await bar(page).waitFor({ state: "detached" });
  assert.match(await page.getByRole("status").innerText(), /has ended/);
  await page.goto(`${server.address}#v=1&view=tree`);
  await settle(page);
  await page.getByRole("button", { name: "Copy the tree" }).click();
  await page.getByRole("menuitem", { name: "Copy as JSON" }).click();
  const tree = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  const { totals } = JSON.parse(locktrace("report", DEMO, "--format", "json"));
  assert.deepEqual([tree.duration_ns, tree.waits], [totals.duration_ns, totals.waits]);
  assert.deepEqual(page.faults, []);
  await page.context().close();
  server.stop();
});

test("the newest part is followed until another range is selected, which stays", async () => {
  const trace = growing("follows.lct");
  const server = await serve(trace.file);
  const page = await open(browser, server.address, "#v=1&view=summary&last=100000000");
  const range = async () => [await page.getByLabel("from", { exact: true }).inputValue(), await page.getByLabel("to", { exact: true }).inputValue()];
  await bar(page).waitFor();
  const first = await range();
  await growSeen(page, trace);
  await until("the range moves", async () => (await range()).every((text, at) => text !== first[at]));
  assert.match(page.url(), /last=100000000/);
  assert.doesNotMatch(page.url(), /from=/);
  assert.ok(await page.getByText("the last 100 ms").isVisible());
  // Another view, or a condition, goes on with it.
  await page.keyboard.press("2");
  await settle(page);
  await page.keyboard.press("1");
  assert.match(page.url(), /last=100000000/);

  // A range that is dragged stays where it is.
  const box = await page.locator(".strip canvas").boundingBox();
  await page.mouse.move(box.x + box.width * 0.2, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 20, { steps: 4 });
  await page.mouse.up();
  await settle(page);
  assert.doesNotMatch(page.url(), /last=/);
  assert.match(page.url(), /from=\d+&to=\d+/);
  const [selected, link] = [await range(), page.url()];
  await growSeen(page, trace);
  await settle(page);
  assert.deepEqual(await range(), selected);
  assert.equal(page.url(), link);

  // The whole, and the newest part by a key.
  await bar(page).getByRole("button", { name: "All", exact: true }).click();
  assert.doesNotMatch(page.url(), /from=/);
  await page.keyboard.press("l");
  assert.match(page.url(), /last=60000000000/);
  assert.equal(await bar(page).getByRole("button", { name: "Last minute" }).getAttribute("aria-pressed"), "true");
  assert.deepEqual(page.faults, []);
  await page.context().close();
  server.stop();
});

test("a page that is paused, or dragged over, stays as it is", async () => {
  const trace = growing("pauses.lct");
  const server = await serve(trace.file);
  const page = await open(browser, server.address);
  await bar(page).waitFor();
  await growSeen(page, trace);
  await page.keyboard.press("p");
  await bar(page).getByText("Paused").waitFor();
  const paused = await headline(page);
  trace.grow();
  await page.waitForTimeout(2_500);
  assert.equal(await headline(page), paused);
  await page.keyboard.press("p");
  await until("it goes on", async () => (await headline(page)) !== paused);

  const box = await page.locator(".strip canvas").boundingBox();
  await page.mouse.move(box.x + 200, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 300, box.y + 20);
  await page.waitForTimeout(500);
  const dragged = await headline(page);
  trace.grow();
  await page.waitForTimeout(2_500);
  assert.equal(await headline(page), dragged);
  await page.mouse.up();
  await growSeen(page, trace);
  assert.deepEqual(page.faults, []);
  await page.context().close();

  // The page says that the server no longer answers.
  const other = await open(browser, server.address);
  await bar(other).waitFor();
  server.stop();
  await bar(other).getByText("The server has ended").waitFor();
  await other.context().close();
});

test("what is exported while the trace is written says so", async () => {
  const trace = growing("exported.lct");
  trace.grow();
  const file = exported(trace.file);
  const page = await open(browser, file.address, "", { offline: true });
  assert.equal(await bar(page).count(), 0);
  assert.equal(await page.getByRole("progressbar").count(), 0);
  assert.ok(await page.getByText("the end is missing").isVisible());
  assert.deepEqual(page.faults, []);
  await page.context().close();
  file.stop();

  const server = await serve(trace.file);
  const live = await open(browser, server.address);
  await bar(live).waitFor();
  const html = await live.evaluate(async () => (await fetch("export.html")).text());
  const saved = join(folder, "live.html");
  writeFileSync(saved, html);
  const copy = await open(browser, `file://${saved}`, "", { offline: true });
  assert.equal(await bar(copy).count(), 0);
  assert.equal(await copy.getByRole("progressbar").count(), 0);
  assert.ok(await copy.getByText("was still being written when this file was made").isVisible());
  assert.deepEqual([...live.faults, ...copy.faults], []);
  await copy.context().close();
  await live.context().close();
  server.stop();
});

test("a live page fits a phone, and axe has nothing to say about it", async () => {
  const trace = growing("phone.lct");
  trace.grow();
  const server = await serve(trace.file);
  for (const [viewport, colorScheme] of [[{ width: 1280, height: 800 }, "dark"], [{ width: 390, height: 844 }, "light"]]) {
    const page = await open(browser, server.address, "", { viewport, colorScheme, bypassCSP: true });
    await bar(page).waitFor();
    for (const view of VIEWS) {
      await page.goto(`${server.address}#v=1&view=${view}&last=100000000`);
      await settle(page);
      const [content, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(content <= room, `${view} at ${viewport.width}: ${content}`);
    }
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(page.faults, []);
    await page.context().close();
  }
  server.stop();
});
