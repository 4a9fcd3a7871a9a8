// The list of sessions.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { guarded, serve, test } from "./lib.mjs";
import { HOSTILE } from "./fixture.mjs";
import { browser, onPage, ours, pathOf, server, withoutScript } from "./world.mjs";

const rowNames = (page) => page.locator("#rows tbody .name").allInnerTexts();

await test("the index lists the sessions, newest first", () =>
  onPage("/", async (page) => {
    const names = await rowNames(page);
    const at = (text) => names.findIndex((name) => name.includes(text));
    assert.ok(at("2026_11_21_06_35_03") >= 0);
    assert.ok(at("2026_11_21_06_35_03") < at("2026_02_03_04_05_06"));
    assert.ok(at("2026_02_03_04_05_06") < at("2026_01_12_00_26_20"));
    assert.ok(at("2026_01_12_00_26_20") < at("2026_01_11_21_26_41"));
    assert.ok(await page.locator(".badge", { hasText: "archive" }).count());
  }));

await test("what cannot be read says why, beside its neighbours", () =>
  onPage("/", async (page) => {
    assert.match(await page.locator("main").innerText(), /LFS/);
  }));

await test("headlines arrive for rows in view", () =>
  onPage("/", async (page) => {
    const row = page.locator("tr", { hasText: "2026_01_11_21_26_41" });
    await row.locator("svg.bar").waitFor();
    // docs/reference/metrics.md#window: idle is 0.04 % of the device window of 67.2 ms.
    assert.match(await row.innerText(), /99\.96% busy of 67\.235 ms/);
  }));

/* ---- Search ---------------------------------------------------------------------------------- */

const rowCount = (page, n) =>
  page.waitForFunction((n) => document.querySelectorAll("#rows tbody tr").length === n, n);

await test("search narrows the list while typing", () =>
  onPage("/", async (page) => {
    await page.locator("#q").pressSequentially("2026_01 TPU");
    await page.locator("#count", { hasText: "None of" }).waitFor();
    await page.locator("#q").fill("2026_01_1");
    await rowCount(page, 2);
    assert.ok((await rowNames(page)).every((name) => name.includes("2026_01_1")));
    assert.equal(new URL(page.url()).searchParams.get("q"), "2026_01_1");
    assert.match(await page.locator("#news").innerText(), /^2 of \d+ runs/);
  }));

await test("search works without script", () =>
  onPage(
    "/?sort=name",
    async (page) => {
      await page.locator("#q").fill("two_hosts");
      await page.getByRole("button", { name: "Search" }).click();
      assert.equal((await rowNames(page)).length, 1);
      assert.equal(await page.locator("#q").inputValue(), "two_hosts");
      assert.equal(new URL(page.url()).searchParams.get("sort"), "name");
    },
    withoutScript
  ));

await test("archives and what cannot be read are found by these words", () =>
  onPage("/?q=unreadable", async (page) => {
    assert.ok((await page.locator("tr.dead").count()) > 0);
    assert.equal(await page.locator("#rows tbody tr:not(.dead)").count(), 0);
    await page.goto(`${server.url}/?q=archive`);
    const rows = await page.locator("#rows tbody tr").count();
    assert.ok(rows > 0);
    assert.equal(await page.locator("#rows .badge", { hasText: "archive" }).count(), rows);
  }));

/* ---- Order ----------------------------------------------------------------------------------- */

const SIZE = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };
const sizes = async (page) =>
  (await page.locator("#rows tbody .num").allInnerTexts()).map((text) => {
    const [n, unit] = text.split(" ");
    return Number(n) * SIZE[unit];
  });
const isSorted = (v) => v.every((x, i) => !i || v[i - 1] >= x);

for (const javaScriptEnabled of [true, false]) {
  await test(`the list is sorted by link, script ${javaScriptEnabled ? "on" : "off"}`, () =>
    onPage(
      "/",
      async (page) => {
        const order = (text) => page.locator(".orders a", { hasText: text }).click();
        const there = (sort) => page.locator(`.orders div:first-child [aria-current][href*="sort=${sort}"]`).waitFor();
        await order("size");
        await there("-size"); // what the link does next
        assert.ok(isSorted(await sizes(page)));
        assert.equal(await page.locator("th[aria-sort=descending]").innerText(), "Size");
        await order("size");
        await there("size");
        assert.ok(isSorted((await sizes(page)).reverse()));
        assert.equal(new URL(page.url()).searchParams.get("sort"), "-size");
        await order("name");
        await there("-name");
        const names = (await rowNames(page)).map((name) => name.replace(/ archive$/, ""));
        assert.deepEqual(names, [...names].sort());
        await page.goBack();
        await there("size");
        assert.ok(isSorted((await sizes(page)).reverse()));
      },
      { javaScriptEnabled }
    ));
}

