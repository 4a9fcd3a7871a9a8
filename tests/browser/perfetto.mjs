// The real Perfetto UI, served by us, in a browser that reaches nothing but this machine: what our
// button opens there, for profiles of all kinds.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { binary, launch, realUi, serve, servePlainly, shots, skip, test, traces } from "./lib.mjs";
import { countEvents, TPU_FILE } from "./fixture.mjs";

/* ---- Profiles, and where their devices are ----------------------------------------------------- */

// file: below the traces; group: the group of the UI that has to be open; track: a row in it.
const kinds = {
  tpu: {
    file: "jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb",
    group: /^device:TPU:0 \d/, track: /XLA Ops/,
  },
  rocm: {
    file: "jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax08_gemm/tw003.xplane.pb",
    group: /^device:GPU:0 \d/, track: /Stream #16/,
  },
  cuda: {
    file: "xla_gpu_cuda/EnzymeAD__Reactant.jl/traces/plugins/profile/2025_02_05_11_05_24/cyclops.xplane.pb",
    group: /^device:GPU:1 \d/, track: /Stream #40/,
  },
  cpu: {
    file: "jax_cpu/mnist_train/plugins/profile/2026_11_21_06_33_16/vm.xplane.pb",
    group: /^host:CPU:0 \(analysis\) /, track: /Slowest ops/, // its ops lie among all threads
  },
  pytorch: {
    file: "pytorch_cuda/AMD-AGI__TraceLens/b300_moe/moe_02_few_experts_many_tokens.json.gz",
    group: /^python3 0$/, track: /^stream 7/,
  },
};

function makeProfiles() {
  const dir = mkdtempSync(path.join(tmpdir(), "vp_perfetto_"));
  for (const [name, kind] of Object.entries(kinds)) {
    kind.from = path.join(traces, kind.file);
    if (!existsSync(kind.from)) continue;
    const run = path.join(dir, name, "plugins/profile", name);
    mkdirSync(run, { recursive: true });
    const ending = kind.file.endsWith(".pb") ? ".xplane.pb" : ".pt.trace.json.gz";
    cpSync(kind.from, path.join(run, `vm${ending}`));
  }
  const json = path.join(dir, "json/plugins/profile/json");
  mkdirSync(json, { recursive: true });
  cpSync(TPU_FILE, path.join(json, "vm.trace.json.gz"));
  return dir;
}

/* ---- The browser, and what is asked of the UI ---------------------------------------------------- */

// Names are not found, as without a network; addresses but ours are not reached.
const offline = () =>
  launch("--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1");

