// The page in a real browser, from the server and as one file without a network.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { after, before, test } from "node:test";
import { exported, launch, open, serve, settle, VIEWS } from "./browser.js";
import { ask, DEADLOCK, DEMO, HOSTILE, LOCKTRACE, locktrace, TRACES } from "./locktrace.js";
import { Random, randomSelection } from "./random.js";

const CASES = Number(process.env.LOCKTRACE_VIEWER_PAGES ?? 8);
const REPORT_ASPECTS = ["lock-class", "lock", "thread", "method", "caller", "chain", "owner-thread", "owner-method", "owner-caller", "owner-chain", "mechanism", "kind"];
let browser;
const pages = {};

before(async () => {
  browser = await launch();
  pages.server = await serve(DEMO);
  pages.file = exported(DEMO);
});
after(async () => {
  await browser?.close();
  for (const page of Object.values(pages)) page.stop();
});

const offline = (name) => (name === "file" ? { offline: true } : {});

/** Returns the JSON of its tree that the page copies. */
async function copiedTree(page) {
  await page.getByRole("button", { name: "Copy the tree" }).click();
  await page.getByRole("menuitem", { name: "Copy as JSON" }).click();
  return JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
}

/** A tree by keys, with the numbers that the page and the report have in common. */
function numbers(rows) {
  return Object.fromEntries(rows.map((row) => [row.key, {
    duration_ns: row.duration_ns, waits: row.waits, contentions: row.contentions, max: row.max_ns ?? row.max_wait_ns, children: numbers(row.children),
  }]).sort(([a], [b]) => (a < b ? -1 : 1)));
}

