// The way into Perfetto, seen from our page, with a stand-in for the UI (perfetto.mjs has the real
// one), and what other web sites get of us: nothing.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { guarded, serve, standIn, test } from "./lib.mjs";
import { countEvents, TPU_FILE } from "./fixture.mjs";
import { browser, onPage, ours, pathOf, profiles, server, ui } from "./world.mjs";

/* ---- Hand-off -------------------------------------------------------------------------------- */

const tpuHandoff = pathOf("perfetto", "2026_01_11_21_26_41");

async function handOver(page, context, click = () => page.locator("#open").click()) {
  const opened = context.waitForEvent("page");
  await click();
  const perfetto = await opened;
  await perfetto.waitForFunction(() => window.got?.traces.length === 1, undefined, { timeout: 90000 });
  return { perfetto, got: await perfetto.evaluate(() => window.got) };
}

await test("the page can hand over twice, and by keyboard", () =>
  onPage(tpuHandoff, async (page, context) => {
    await handOver(page, context);
    await page.locator("#open:enabled").focus();
    const { got } = await handOver(page, context, () => page.keyboard.press("Enter"));
    assert.equal(got.traces[0].slices, countEvents(TPU_FILE).slices);
  }));

await test("?at= lands on a time", () =>
  onPage(`${tpuHandoff}?at=1000000..2500000`, async (page, context) => {
    const { perfetto, got } = await handOver(page, context);
    assert.match(perfetto.url(), /&visStart=\d+&visEnd=\d+&ts=1000000&dur=1500000$/);
    await perfetto.waitForFunction(() => window.got.times.length === 1);
    const [time] = await perfetto.evaluate(() => window.got.times);
    assert.deepEqual(time, { timeStart: 0.001, timeEnd: 0.0025, viewPercentage: 0.4 });
    assert.equal(got.traces.length, 1);
  }));

await test("the page says where it opens in times of the timeline, and in exact ns beside", () =>
  onPage(`${tpuHandoff}?at=1000000..2500000`, async (page) => {
    const id = decodeURIComponent(tpuHandoff.split("/").at(-1));
    const { file_origin_ns } = await (await fetch(`${server.url}/api/v1/session/${encodeURIComponent(id)}/tracks`)).json();
    const lead = page.locator("p.lead[title]");
    await lead.waitFor();
    assert.equal(await lead.getAttribute("title"), "1000000 to 2500000 ns in the file’s own time");
    const [, from, to] = (await lead.innerText()).match(/^Opens zoomed to (\S+) ms to (\S+) ms of the trace \(1\.500 ms\)\.$/);
    assert.equal(Number(from), Number(((1000000 - Number(file_origin_ns)) / 1e6).toFixed(3)));
    assert.equal(Number(to), Number(((2500000 - Number(file_origin_ns)) / 1e6).toFixed(3)));
  }));

await test("with --ui=perfetto the trace is there before the click", async () => {
  const other = await serve(profiles.dir, "--ui", "perfetto", "--perfetto-ui", ui.url);
  const { context, complaints } = await guarded(browser, [other.url, ui.url]);
  const page = await context.newPage();
  await page.goto(other.url + tpuHandoff);
  await page.locator("#status", { hasText: "Click to open" }).waitFor();
  await context.route("**/trace/**", (route) => route.abort());
  await handOver(page, context);
  assert.deepEqual(complaints, []);
  await context.close();
  await other.stop();
});

await test("a blocked popup is explained", () =>
  onPage(tpuHandoff, async (page) => {
    await page.evaluate(() => (window.open = () => null));
    await page.locator("#open").click();
    await page.locator("#status.error", { hasText: "Allow popups" }).waitFor();
    assert.ok(await page.locator("#open").isEnabled());
  }));

await test("a trace that cannot be fetched is explained, and can be tried again", async () => {
  const { context } = await guarded(browser, ours);
  const page = await context.newPage();
  await page.goto(server.url + tpuHandoff);
  const refuse = (route) => route.fulfill({ status: 422, body: "the file is damaged at byte 7\n" });
  await context.route("**/trace/**", refuse);
  await page.locator("#open").click();
  await page.locator("#status.error", { hasText: "damaged at byte 7" }).waitFor();
  await context.unroute("**/trace/**", refuse);
  await handOver(page, context);
  await context.close();
});

await test("a damaged trace is handed over, and its damage is told", async () => {
  const dir = mkdtempSync(path.join(tmpdir(), "vp_cut_"));
  const run = path.join(dir, "plugins/profile/cut");
  mkdirSync(run, { recursive: true });
  const whole = readFileSync(TPU_FILE);
  writeFileSync(path.join(run, "vm.trace.json.gz"), whole.subarray(0, whole.length / 2));
  const other = await serve(dir, "--perfetto-ui", ui.url);
  const { context, complaints } = await guarded(browser, [other.url, ui.url]);
  const page = await context.newPage();
  const [session] = (await (await fetch(`${other.url}/api/v1/sessions`)).json()).sessions;
  await page.goto(`${other.url}/perfetto/${session.id}`);
  assert.equal(await page.locator("#damage").count(), 0);
  const { got } = await handOver(page, context);
  assert.ok(got.traces[0].slices > 0);
  await page.locator("#damage", { hasText: "damaged" }).waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
  await other.stop();
  rmSync(dir, { recursive: true });
});

