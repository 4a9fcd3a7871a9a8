// Programs that are captured over the network: the form, its progress, its end, and what `watch` keeps. Behind
// it are the real `view_profile capture`, within the sandbox of a real server, and a stand-in for ProfilerService.
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http2";
import { tmpdir } from "node:os";
import path from "node:path";
import { binary, guarded, root, serve, shots, skip, test } from "./lib.mjs";
import { browser } from "./world.mjs";

const OLD = "2026_01_02_03_04_05";
const data = path.join(root, "tests/data/jax_cpu/odd_names/plugins/profile");
const old = path.join(data, readdirSync(data)[0]);
const xspace = readFileSync(path.join(old, readdirSync(old).find((name) => name.endsWith(".xplane.pb"))));

/* ---- A program ------------------------------------------------------------------------------- */

function varint(n) {
  const bytes = [];
  for (; n > 127; n = Math.floor(n / 128)) bytes.push((n % 128) | 128);
  return Buffer.from([...bytes, n]);
}

// A ProfileResponse in gRPC's frame: field 8 is the XSpace.
function answer() {
  const message = Buffer.concat([Buffer.from([0x42]), varint(xspace.length), xspace]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

// A program that answers `ms` after it was asked, or once it is told to end; refuse: never, but why.
async function program({ ms = 1200, refuse } = {}) {
  const server = createServer();
  const heard = [];
  let terminate = () => {};
  server.on("sessionError", () => {});
  server.on("stream", async (stream, headers) => {
    const method = headers[":path"].split("/").at(-1);
    const status = (n, message) => ({ "grpc-status": String(n), ...(message && { "grpc-message": message }) });
    heard.push(method);
    stream.on("error", () => {});
    stream.resume();
    const plain = { ":status": 200, "content-type": "application/grpc" };
    if (method === "Terminate") terminate();
    if (method === "Profile" && !refuse)
      await Promise.race([new Promise((resolve) => setTimeout(resolve, ms)), new Promise((resolve) => (terminate = resolve))]);
    if (stream.destroyed) return;
    if (method === "Profile" && refuse) return stream.respond({ ...plain, ...status(6, refuse) }, { endStream: true });
    if (method === "Monitor") return stream.respond({ ...plain, ...status(12) }, { endStream: true });
    stream.respond(plain, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers(status(0)));
    stream.end(method === "Profile" ? answer() : Buffer.alloc(5));
  });
  const sessions = new Set();
  server.on("session", (session) => sessions.add(session));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => {
    for (const session of sessions) session.destroy();
    server.close();
  };
  return { target: `127.0.0.1:${server.address().port}`, heard, stop };
}

/* ---- A place --------------------------------------------------------------------------------- */

async function withPlace(body, { options = [], context: asked = {}, before = () => {} } = {}) {
  const place = mkdtempSync(path.join(tmpdir(), "vp-capture-"));
  const kept = process.env.XDG_CACHE_HOME;
  const dir = path.join(place, "logs");
  mkdirSync(path.join(dir, "plugins/profile"), { recursive: true });
  cpSync(old, path.join(dir, "plugins/profile", OLD), { recursive: true });
  process.env.XDG_CACHE_HOME = path.join(place, "cache");
  try {
    await before({ place, dir });
    const server = await serve(dir, ...options);
    const { context, complaints } = await guarded(browser, [server.url], asked);
    const page = await context.newPage();
    await page.goto(server.url);
    await body({ place, dir, page, server });
    // What Chromium says of every refusal, whatever a page does with it.
    assert.deepEqual(complaints.filter((text) => !/a status of 4(00|09|29)/.test(text)), []);
    await context.close();
    await server.stop();
  } finally {
    if (kept === undefined) delete process.env.XDG_CACHE_HOME;
    else process.env.XDG_CACHE_HOME = kept;
    rmSync(place, { recursive: true, force: true });
  }
}

const form = (page) => ({
  summary: page.locator("#capturing > summary"),
  target: page.getByLabel("Host and port"),
  seconds: page.getByLabel("Seconds"),
  button: page.locator("#capture button"),
  said: page.locator("#capture-said"),
});

async function fill(page, target, seconds = "1") {
  const { summary, ...fields } = form(page);
  if (!(await fields.target.isVisible())) await summary.click();
  await fields.target.fill(target);
  await fields.seconds.fill(seconds);
}

const line = (page, target) => page.locator("#programs p", { hasText: target });
const active = (page) => page.evaluate(() => document.activeElement.ariaLabel ?? document.activeElement.textContent);
const runs = (dir) => readdirSync(path.join(dir, "plugins/profile")).filter((name) => name !== OLD);

/* ---- Tests ----------------------------------------------------------------------------------- */

const fetcher = [path.dirname(binary), path.join(path.dirname(binary), "../libexec/view_profile")]
  .some((dir) => existsSync(path.join(dir, "view_profile-fetch")));

async function captures() {
  await test("a capture shows its progress, and its run comes to the top of the list by itself", () =>
    withPlace(async ({ dir, page }) => {
      const running = await program();
      assert.ok(!(await form(page).target.isVisible()), "the form is asked for first");
      await fill(page, running.target);
      await form(page).button.click();
      const row = line(page, running.target);
      await row.getByText(/recording/).waitFor();
      assert.equal(await row.getByRole("progressbar", { name: `Capture of ${running.target}` }).count(), 1);
      await row.getByRole("link").waitFor();
      const [run] = runs(dir);
      assert.equal(await row.getByRole("link").innerText(), run);
      assert.match(await row.getByRole("status").innerText(), /^done, /);
      assert.ok(await row.locator("progress").isHidden());
      await page.locator("#list tbody tr").first().getByRole("link", { name: run, exact: true }).waitFor();
      await row.getByRole("link").click();
      await page.waitForURL(/\/session\//);
      assert.match(await page.locator("h1").innerText(), new RegExp(run));
      running.stop();
    }, { options: ["--ui", "none"] }));

  await test("a directory in which nothing lies gets its first run by itself", () =>
    withPlace(async ({ dir, page }) => {
      const running = await program({ ms: 300 });
      await page.getByText("No profiles yet").waitFor();
      await form(page).target.waitFor(); // it is seen at once, since there is nothing else
      await fill(page, running.target);
      await form(page).button.click();
      const row = line(page, running.target);
      await row.getByRole("link").waitFor();
      const [run] = runs(dir);
      await page.locator("#list tbody tr").first().getByRole("link", { name: run, exact: true }).waitFor();
      assert.equal(await page.getByText("No profiles yet").count(), 0);
      running.stop();
    }, { options: ["--ui", "none"], before: ({ dir }) => rmSync(path.join(dir, "plugins"), { recursive: true }) }));

  await test("a capture is cancelled, and what came is kept", () =>
    withPlace(async ({ dir, page }) => {
      const running = await program({ ms: 60000 });
      await fill(page, running.target, "30");
      await form(page).button.click();
      const row = line(page, running.target);
      await row.getByText(/recording/).waitFor();
      await page.getByRole("button", { name: `Cancel the capture of ${running.target}` }).click();
      await row.getByText(/cancelled/).waitFor();
      assert.ok(running.heard.includes("Terminate"));
      await row.getByRole("link", { name: runs(dir)[0] }).waitFor();
      running.stop();
    }));

  await test("a program that refuses, and one that is not there, are told of with why", () =>
    withPlace(async ({ dir, page }) => {
      const busy = await program({ refuse: "Another profiling <i>session</i> is active" });
      for (const [target, why] of [[busy.target, /active|already/], ["127.0.0.1:1", /refused|listen|reach/]]) {
        await fill(page, target);
        await form(page).button.click();
        await line(page, target).locator(".error", { hasText: why }).waitFor();
        assert.ok(await page.getByRole("button", { name: `Capture ${target}` }).isVisible());
      }
      assert.deepEqual(runs(dir), []);
      busy.stop();
    }));

  await test("what the server does not take is told of beside the form", () =>
    withPlace(async ({ page }) => {
      await fill(page, "no port");
      await form(page).button.click();
      await form(page).said.getByText("HOST:PORT").waitFor();
      assert.equal(await form(page).target.inputValue(), "no port");
    }));

  await test("a capture needs no mouse, and the focus is never lost", () =>
    withPlace(async ({ page }) => {
      const running = await program({ ms: 60000 });
      await form(page).summary.focus();
      await page.keyboard.press("Enter");
      await page.keyboard.press("Tab");
      await page.keyboard.type(running.target);
      await page.keyboard.press("Enter");
      await line(page, running.target).getByText(/recording/).waitFor();
      const [again, cancel] = [`Capture ${running.target}`, `Cancel the capture of ${running.target}`];
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.press("Shift+Tab");
      assert.equal(await active(page), cancel);
      await page.keyboard.press("Space");
      await line(page, running.target).getByText(/cancelled/).waitFor();
      assert.equal(await active(page), again);
      await page.keyboard.press("Space");
      await line(page, running.target).getByText(/recording/).waitFor();
      assert.equal(await active(page), cancel);
      await page.keyboard.press("Space");
      await line(page, running.target).getByText(/cancelled/).waitFor();
      running.stop();
    }));

  await test("a target that answered is offered again by the next server", async () => {
    const running = await program({ ms: 100 });
    await withPlace(async ({ place, dir, page }) => {
      await fill(page, running.target);
      await form(page).button.click();
      await line(page, running.target).getByRole("link").waitFor();
      const other = await serve(dir);
      const { context } = await guarded(browser, [other.url]);
      const second = await context.newPage();
      await second.goto(other.url);
      await second.getByRole("button", { name: `Capture ${running.target}` }).click();
      await line(second, running.target).getByRole("link").waitFor();
      assert.equal(runs(dir).length, 2);
      assert.ok(existsSync(path.join(place, "cache/view_profile/targets")));
      await context.close();
      await other.stop();
    });
    running.stop();
  });
}

if (fetcher) await captures();
else skip("captures over the network", "built without libcurl");

await test("without scripts the page says how to capture instead", () =>
  withPlace(async ({ page }) => {
    await form(page).summary.click();
    await page.locator("#live noscript p").waitFor();
    assert.ok(await form(page).target.isHidden());
  }, { context: { javaScriptEnabled: false } }));

await test("a server that shall not capture says so in place of the form", () =>
  withPlace(async ({ page }) => {
    await form(page).summary.click();
    await page.getByText("--no-capture").waitFor();
    assert.equal(await page.locator("#capture").count(), 0);
  }, { options: ["--no-capture"] }));

/* ---- Looks ----------------------------------------------------------------------------------- */

function watchState({ place, dir }) {
  const figure = (i) => ({ run: i === 11 ? OLD : `r${i}`, unix_ms: 1795242842000 + i * 60000, steps: 9,
    median_ps: (15_100_000_000 + (i % 3) * 90_000_000 + (i === 11 ? 3_600_000_000 : 0)), p90_ps: 19_000_000_000,
    verdict: i === 11 ? "regression" : "noise" });
  const target = (name, state, more) => ({ target: name, name: "n", listed: true, state, error: null,
    words: null, figures: Array.from({ length: 12 }, (_, i) => figure(i)), ...more });
  writeFileSync(path.join(dir, ".view_profile-watch.json"), JSON.stringify({ schema: "view_profile.watch/1", pid: null,
    updated_unix_ms: 1795242842000, every_ms: 600000, targets: [
      target("trainer-0.pool.example:9012", "slower", { words: "median step 15.100 ms to 18.700 ms, +23.8 %" }),
      target("trainer-with-a-long-name-of-its-own.zone-a.pool.example:9012", "ok"),
      target("10.0.0.7:9012", "gone", { error: "cannot be reached: connection refused", figures: [] })] }));
  mkdirSync(path.join(place, "cache/view_profile"), { recursive: true });
  writeFileSync(path.join(place, "cache/view_profile/targets"), "127.0.0.1:9012\nhost-a.example:9012,host-b.example:9012\n");
}

for (const colorScheme of ["light", "dark"]) {
  for (const width of [1280, 400]) {
    await test(`the form and watched programs fit, ${colorScheme}, ${width} px`, () =>
      withPlace(async ({ page }) => {
        const busy = fetcher && (await program({ ms: 60000 }));
        await page.getByRole("button", { name: "Capture 127.0.0.1:9012" }).waitFor();
        await page.locator("#list tbody tr").first().waitFor();
        if (busy) {
          await fill(page, busy.target, "30");
          await form(page).button.click();
          await line(page, busy.target).getByText(/recording/).waitFor();
          await fill(page, "127.0.0.1:1");
          await form(page).button.click();
          await line(page, "127.0.0.1:1").locator(".error", { hasText: /\w/ }).waitFor();
        }
        await page.screenshot({ path: path.join(shots, `capture-${colorScheme}-${width}.png`), fullPage: true });
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
        assert.equal(await page.locator("svg.spark[aria-label^='12 captures, from 15.100 ms']").count(), 2);
        assert.ok(await page.evaluate(() => [...document.querySelectorAll("table")].every((t) => t.caption)));
        if (busy) busy.stop();
      }, { context: { colorScheme, viewport: { width, height: 800 } }, before: watchState }));
  }
}
