// axe on every view, light and dark, with its tables and dialogs.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { violations } from "./axe.js";
import { exported, launch, open, settle, VIEWS } from "./browser.js";
import { DEMO } from "./locktrace.js";

let browser;
let file;

before(async () => {
  browser = await launch();
  file = exported(DEMO);
});
after(async () => {
  await browser?.close();
  file?.stop();
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe has nothing to say about any view, ${colorScheme}`, async () => {
    // The tests' own script is not the page's, so the page's policy does not let it in.
    const page = await open(browser, file.address, "", { colorScheme, offline: true, bypassCSP: true });
    const found = [];
    const look = async (what) => found.push(...(await violations(page)).map((one) => `${what}: ${one}`));
    for (const view of [...VIEWS, "flame&flame=chain", "timeline&lanes=thread&wait=100", "waits&wait=100", "tree&at=demo.AuditLog&is.lock-class=demo.AuditLog&from=100000000", "compare&from=0&to=1000000000&other.from=1500000000&other.to=2500000000"]) {
      await page.goto(`${file.address}#v=1&view=${view}`);
      await settle(page);
      await look(view);
      const tables = page.locator("#main").getByRole("button", { name: "Table", exact: true });
      if ((await tables.count()) > 0) {
        await tables.first().click();
        await settle(page);
        await look(`${view}, table`);
      }
    }
    assert.deepEqual(found, []);
    await page.keyboard.press("?");
    await look("help");
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    await page.locator(".search-input").fill("demo");
    await page.locator(".results [role=option]").first().waitFor();
    await look("search");
    assert.deepEqual(found, []);
    await page.context().close();
  });
}

test("every canvas has a name, and a table beside it", async () => {
  const page = await open(browser, file.address, "", { offline: true });
  for (const view of ["tree", "flame", "timeline"]) {
    await page.goto(`${file.address}#v=1&view=${view}`);
    await settle(page);
    for (const canvas of await page.locator("canvas").all()) assert.ok((await canvas.getAttribute("aria-label")).length > 20);
    assert.ok((await page.getByRole("button", { name: "Table", exact: true }).count()) >= (await page.locator("canvas").count()));
  }
  await page.context().close();
});