async function idOf(server, name) {
  for (;;) {
    const { sessions, indexing } = await (await fetch(`${server.url}/api/v1/sessions`)).json();
    if (!indexing) return sessions.find((session) => session.name.endsWith(name)).id;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function newContext(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  context.setDefaultTimeout(90000);
  const left = [];
  context.on("request", (request) => {
    const url = new URL(request.url());
    // What the policy of the page refuses is "requested" and never sent.
    if (!["127.0.0.1", ""].includes(url.hostname)) left.push(request);
  });
  context.sentElsewhere = () =>
    left.filter((r) => !/csp|ERR_NAME_NOT_RESOLVED/.test(r.failure()?.errorText ?? "sent")).map((r) => r.url());
  return context;
}

async function loaded(ui) {
  await ui.waitForFunction(
    () => window.app?.trace && !window.app.isLoadingTrace && document.querySelector(".pf-track"),
    undefined, { timeout: 120000 });
  return ui;
}

async function openIn(context, page, button = "#open") {
  const opened = context.waitForEvent("page");
  await page.locator(button).click();
  return loaded(await opened);
}

// Rows of a query of the UI's own engine: arrays of numbers and texts.
const query = (ui, sql, columns) =>
  ui.evaluate(async ([sql, columns]) => {
    const result = await window.app.trace.engine.query(sql);
    const rows = [];
    for (const it = result.iter({}); it.valid(); it.next())
      rows.push(columns.map((column) => {
        const value = it.get(column);
        return typeof value === "bigint" ? Number(value) : value;
      }));
    return rows;
  }, [sql, columns]);

// The file's own: what our analysis adds stands in processes that say so.
const slices = async (ui) => (await query(ui, "select count(*) as n from slice left join thread_track on " +
  "thread_track.id = slice.track_id left join thread using (utid) left join process using (upid) " +
  "where process.name is null or process.name not glob '*analysis*'", ["n"]))[0][0];

const groups = (ui) =>
  ui.evaluate(() =>
    window.app.trace.workspace.children.map((node) => ({
      name: node.name,
      open: !node.collapsed,
      rows: node.flatTracks.filter((track) => !track.headless && track !== node).map((track) => track.name),
    })));

const pinned = (ui) => ui.evaluate(() => window.app.trace.workspace.pinnedTracks?.length ?? 0);

// Of the tab that the link opened: the first row, from its left to its right.
async function slowest(ui) {
  const table = ui.locator(".pf-data-grid table").filter({ hasText: "self_ns" });
  await table.locator("tbody tr").first().waitFor();
  return table.evaluate((each) => {
    const texts = (row) =>
      [...row.querySelectorAll(".pf-grid-cell__content")].map((cell) => cell.textContent);
    const values = texts(each.querySelector("tbody tr"));
    return texts(each.querySelector("thead tr")).map((name, i) => [name, values[i]]);
  });
}

const reportOf = (file) =>
  JSON.parse(execFileSync(binary, ["report", file, "--format", "json"], { maxBuffer: 1 << 28 }));

/* ---- Tests ------------------------------------------------------------------------------------- */

const dir = makeProfiles();
const browser = realUi && (await offline());
const server = realUi && (await serve(dir, "--ui", "perfetto", "--perfetto-ui", realUi));

async function withPage(name, body, { at = "", from = server, ...options } = {}) {
  const context = await newContext(browser, options);
  try {
    const page = await context.newPage();
    const id = await idOf(from, name);
    await page.goto(`${from.url}/perfetto/${encodeURIComponent(id)}${at}`);
    await body(page, context, id);
    assert.deepEqual(context.sentElsewhere(), []);
  } finally {
    await context.close();
  }
}

async function testReal(name, body) {
  if (realUi) await test(name, body);
  else skip(name, "no Perfetto UI is here: scripts/perfetto_ui fetches one from PyPI");
}

for (const [name, kind] of Object.entries(kinds))
  await testReal(`Perfetto, offline: the device's rows of a ${name} run are open, and its slowest op is ours`, async () => {
    if (!existsSync(kind.from)) return skip(`a ${name} run`, `${kind.file} is not here`);
    await withPage(name, async (page, context) => {
      const ui = await openIn(context, page);
      assert.match(ui.url(), /^http:\/\/127\.0\.0\.1:\d+\/ui\/#!\/viewer/);
      assert.ok((await slices(ui)) > 0);
      const device = (await groups(ui)).find((group) => kind.group.test(group.name));
      assert.ok(device?.open, JSON.stringify(await groups(ui)).slice(0, 500));
      assert.equal(device.rows.filter((row) => kind.track.test(row)).length > 0, true, device.rows.join());
      const added = (await groups(ui)).filter((group) => /\(analysis[,)]/.test(group.name));
      assert.ok(added.length > 0 && added.every((group) => group.open && group.rows.length > 0));
      assert.equal(await pinned(ui), 0); // each row once
      const row = await slowest(ui), [top] = reportOf(kind.from).ops; // what `top` puts first
      assert.deepEqual(row.at(-1), ["op", top.name]);
      assert.deepEqual(row.find(([column]) => column === "calls"), ["calls", String(top.calls)]);
      await ui.screenshot({ path: path.join(shots, `perfetto_${name}.png`) });
    });
  });

await testReal("Perfetto: one click hands over every event", () =>
  withPage("json", async (page, context) => {
    const ui = await openIn(context, page);
    const file = countEvents(TPU_FILE);
    const [[lost]] = await query(ui, "select ifnull(sum(value), 0) as n from stats where severity in ('error', 'data_loss')", ["n"]);
    assert.equal((await slices(ui)) + lost, file.slices);
    await page.locator("#status", { hasText: "Sent" }).waitFor();
    assert.match(await ui.title(), /json vm/);
    const again = await openIn(context, page);
    assert.equal(await slices(again), await slices(ui));
  }));

await testReal("Perfetto: a place in our report is the event that is selected, with room around", () =>
  withPage("pytorch", async (page, context, id) => {
    const [{ slowest }] = reportOf(kinds.pytorch.from).ops;
    const report = await (await fetch(`${server.url}/session/${encodeURIComponent(id)}/?tab=ops`)).text();
    const places = [...new Set([...report.matchAll(/\?at=(\d+)\.\.(\d+)/g)].map(([at]) => at))];
    const lasts = (at) => at.match(/\d+/g).map(BigInt).reduce((start, end) => end - start);
    const at = places.find((place) => lasts(place) === BigInt(slowest.dur_ps) / 1000n);
    assert.ok(at, `${places} has no slowest op of ${slowest.dur_ps} ps`);
    await page.goto(`${server.url}/perfetto/${encodeURIComponent(id)}${at}`);
    const ui = await openIn(context, page);
    await ui.waitForFunction(() => window.app.trace.selection.selection.kind === "track_event");
    const { eventId } = await ui.evaluate(() => window.app.trace.selection.selection);
    const [[ts, dur, category]] = await query(ui, `select ts, dur, category from slice where id = ${eventId}`, ["ts", "dur", "category"]);
    assert.deepEqual([BigInt(dur), category], [lasts(at), "kernel"]);
    const seen = await ui.evaluate(() => {
      const span = window.app.trace.timeline.visibleWindow;
      return [Number(span.start.toTime()), span.duration];
    });
    assert.ok(seen[0] < ts && seen[0] + seen[1] > ts + dur && seen[1] <= 5.1 * dur, `${seen} for ${ts} +${dur}`);
  }));

await testReal("Perfetto: it opens at the time in which the devices work", () =>
  withPage("tpu", async (page, context, id) => {
    await fetch(`${server.url}/session/${encodeURIComponent(id)}/`);
    await page.reload();
    const ui = await openIn(context, page);
    const [[first, last]] = await query(
      ui,
      "select min(ts) as a, max(ts + dur) as b from slice join thread_track k on k.id = track_id join thread using (utid) where thread.name glob '*XLA Ops*'",
      ["a", "b"]);
    const span = await ui.evaluate(() => {
      const { visibleWindow: v } = window.app.trace.timeline;
      return [Number(v.start.toTime()), Number(v.start.toTime()) + v.duration];
    });
    assert.ok(Math.abs(span[0] - first) < 2e6 && Math.abs(span[1] - last) < 2e6, `${span} for ${first} to ${last}`);
  }));

await testReal("Perfetto: its code reaches nothing of ours", () =>
  withPage("cpu", async (page, context, id) => {
    const ui = await openIn(context, page);
    for (const target of ["/", "/api/v1/sessions", `/trace/${id}/vm.json`]) {
      const reached = (options) =>
        ui.evaluate(([url, options]) => fetch(url, options).then((a) => `${a.type} ${a.status}`, () => "refused"),
          [server.url + target, options]);
      assert.equal(await reached({}), "refused");
      assert.equal(await reached({ mode: "no-cors" }), "refused");
    }
    assert.deepEqual(await ui.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length), 0);
    assert.equal(await ui.evaluate(() => { try { return String(window.opener.document.title); } catch (e) { return e.name; } }), "SecurityError");
  }));

await testReal("where ui.perfetto.dev is not reached, this machine's Perfetto opens instead", async () => {
  process.env.VIEW_PROFILE_PERFETTO_UI = realUi;
  const other = await serve(dir, "--ui", "perfetto");
  delete process.env.VIEW_PROFILE_PERFETTO_UI;
  await withPage("cpu", async (page, context) => {
    assert.match(await page.locator(".facts").innerText(), /https:\/\/ui\.perfetto\.dev, or without internet access the Perfetto UI of this machine, v\d/);
    const ui = await openIn(context, page);
    assert.match(ui.url(), /^http:\/\/127\.0\.0\.1:/);
    assert.ok((await slices(ui)) > 0);
    await page.locator("#status", { hasText: "Sent" }).waitFor();
  }, { from: other });
  await withPage("cpu", async (page, context) => {
    const since = performance.now();
    await openIn(context, page, "#open-local"); // at once
    await context.setOffline(true);
    assert.ok(performance.now() - since < 60000);
  }, { from: other });
  await other.stop();
});

await testReal("on port 9001 a deep link lets Perfetto fetch the trace", async () => {
  let other;
  const port = 10000; // whose origin may read traces
  try {
    other = await serve(dir, "--ui", "perfetto", "--port", "9001", "--perfetto-ui", `http://127.0.0.1:${port}`);
  } catch (error) {
    return skip("the deep link", `port 9001 is taken: ${error.message.split("\n")[0]}`);
  }
  const { url, stop } = await servePlainly(realUi, port).catch(() => ({}));
  if (!url) {
    await other.stop();
    return skip("the deep link", `port ${port} is taken`);
  }
  await withPage("rocm", async (page) => {
    const href = await page.locator("#deeplink").getAttribute("href");
    assert.ok(href.startsWith(`${url}/#!/?url=http%3A%2F%2F127.0.0.1%3A9001%2Ftrace%2F`), href);
    await page.goto(href);
    await loaded(page);
    assert.ok((await slices(page)) > 0);
  }, { from: other });
  stop();
  await other.stop();
});

if (realUi) {
  await browser.close();
  await server.stop();
}
rmSync(dir, { recursive: true });