await test("the least busy session stands first, and those without a figure last", () =>
  onPage("/", async (page) => {
    for (const text of ["2026_01_11_21_26_41", "2026_02_03_04_05_06"])
      await page.request.get(`${server.url}${pathOf("session", text)}headline`);
    await page.goto(`${server.url}/?sort=busy`);
    const names = await rowNames(page);
    const at = (text) => names.findIndex((name) => name.includes(text));
    assert.ok(at("2026_02_03") < at("2026_01_11"), "86.6 % before 100 %");
    assert.ok(at("2026_01_11") < at("broken"));
    assert.match(await page.locator("#count").innerText(), /Last: \d+ with unknown busy time/);
  }));

await test("sessions of one run stand together under its name", () =>
  onPage("/?group=run", async (page) => {
    const bodies = await page.locator("#rows tbody").evaluateAll((all) =>
      all.map((body) => ({
        run: body.querySelector(".group th").textContent.replace(/ \d+ runs?$/, ""),
        rows: body.querySelectorAll("tr:not(.group)").length,
        said: Number(body.querySelector(".group .muted").textContent.match(/\d+/)),
        slashes: [...body.querySelectorAll(".name")].filter((n) => n.textContent.includes("/")).length,
      })));
    assert.equal(new Set(bodies.map((b) => b.run)).size, bodies.length);
    for (const body of bodies) assert.equal(body.rows, body.said, body.run);
    assert.equal(bodies.find((b) => b.run === "not in a directory").rows, 2);
    assert.equal(bodies.reduce((sum, b) => sum + b.slashes, 0), 0, "the run is said once");
    await page.locator(".orders a", { hasText: "none" }).click();
    await page.waitForFunction(() => !document.querySelector(".group"));
    assert.equal(await page.locator("#rows tbody").count(), 1);
  }));

/* ---- Two for a comparison -------------------------------------------------------------------- */

await test("two ticks lead to a comparison of the older with the newer", () =>
  onPage("/", async (page) => {
    const tick = (text) => page.locator("tr", { hasText: text }).locator("[name=s]");
    const button = page.getByRole("button", { name: "Compare", exact: true });
    assert.ok(await button.isDisabled());
    await tick("two_hosts").check();
    assert.ok(await button.isDisabled());
    await tick("2026_01_12").check();
    await tick("2026_01_11").check(); // takes the place of the first
    assert.ok(!(await tick("two_hosts").isChecked()));
    await page.locator("#q").fill("two_hosts"); // both ticked rows go out of sight
    await rowCount(page, 1);
    await button.click();
    await page.waitForURL("**/compare/*/*");
    assert.match(await page.locator("h1").innerText(), /2026_01_12.* compared with .*2026_01_11/);
  }));

await test("the index leads to a comparison without script", () =>
  onPage(
    "/?q=2026_01_1",
    async (page) => {
      for (const box of await page.locator("[name=s]").all()) await box.check();
      await page.getByRole("button", { name: "Compare", exact: true }).click();
      await page.waitForURL("**/compare/*/*");
      assert.match(await page.locator("h1").innerText(), /2026_01_12.* compared with .*2026_01_11/);
      assert.equal(await page.locator("#where tbody:not(details *)").count(), 2); // both runs have two devices
      assert.ok(await page.locator("#ops tbody tr").count());
      await page.getByRole("link", { name: "Swap A and B" }).click();
      assert.match(await page.locator("h1").innerText(), /2026_01_11.* compared with .*2026_01_12/);
    },
    withoutScript
  ));

await test("one tick is not enough, and the page says what to do", async () => {
  const { context } = await guarded(browser, ours, withoutScript);
  const page = await context.newPage();
  await page.goto(server.url);
  await page.locator("[name=s]").first().check();
  const [answer] = await Promise.all([
    page.waitForResponse((r) => r.url().includes("/compare")),
    page.getByRole("button", { name: "Compare", exact: true }).click(),
  ]);
  assert.equal(answer.status(), 400);
  assert.match(await page.locator("main").innerText(), /1 runs selected; go back and select exactly two/);
  await context.close();
});

