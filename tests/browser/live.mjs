// Programs that run now and can be told to record. The program is a stand-in: this test, answering on
// the socket of its process number, as a recorder does.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { guarded, serve, test } from "./lib.mjs";
import { browser } from "./world.mjs";

const RUN = "2026_05_06_07_08_09";
const TRACE = JSON.stringify({ traceEvents: [
  { ph: "M", pid: 1, name: "process_name", args: { name: "/device:TPU:0" } },
  { ph: "M", pid: 1, tid: 2, name: "thread_name", args: { name: "XLA Ops" } },
  { ph: "X", pid: 1, tid: 2, ts: 0, dur: 7, name: "fusion.1" }] });

function writeRun(dir, name) {
  const run = path.join(dir, "plugins/profile", name);
  mkdirSync(run, { recursive: true });
  writeFileSync(path.join(run, "host.trace.json"), TRACE);
  return realpathSync(run);
}

// A program with steps that writes RUN below `dir` when it is asked to.
function program(runtime, dir) {
  mkdirSync(path.join(runtime, "view_profile"), { mode: 0o700, recursive: true });
  const state = { state: "idle", steps: 7, captures: 0, last_run: null, heard: [] };
  const write = () =>
    Object.assign(state, { state: "idle", captures: 1, last_run: writeRun(dir, RUN) });
  const server = createServer((client) => {
    client.on("data", (data) => {
      const line = String(data).trim();
      state.heard.push(line);
      const refused = line === "CAPTURE" && state.refuse;
      if (line === "CAPTURE" && !refused) {
        state.state = "recording";
        setTimeout(state.fail ? () => Object.assign(state, { state: "idle", last_error: state.fail }) : write, 1200);
      }
      const { heard, refuse, fail, ...told } = state;
      client.end(`${JSON.stringify({ schema: "view_profile.control/1", ok: !refused,
        ...(refused && { code: "in use", error: refuse }), pid: process.pid,
        program: "train <i>", zones: 0, ...told })}\n`);
    });
    client.on("error", () => {});
  });
  return new Promise((resolve) => {
    server.listen(path.join(runtime, "view_profile", `${process.pid}.sock`), () =>
      resolve({ state, stop: () => new Promise((done) => server.close(done)) }));
  });
}

async function withPlace(body, ...options) {
  const place = mkdtempSync(path.join(tmpdir(), "vp-live-"));
  const before = process.env.XDG_RUNTIME_DIR;
  const dir = path.join(place, "logs");
  writeRun(dir, "2026_05_05_05_05_05");
  process.env.XDG_RUNTIME_DIR = place;
  try {
    const other = await serve(dir, ...options);
    const { context, complaints } = await guarded(browser, [other.url]);
    await body({ place, dir, other, page: await context.newPage() });
    // What Chromium says of every refusal, whatever a page does with it.
    assert.deepEqual(complaints.filter((text) => !text.endsWith("a status of 409 (Conflict)")), []);
    await context.close();
    await other.stop();
  } finally {
    if (before === undefined) delete process.env.XDG_RUNTIME_DIR;
    else process.env.XDG_RUNTIME_DIR = before;
    rmSync(place, { recursive: true, force: true });
  }
}

await test("without programs that can be told to record, the index lists none", () =>
  withPlace(async ({ other, page }) => {
    await page.goto(other.url);
    await page.waitForTimeout(400);
    assert.equal((await page.locator("#programs").textContent()).trim(), "");
  }));

// --ui none: nothing of TensorBoard is started, and the server may read only what it named before.
await test("a click captures a program that runs, and leads to its run", () =>
  withPlace(async ({ place, dir, other, page }) => {
    const running = await program(place, dir);
    await page.goto(other.url);
    await page.locator("#live", { hasText: `train <i> (process ${process.pid}), 7 steps so far` }).waitFor();
    await page.getByRole("button", { name: `Capture process ${process.pid}` }).click();
    await page.locator("#live [role=status]", { hasText: "Capturing" }).waitFor();
    await page.waitForURL(/\/session\//);
    assert.match(await page.locator("h1").innerText(), new RegExp(RUN));
    assert.ok(running.state.heard.includes("CAPTURE"));
    await running.stop();
  }, "--ui", "none"));

await test("a capture that cannot start when its step comes says why", () =>
  withPlace(async ({ place, dir, other, page }) => {
    const running = await program(place, dir);
    running.state.fail = "the capture cannot start: no <i>room</i>";
    await page.goto(other.url);
    const button = page.getByRole("button", { name: `Capture process ${process.pid}` });
    await button.click();
    await page.locator("#live [role=status]", { hasText: running.state.fail }).waitFor();
    assert.ok(await button.isEnabled());
    await running.stop();
  }));

await test("a capture that is refused says why, and the button can be used again", () =>
  withPlace(async ({ place, dir, other, page }) => {
    const running = await program(place, dir);
    running.state.refuse = "Profiler already active";
    await page.goto(other.url);
    const button = page.getByRole("button", { name: `Capture process ${process.pid}` });
    await button.click();
    await page.locator("#live [role=status]", { hasText: "Profiler already active" }).waitFor();
    assert.ok(await button.isEnabled());
    await running.stop();
    await page.waitForFunction(() => !document.getElementById("programs").textContent.trim(), null, { timeout: 60000 });
  }));

await test("programs of this machine and those over the network stand in one list", async () => {
  const cache = mkdtempSync(path.join(tmpdir(), "vp-targets-"));
  const before = process.env.XDG_CACHE_HOME;
  mkdirSync(path.join(cache, "view_profile"));
  writeFileSync(path.join(cache, "view_profile/targets"), "host-a.example:9012\n");
  process.env.XDG_CACHE_HOME = cache;
  try {
    await withPlace(async ({ place, dir, other, page }) => {
      const running = await program(place, dir);
      await page.goto(other.url);
      for (const name of [`Capture process ${process.pid}`, "Capture host-a.example:9012"])
        await page.locator("#live #programs > p").filter({ has: page.getByRole("button", { name, exact: true }) }).waitFor();
      assert.equal(await page.locator("#programs > p").count(), 2);
      await running.stop();
    });
  } finally {
    if (before === undefined) delete process.env.XDG_CACHE_HOME;
    else process.env.XDG_CACHE_HOME = before;
    rmSync(cache, { recursive: true, force: true });
  }
});