for (const name of ["server", "file"]) {
  for (const trace of TRACES) {
    test(`the tree equals the report's: ${name}, ${trace.split("/").pop()}`, async () => {
      const own = trace === DEMO ? null : name === "server" ? await serve(trace) : exported(trace);
      const { address } = own ?? pages[name];
      const random = new Random(99);
      const page = await open(browser, address, "", offline(name));
      for (let at = 0; at < CASES; at++) {
        const by = [...new Set(Array.from({ length: 1 + random.below(3) }, () => random.pick(REPORT_ASPECTS)))];
        const kinds = ["contention", "conditional", "idle", "sleep"].filter(() => random.chance(0.6));
        if (kinds.length === 0) kinds.push("contention");
        await page.goto(`${address}#v=1&view=tree&by=${by}${kinds.map((kind) => `&kind=${kind}`).join("")}`);
        await settle(page);
        const report = JSON.parse(locktrace("report", trace, "--format", "json", "--by", by.join(), "--kind", kinds.join()));
        const tree = await copiedTree(page);
        assert.deepEqual(numbers(tree.children), numbers(report.tree), `${by} ${kinds}`);
        assert.equal(tree.duration_ns, report.totals.duration_ns);
        assert.equal(tree.waits, report.totals.waits);
      }
      assert.deepEqual(page.faults, []);
      await page.context().close();
      own?.stop();
    });
  }

  test(`a random selection equals \`locktrace query\`: ${name}`, async () => {
    const raw = ask(DEMO, "embedded");
    const random = new Random(5);
    const page = await open(browser, pages[name].address, "", offline(name));
    for (let at = 0; at < CASES; at++) {
      const selection = randomSelection(random, raw);
      const fragment = new URLSearchParams({ v: "1", view: "tree", by: "lock-class,owner-method" });
      for (const [field, parameter] of [["from_ns", "from"], ["to_ns", "to"], ["min_ns", "min"], ["max_ns", "max"]]) if (selection[field] !== undefined) fragment.set(parameter, selection[field]);
      selection.kinds?.forEach((kind) => fragment.append("kind", kind));
      selection.filter?.forEach(({ aspect, not, in: keys }) => keys.forEach((key) => fragment.append(`${not ? "not" : "is"}.${aspect}`, key)));
      // An address has one condition for each aspect and sign.
      if (new Set(selection.filter?.map(({ aspect, not }) => `${aspect}${not}`)).size < (selection.filter?.length ?? 0)) continue;
      await page.goto(`${pages[name].address}#${fragment}`);
      await settle(page);
      const total = ask(DEMO, "query", { selection, by: [] }).groups[0];
      const shown = total.waits === 0 ? null : await copiedTree(page);
      if (shown === null) assert.ok(await page.getByText("Nobody waited here.").isVisible());
      else assert.deepEqual([shown.duration_ns, shown.waits, shown.p50_ns, shown.p99_ns, shown.max_ns, shown.threads, shown.wall_ns], [total.duration_ns, total.waits, total.p50_ns, total.p99_ns, total.max_ns, total.threads, total.wall_ns]);
    }
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test(`keys alone lead from the first screen to the owner's line: ${name}`, async () => {
    const page = await open(browser, pages[name].address, "", offline(name));
    const press = async (...keys) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press("2");
    await page.waitForSelector("[role=treegrid]");
    await settle(page);
    for (let at = 0; at < 60 && !(await page.evaluate(() => document.activeElement?.getAttribute("role") === "treegrid")); at++) await press("Tab");
    await press("ArrowDown", "ArrowDown");
    await settle(page);
    const owning = page.locator(".side-owner .frame.first");
    const [method, line] = [await owning.locator(".frame-name").getAttribute("title"), await owning.locator(".place").textContent()];
    const report = JSON.parse(locktrace("report", DEMO, "--format", "json", "--by", "lock-class,owner-chain"));
    const frame = report.tree[0].children[0].frames[0];
    assert.equal(method, `${frame.class}.${frame.method}${frame.signature}`);
    assert.ok(line.startsWith(`${frame.file}:${frame.line}`), line);
    // And by the finding, if there is one.
    await press("1");
    await settle(page);
    const findings = await page.locator(".finding a.body").count();
    assert.equal(findings, ask(DEMO, "model").findings?.length ?? 0);
    if (findings > 0) {
      await page.locator(".finding a.body").first().focus();
      await press("Enter");
      await page.waitForSelector("[role=treegrid]");
      assert.match(page.url(), /is\.lock-class=/);
    }
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test(`a link leads to the same page again: ${name}`, async () => {
    const page = await open(browser, pages[name].address, "#v=1&view=tree", offline(name));
    await page.locator("[role=row][aria-level='2']").first().click();
    await page.getByRole("button", { name: "Leave it out" }).first().click();
    await settle(page);
    await page.getByRole("button", { name: "By thread" }).click();
    await page.getByLabel("from", { exact: true }).fill("200 ms");
    await page.getByLabel("from", { exact: true }).press("Enter");
    await settle(page);
    const text = () => page.locator("#main").innerText();
    const [link, seen] = [page.url(), await text()];
    assert.match(link, /not\.owner-method=/);
    assert.match(link, /from=200000000/);
    const other = await open(browser, link, "", offline(name));
    assert.equal(await other.locator("#main").innerText(), seen);
    // Changes can be undone, and done again.
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Undo" }).click();
    await settle(page);
    assert.doesNotMatch(page.url(), /from=/);
    await page.getByRole("button", { name: "Redo" }).click();
    await settle(page);
    assert.equal(page.url(), link);
    assert.deepEqual([...page.faults, ...other.faults], []);
    await page.context().close();
    await other.context().close();
  });

  test(`hostile names are text in every view: ${name}`, async () => {
    const own = name === "server" ? await serve(HOSTILE) : exported(HOSTILE);
    const page = await open(browser, own.address, "", offline(name));
    const elements = "main script, main img, header script, header img";
    for (const fragment of ["view=summary", "view=tree&by=thread,lock-class,method", "view=flame", "view=flame&flame=chain", "view=timeline&lanes=thread", "view=graph&grain=thread", "view=waits&wait=0", "view=compare&from=0&to=200000000&other.from=200000000&other.to=400000000", "view=tree&is.thread=%3Cscript%3E"]) {
      await page.goto(`${own.address}#v=1&${fragment}`);
      await settle(page);
      assert.equal(await page.locator(elements).count(), 0, fragment);
    }
    await page.goto(`${own.address}#v=1&view=tree&by=thread`);
    await settle(page);
    assert.ok(await page.getByText("<script>document.title='owned'</script>").first().isVisible());
    await page.keyboard.press("/");
    await page.locator(".search-input").fill("<script");
    await page.locator(".results [role=option]").first().waitFor();
    assert.equal(await page.locator("dialog script, dialog img").count(), 0);
    assert.doesNotMatch(await page.title(), /owned/);
    assert.equal(await page.evaluate(() => globalThis.owned), undefined);
    assert.deepEqual(page.faults, []);
    await page.context().close();
    own.stop();
  });
}

test("the exported file is one file, and small", () => {
  assert.ok(statSync(pages.file.file).size < 5_000_000);
});

test("a dialog is open before the next key can come", async () => {
  const page = await open(browser, pages.file.address, "", { offline: true });
  for (const key of ["?", "/"]) {
    const isOpen = await page.evaluate(async (key) => {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      // Lets the page draw itself, and nothing that waits for a timer, a frame or an input.
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
      return document.querySelector("dialog")?.open;
    }, key);
    assert.equal(isOpen, true, key);
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
  }
  await page.context().close();
});

test("no view scrolls sideways, on a desk or on a phone", async () => {
  for (const viewport of [{ width: 1280, height: 800 }, { width: 390, height: 844 }]) {
    const page = await open(browser, pages.file.address, "", { viewport, offline: true });
    for (const view of [...VIEWS, "waits&wait=100", "compare&from=0&to=1000000000&other.from=1500000000&other.to=2500000000"]) {
      await page.goto(`${pages.file.address}#v=1&view=${view}`);
      await settle(page);
      const [content, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(content <= room, `${view} at ${viewport.width}: ${content}`);
    }
    assert.deepEqual(page.faults, []);
    await page.context().close();
  }
});

test("tables copy as text, Markdown and JSON, and hostile names do not break them", async () => {
  const own = exported(HOSTILE);
  const page = await open(browser, own.address, "#v=1&view=tree&by=thread", { offline: true });
  const copied = async (form) => {
    await page.getByRole("button", { name: "Copy the tree" }).click();
    await page.getByRole("menuitem", { name: `Copy as ${form}` }).click();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const rows = ask(HOSTILE, "query", { by: ["thread"] }).groups.length - 1;
  assert.equal((await copied("text")).trimEnd().split("\n").length, rows + 3);
  const markdown = await copied("Markdown");
  assert.doesNotMatch(markdown, /(^|[^\\])<script/);
  assert.equal(JSON.parse(await copied("JSON")).children.length, rows);
  await page.context().close();
  own.stop();
});

test("the timeline's lanes and the flame graph draw what was asked for", async () => {
  const page = await open(browser, pages.file.address, "#v=1&view=timeline&lanes=lock", { offline: true });
  const lanes = JSON.parse(await page.locator("canvas[data-lanes]").getAttribute("data-lanes"));
  const answer = ask(DEMO, "lanes", { selection: {}, by: "lock", px: 1_000, limit: 20 });
  const expected = answer.lanes.map((lane) => [answer.values[lane.value].key, lane.duration_ns]).sort();
  assert.deepEqual(lanes.map(([key, , duration]) => [key, duration]).sort(), expected);
  await page.goto(`${pages.file.address}#v=1&view=flame`);
  await settle(page);
  const boxes = JSON.parse(await page.locator("canvas[data-boxes]").getAttribute("data-boxes"));
  const whole = boxes.find(([depth]) => depth === 0)[2];
  const first = boxes.filter(([depth]) => depth === 1).reduce((sum, [, , width]) => sum + width, 0);
  assert.ok(Math.abs(whole - first) <= 3, `${first} of ${whole} pixels`);
  await page.context().close();
});

test("what other views will ask is asked ahead, in their words", async () => {
  const page = await open(browser, pages.server.address, "");
  const asked = new Set();
  const ahead = new Set();
  let isAhead = true;
  page.on("request", (request) => {
    if (request.url().endsWith("/api/query")) (isAhead ? ahead : asked).add(request.postData());
  });
  await page.reload();
  await settle(page);
  let before = -1;
  while (before < ahead.size) {
    before = ahead.size;
    await page.waitForTimeout(2_000);
  }
  isAhead = false;
  for (const view of ["tree", "flame&flame=owners", "flame&flame=chain", "timeline", "graph&grain=thread", "tree&by=method,lock-class,owner-method"]) {
    await page.goto(`${pages.server.address}#v=1&view=${view}`);
    await settle(page);
  }
  assert.ok(asked.size > 5);
  assert.deepEqual([...asked].filter((question) => !ahead.has(question)), []);
  assert.deepEqual(page.faults, []);
  await page.close();
});

test("following a wait to its owner and back", async () => {
  const page = await open(browser, pages.file.address, "#v=1&view=timeline&lanes=thread&wait=100", { offline: true });
  const { owner_waits } = ask(DEMO, "wait", { id: 100 });
  await page.keyboard.press("]");
  await settle(page);
  if (owner_waits.length > 0) {
    assert.match(page.url(), new RegExp(`wait=${owner_waits[0].id}\\b`));
    await page.keyboard.press("[");
    await settle(page);
  } else assert.match(await page.getByRole("status").innerText(), /was not waiting then/);
  assert.match(page.url(), /wait=100\b/);
  await page.context().close();
});

test("the command that is copied prints what the page shows", async () => {
  const page = await open(browser, pages.server.address);
  const report = locktrace("report", "--help");
  const cases = [
    ["kind=contention&kind=sleep&by=thread", "report"],
    ["is.lock-class=demo.AuditLog&not.thread=" + encodeURIComponent(ask(DEMO, "query", { by: ["thread"] }).values[0].key), "report"],
    ["from=100000000&to=900000000&is.owner-method=" + encodeURIComponent("demo.AuditLog.append(Ljava/lang/String;)V"), "report"],
    ["min=1000000&by=lock,owner-thread", "query"],
    ["is.owner-thread=%3Cfree%3E", "query"],
  ];
  for (const [fragment, command] of cases) {
    await page.goto(`${pages.server.address}#v=1&view=tree&${fragment}`);
    await settle(page);
    await page.getByRole("button", { name: "Copy as command" }).click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.ok(copied.startsWith(`locktrace ${command} `), copied);
    // A report of an older command line has no such options yet.
    if (command === "report" && !fragment.startsWith("kind") && !report.includes("--owner-method")) continue;
    const json = command === "report" ? " --format json" : "";
    const printed = JSON.parse(execFileSync("sh", ["-c", `"$LOCKTRACE" ${copied.slice("locktrace ".length)}${json}`], { encoding: "utf8", env: { ...process.env, LOCKTRACE } }));
    const total = command === "report" ? printed.totals : printed.groups.find((group) => group.path.length === 0);
    const tree = await copiedTree(page);
    assert.deepEqual([total.duration_ns, total.waits], [tree.duration_ns, tree.waits], copied);
  }
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("a deadlock is one finding, with those who wait behind it", async () => {
  const { address, stop } = exported(DEADLOCK);
  const page = await open(browser, address, "#v=1&view=summary", { offline: true });
  assert.equal(await page.locator(".findings > li").count(), 1);
  const title = await page.locator(".findings h3").innerText();
  assert.match(title, /^Deadlock: transfer-\d, transfer-\d have blocked each other for .*, and 3 more threads wait behind them$/);
  const card = page.getByRole("region", { name: "Deadlock" });
  assert.deepEqual((await card.locator("> ol h3").allInnerTexts()).sort(), ["transfer-1", "transfer-2"]);
  await card.getByText("3 more threads wait behind them").click();
  assert.deepEqual((await card.locator("details h3").allInnerTexts()).sort(), ["reader-0", "reader-1", "reader-2"]);
  assert.match(await card.locator("details pre").first().innerText(), /^Deadlock\.read\(Deadlock\.java:\d+\)/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
  stop();
});

test("words are not broken at a phone's width", async () => {
  const page = await open(browser, pages.file.address, "#v=1&view=tree&kind=contention&kind=conditional&kind=idle&kind=sleep", { offline: true, viewport: { width: 390, height: 844 } });
  for (const name of ["contention", "conditional", "idle", "sleep"]) {
    const { height } = await page.getByRole("button", { name, exact: true }).boundingBox();
    assert.ok(height < 40, `${name} is ${height} pixels high`);
  }
  await page.context().close();
});