/* ---- Archives -------------------------------------------------------------------------------- */

await test("archives are unpacked by a click, which says how far it is", () =>
  onPage("/?q=archive", async (page) => {
    await page.getByRole("button", { name: "Unpack archives" }).click();
    await page.locator("#unpack [role=status]", { hasText: /^\d+ files unpacked/ }).waitFor();
    const now = await (await fetch(`${server.url}/api/v1/extract`)).json();
    assert.equal(now.state, "done");
    assert.ok(now.files.made + now.files.kept > 0);
    assert.match(await page.locator("#unpack").innerText(), new RegExp(`${now.files.made + now.files.kept} files`));
  }));

/* ---- Keys ------------------------------------------------------------------------------------ */

await test("the index is used by keyboard alone", () =>
  onPage("/", async (page) => {
    const focused = () => page.evaluate(() => document.activeElement.textContent);
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement.id), "q");
    assert.equal(await page.locator("#q").inputValue(), "");
    await page.keyboard.press("ArrowDown");
    const first = await focused();
    await page.keyboard.press("ArrowDown");
    const second = await focused();
    assert.notEqual(first, second);
    await page.keyboard.press("ArrowUp");
    assert.equal(await focused(), first);
    await page.keyboard.press("ArrowUp");
    assert.equal(await page.evaluate(() => document.activeElement.id), "q");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/session/**");
  }));

await test("p, t and x act on the row that has the focus", () =>
  onPage("/?q=mnist", async (page) => {
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("x");
    assert.ok(await page.locator("[name=s]").first().isChecked());
    await page.keyboard.press("p");
    await page.waitForURL("**/perfetto/*");
    await page.goBack();
    await page.locator("a.open").first().focus();
    const asked = page.waitForRequest("**/tensorboard/*");
    await page.route("**/tensorboard/*", (route) => route.fulfill({ body: "", contentType: "text/html" }));
    await page.keyboard.press("t");
    await asked;
  }));

await test("? shows the keys, Escape closes them, and letters typed into the search are letters", () =>
  onPage("/", async (page) => {
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keys" });
    await help.waitFor();
    assert.match(await help.innerText(), /Open in Perfetto/);
    await page.keyboard.press("p"); // nothing behind an open dialog
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Keys" }).click();
    await help.getByRole("button", { name: "Close" }).click();
    await help.waitFor({ state: "hidden" });
    await page.keyboard.press("/");
    await page.keyboard.type("xpt?/");
    assert.equal(await page.locator("#q").inputValue(), "xpt?/");
    assert.equal(await page.locator("dialog[open]").count(), 0);
  }));

await test("a hostile search is text", () =>
  onPage(`/?q=${encodeURIComponent(HOSTILE)}`, async (page) => {
    assert.equal(await page.locator("#q").inputValue(), HOSTILE);
    assert.equal(await page.locator("main img").count(), 0);
  }));

/* ---- What changes meanwhile ------------------------------------------------------------------ */

const QUIET = "quiet/plugins/profile";

function quietProfiles(...runs) {
  const dir = mkdtempSync(path.join(tmpdir(), "vp_live_"));
  const add = (run, events = 1) => {
    const at = path.join(dir, QUIET, run);
    mkdirSync(at, { recursive: true });
    const x = (i) => ({ ph: "X", pid: 1, tid: 1, name: `op ${i}`, ts: 10 * i, dur: 5 });
    const traceEvents = Array.from({ length: events }, (_, i) => x(i));
    writeFileSync(path.join(at, "vm.trace.json.gz"), gzipSync(JSON.stringify({ traceEvents })));
  };
  runs.forEach((run) => add(run));
  return { dir, add, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

await test("a new run appears by itself, is announced, and moves nothing that is read", async () => {
  const names = Array.from({ length: 40 }, (_, i) => `2026_03_01_00_00_${String(i + 10)}`);
  const live = quietProfiles(...names);
  const other = await serve(live.dir);
  const { context, complaints } = await guarded(browser, [other.url], { viewport: { width: 1280, height: 600 } });
  const page = await context.newPage();
  await page.goto(other.url);
  await rowCount(page, 40);
  const row = page.locator("tr", { hasText: "2026_03_01_00_00_30" });
  await row.locator("[name=s]").check();
  await row.scrollIntoViewIfNeeded();
  await row.locator("a.open").focus();
  await page.waitForTimeout(200);
  const before = await row.evaluate((r) => r.getBoundingClientRect().top);
  live.add("2026_03_02_00_00_00");
  await rowCount(page, 41);
  assert.equal(await page.locator("#news").innerText(), "1 new run");
  assert.equal(await page.locator("#news").getAttribute("role"), "status");
  assert.match((await rowNames(page))[0], /2026_03_02/);
  const after = await row.evaluate((r) => r.getBoundingClientRect().top);
  assert.ok(Math.abs(after - before) <= 1, `the row moved from ${before} to ${after}`);
  assert.ok(await row.locator("[name=s]").isChecked());
  assert.ok(await row.locator("a.open").evaluate((a) => a === document.activeElement));
  assert.deepEqual(complaints, []);
  await context.close();
  await other.stop();
  live.remove();
});

await test("a list of 450 runs comes in pages that keep the query", async () => {
  const two = (n) => String(n).padStart(2, "0");
  const names = Array.from({ length: 450 }, (_, i) => `2026_03_${two(1 + (i % 28))}_00_${two(i % 60)}_${two(i / 60 | 0)}`);
  const many = quietProfiles(...new Set(names));
  const other = await serve(many.dir);
  const { context, complaints } = await guarded(browser, [other.url]);
  const page = await context.newPage();
  await page.goto(`${other.url}/?sort=name`);
  await rowCount(page, 200);
  const seen = new Set(await rowNames(page));
  for (const n of [200, 50]) {
    await page.getByRole("link", { name: "Next 200" }).click();
    await page.waitForFunction((seen) => !seen.includes(document.querySelector("#rows .open").textContent), [...seen]);
    await rowCount(page, n);
    for (const name of await rowNames(page)) seen.add(name);
  }
  assert.equal(seen.size, 450);
  assert.equal(new URL(page.url()).searchParams.get("sort"), "name");
  assert.equal(await page.getByRole("link", { name: "Next 200" }).count(), 0);
  assert.deepEqual(complaints, []);
  await context.close();
  await other.stop();
  many.remove();
});

await test("an emptied directory says what would be listed, and then lists it", async () => {
  const empty = quietProfiles("2026_03_01_00_00_00");
  const other = await serve(empty.dir);
  const { context, complaints } = await guarded(browser, [other.url]);
  const page = await context.newPage();
  await page.goto(other.url);
  await rowCount(page, 1);
  rmSync(path.join(empty.dir, "quiet"), { recursive: true });
  await page.getByText("No profiles yet").waitFor();
  assert.equal(await page.locator("#news").innerText(), "1 run gone");
  empty.add("2026_03_02_00_00_00");
  await rowCount(page, 1);
  assert.equal(await page.getByText("No profiles yet").count(), 0);
  // The headline of the run that went may have been on its way.
  assert.deepEqual(complaints.filter((text) => !text.includes("404")), []);
  await context.close();
  await other.stop();
  empty.remove();
});

await test("while a large directory is read the page says so, and fills by itself", async () => {
  const large = mkdtempSync(path.join(tmpdir(), "vp_many_"));
  const at = path.join(large, "plugins/profile/2026_03_01_00_00_00");
  mkdirSync(at, { recursive: true });
  writeFileSync(path.join(at, "vm.trace.json"), '{"traceEvents":[{"ph":"X","pid":1,"tid":1,"name":"a","ts":1,"dur":1}]}');
  for (let i = 0; i < 30000; i++) writeFileSync(path.join(large, `note_${i}.json`), '{"a":1}');
  const { context, complaints } = await guarded(browser, []);
  const page = await context.newPage();
  await context.unroute("**/*");
  const other = await serve(large);
  await page.goto(other.url);
  assert.match(await page.locator("main").innerText(), /Reading the directory\n+\d+ runs? found so far, \d+ files and directories scanned/);
  await rowCount(page, 1);
  assert.equal(await page.getByText("Reading the directory").count(), 0);
  assert.ok(await page.locator(".orders").isVisible());
  assert.deepEqual(complaints, []);
  await context.close();
  await other.stop();
  rmSync(large, { recursive: true });
});
