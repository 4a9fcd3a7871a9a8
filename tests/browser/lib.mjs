// What the browser tests share: the server under test, a stand-in for the Perfetto UI, a Chromium
// that reports everything a page must not do, and a small harness.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { once } from "node:events";
import { createReadStream, existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import path from "node:path";
import { chromium } from "playwright-core";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
// By the rule of tests/traces.py: the wide collection where it is, else the part of it in tests/data.
const wide = path.resolve(process.env.VP_TRACES || path.join(root, "../shared/traces"));
export const traces = existsSync(wide) ? wide : path.join(root, "tests/data");
export const shots = path.join(root, "build/screenshots");
export const binary = process.env.VIEW_PROFILE || path.join(root, "build/dev/view_profile");

const fetched = process.env.VP_PERFETTO_UI || path.join(root, "build/perfetto-ui");
// A build of the real Perfetto UI, or null where none could be fetched (scripts/perfetto_ui).
export const realUi = existsSync(path.join(fetched, "index.html")) ? fetched : null;

/* ---- Harness --------------------------------------------------------------------------------- */

const counts = { passed: 0, failed: 0, skipped: 0 };
let file; // of the tests that run now

export function setFile(name) {
  file = name;
}

export async function test(name, body) {
  const since = performance.now();
  try {
    await body();
    counts.passed++;
    console.log(`ok      ${name} (${Math.round(performance.now() - since)} ms)`);
  } catch (error) {
    counts.failed++;
    console.log(`FAILED  ${name}\n${String(error.stack || error).replace(/^/gm, "        ")}`);
    console.log(`        run alone: scripts/test browser/${file}`);
  }
}

export function skip(name, why) {
  counts.skipped++;
  console.log(`SKIP    ${name}: ${why}`);
}

process.on("unhandledRejection", () => {}); // a wait that its test gave up on

// Ends whatever a failed test left behind, too: nothing may outlive the run.
export async function finish() {
  await Promise.all([...servers].map((server) => server.stop()));
  const skipped = counts.skipped ? `, ${counts.skipped} skipped` : "";
  console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
  process.exit(counts.failed ? 1 : 0);
}

/* ---- The server under test ------------------------------------------------------------------- */

const servers = new Set();
process.on("exit", () => servers.forEach((server) => server.child.kill("SIGKILL")));

// dir "-": a trace by a pipe that nobody writes to, so that the list is never done.
export async function serve(dir, ...options) {
  if (!existsSync(binary)) throw new Error(`no program at ${binary}: build it, or set VIEW_PROFILE`);
  const port = options.includes("--port") ? [] : ["--port", "0"];
  const args = ["serve", dir, "--no-browser", ...port, ...options];
  const child = spawn(binary, args, { stdio: [dir === "-" ? "pipe" : "ignore", "pipe", "pipe"] });
  const server = { child };
  server.stop = async () => {
    child.kill("SIGTERM");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    servers.delete(server);
  };
  servers.add(server);
  let said = "";
  const url = await new Promise((resolve, reject) => {
    const hear = (piece) => {
      said += piece;
      const found = said.match(/http:\/\/127\.0\.0\.1:\d+\//);
      if (found) resolve(found[0]);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", (code) => {
      servers.delete(server);
      reject(new Error(`the server ended with ${code}: ${said}`));
    });
    setTimeout(() => reject(new Error(`no address within 60 s: ${said}`)), 60000).unref();
  });
  return Object.assign(server, { url: url.slice(0, -1), port: Number(new URL(url).port) });
}

/* ---- A stand-in for the Perfetto UI ---------------------------------------------------------- */

// Answers PING with PONG as the UI does (docs/reference/perfetto.md#hand-off), from `delay` ms
// after it was opened, and leaves what it was given in window.got.
const standInPage = (delay) => `<!doctype html><title>stand-in</title><script>
  window.got = { pings: 0, traces: [], times: [] };
  let open = true;
  const since = performance.now();
  addEventListener("message", async (event) => {
    if (event.source !== window.opener || !open) return;
    if (event.data === "PING") {
      got.pings++;
      if (${delay} >= 0 && performance.now() - since >= ${delay}) event.source.postMessage("PONG", "*");
      return;
    }
    const { perfetto } = event.data;
    if (perfetto.timeStart !== undefined) {
      got.times.push(perfetto);
      return;
    }
    const { buffer, ...rest } = perfetto;
    open = Boolean(perfetto.keepApiOpen);
    const head = new Uint8Array(buffer, 0, 2);
    const packed = head[0] === 0x1f && head[1] === 0x8b;
    const stream = new Blob([buffer]).stream();
    const text = await new Response(
      packed ? stream.pipeThrough(new DecompressionStream("gzip")) : stream).text();
    const all = JSON.parse(text).traceEvents;
    const added = new Set(all.filter((e) => e.name === "process_name" && /^analysis$|\\(analysis[,)]/.test(e.args.name))
      .map((e) => e.pid));
    const events = all.filter((e) => !added.has(e.pid)); // the file's own
    got.traces.push({ ...rest, bytes: buffer.byteLength, events: events.length,
      slices: events.filter((e) => e.ph === "X").length });
  });
</script>`;

export async function standIn({ delay = 0 } = {}) {
  const server = createServer((request, response) => {
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.end(standInPage(delay));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}`;
  return { url, stop: () => server.close() };
}

// The files of a directory, as a server that knows nothing of us sends them.
export async function servePlainly(dir, port) {
  const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://x");
    const file = path.join(dir, pathname.endsWith("/") ? `${pathname}index.html` : pathname);
    response.setHeader("Content-Type", types[path.extname(file)] ?? "application/octet-stream");
    const stream = createReadStream(file);
    stream.on("error", () => response.writeHead(404).end());
    stream.pipe(response);
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() };
}

/* ---- Chromium -------------------------------------------------------------------------------- */

// The one without windows, where it is there: the same engine, and a page costs it half of what it costs the other.
const [program] = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].filter(existsSync);

export function launch(...args) {
  return chromium.launch({
    executablePath: process.env.CHROMIUM || program,
    args: ["--no-sandbox", ...args],
  });
}

// A context in which everything a page of ours must never do is written into `complaints`.
export async function guarded(browser, allowed, options = {}) {
  const complaints = [];
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(90000); // for what must come to be; a busy machine takes its time
  await context.route("**/*", (route) => {
    const url = route.request().url();
    if (allowed.some((origin) => url.startsWith(`${origin}/`))) return route.continue();
    complaints.push(`request to ${url}`);
    return route.abort();
  });
  const watch = (page) => {
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type()))
        complaints.push(`console ${message.type()}: ${message.text()}`);
    });
    page.on("pageerror", (error) => complaints.push(`exception: ${error}`));
    page.on("dialog", (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
  };
  context.on("page", watch);
  return { context, complaints };
}