await test("a Perfetto that never answers is explained", async () => {
  const deaf = await standIn({ delay: -1 });
  const other = await serve(profiles.dir, "--perfetto-ui", deaf.url);
  const { context } = await guarded(browser, [other.url, deaf.url]);
  const page = await context.newPage();
  await page.clock.install();
  await page.goto(other.url + tpuHandoff);
  const opened = context.waitForEvent("page");
  await page.locator("#open").click();
  const popup = await opened;
  await page.clock.runFor(16000);
  await page.locator("#status.error", { hasText: "Still waiting" }).waitFor();
  await popup.close();
  await page.clock.runFor(200);
  await page.locator("#status.error", { hasText: "was closed" }).waitFor();
  await context.close();
  await other.stop();
  deaf.stop();
});

await test("a slow Perfetto gets the trace all the same", async () => {
  const slow = await standIn({ delay: 1200 });
  const other = await serve(profiles.dir, "--perfetto-ui", slow.url);
  const { context, complaints } = await guarded(browser, [other.url, slow.url]);
  const page = await context.newPage();
  await page.goto(other.url + tpuHandoff);
  const { got } = await handOver(page, context);
  assert.ok(got.pings > 3);
  assert.deepEqual(complaints, []);
  await context.close();
  await other.stop();
  slow.stop();
});

await test("without script the hand-off offers the file", () =>
  onPage(
    tpuHandoff,
    async (page) => {
      assert.match(await page.locator("main").innerText(), /needs JavaScript/);
      const download = page.waitForEvent("download");
      await page.locator("a[download]").first().click();
      assert.match((await download).suggestedFilename(), /\.json\.gz$/);
    },
    { javaScriptEnabled: false, acceptDownloads: true }
  ));

await test("the page says what goes where, from a remote machine too", () =>
  onPage(tpuHandoff, async (page) => {
    const facts = await page.locator(".facts").innerText();
    assert.match(facts, /t1v-n-9eb622fc-w-0\.trace\.json\.gz, 659\.2 KiB/);
    assert.match(facts, /Trace Event JSON, gzip/);
    assert.ok(facts.includes(ui.url), "a UI of one's own is named");
    assert.match(await page.locator("pre.copy").innerText(), new RegExp(`^ssh -N -L ${server.port}:127\\.0\\.0\\.1:${server.port} \\S+$`));
    assert.match(await page.locator("main").innerText(), /Start it with --port 9001/);
    assert.equal(await page.locator("#open").isVisible(), true);
  }));

await test("progress says how many bytes have come", async () => {
  const { context } = await guarded(browser, ours);
  const page = await context.newPage();
  await page.goto(server.url + tpuHandoff);
  await context.route("**/trace/**", (route) =>
    route.fulfill({ body: Buffer.alloc(1234567), headers: { "content-type": "application/gzip" } }));
  await page.evaluate(() => (window.open = () => ({ closed: false, postMessage() {} })));
  await page.locator("#open").click();
  await page.locator("#amount", { hasText: "1.2 MiB of 1.2 MiB" }).waitFor();
  assert.ok(await page.locator("#open").isDisabled());
  await context.close();
});

await test("a session of several hosts hands over all of them, or the one that is asked for", async () => {
  const where = pathOf("perfetto", "2026_02_03_04_05_06");
  await onPage(where, async (page, context) => {
    assert.equal(await page.locator("[data-file]").getAttribute("data-file"), "all.pftrace");
    await page.getByRole("link", { name: "hostB", exact: true }).click();
    const { got } = await handOver(page, context);
    assert.equal(got.traces[0].fileName, "hostB.json.gz");
    assert.ok(got.traces[0].slices > 20000); // docs/reference/xprof.md#tensorboard: 26,723 events
  });
});

/* ---- Other sites ----------------------------------------------------------------------------- */

await test("a page of another name for this address reads nothing", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  for (const where of ["/", "/api/v1/sessions", tpuHandoff.replace("/perfetto/", "/trace/")]) {
    const answer = await page.goto(`http://evil.test:${server.port}${where}`);
    assert.ok([403, 404].includes(answer.status()), `${where}: ${answer.status()}`);
    assert.doesNotMatch(await page.content(), /2026_0/);
  }
  await context.close();
});

await test("another site's script reads nothing", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(ui.url.replace("127.0.0.1", "evil.test"));
  const reached = await page.evaluate(
    (url) => fetch(url).then((answer) => answer.text(), () => "refused"),
    `${server.url}/api/v1/sessions`
  );
  assert.equal(reached, "refused");
  await context.close();
});
