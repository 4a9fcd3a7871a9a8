// The timeline panned in a real Chromium while DevTools records: what a frame costs the page's main thread, and how many there are a second. One line of JSON.
// `node scripts/bench_timeline_frames.mjs TRACE`; VIEW_PROFILE names the program. Chromium runs without a GPU here: rasterizing is not in the main thread's time.
import { setTimeout } from "node:timers/promises";
import { launch, serve } from "../tests/browser/lib.mjs";

const SECONDS = 3;
const SHARES = [0.5, 0.02, 0.0005]; // of the trace, seen at once
const CATEGORIES = ["devtools.timeline", "disabled-by-default-devtools.timeline", "disabled-by-default-devtools.timeline.frame"];

const server = await serve(process.argv[2]);
const browser = await launch();

const json = async (what) => (await fetch(`${server.url}/api/v1/${what}`)).json();
const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
const rounded = (n) => Math.round(n * 100) / 100;

// Half of the time by the mouse, to and fro, half by keys. Nothing waits for an answer, as no hand does: the browser answers a move
// with a later frame, so that whoever waits for it measures its own pace.
async function pan(page) {
  const box = await page.locator("canvas.rows").boundingBox();
  const [middle, y] = [box.x + 700, box.y + 200];
  const sent = [];
  let end = performance.now() + SECONDS * 500;
  await page.mouse.move(middle, y);
  await page.mouse.down();
  for (let i = 0; performance.now() < end; i++) {
    sent.push(page.mouse.move(middle + 450 * Math.sin(i / 40), y));
    await setTimeout(8);
  }
  await Promise.all(sent);
  await page.mouse.up();
  end = performance.now() + SECONDS * 500;
  for (let i = 0; performance.now() < end; i++) {
    sent.push(page.keyboard.press(Math.floor(i / 12) % 2 ? "ArrowLeft" : "ArrowRight"));
    await setTimeout(12);
  }
  await Promise.all(sent);
}

// Of each frame, from its begin to that of the next one: the main thread's milliseconds, and those of them that it had a
// processor; and frames a second.
function framesOf(trace) {
  const mains = new Set(trace.filter((e) => e.name === "thread_name" && e.args.name === "CrRendererMain").map((e) => `${e.pid}.${e.tid}`));
  const of = (name) => trace.filter((e) => e.name === name && mains.has(`${e.pid}.${e.tid}`)).sort((a, b) => a.ts - b.ts);
  const begins = of("FireAnimationFrame");
  const tasks = of("RunTask");
  const [wall, cpu] = [[], []];
  let t = 0;
  for (let i = 0; i + 1 < begins.length; i++) {
    const [from, to] = [begins[i].ts, begins[i + 1].ts];
    let [sum, held] = [0, 0];
    while (t < tasks.length && tasks[t].ts + tasks[t].dur <= from) t++;
    for (let k = t; k < tasks.length && tasks[k].ts < to; k++) {
      const { ts, dur, tdur = dur } = tasks[k];
      const part = Math.min(ts + dur, to) - Math.max(ts, from);
      sum += part;
      held += dur ? (part / dur) * tdur : 0;
    }
    wall.push(sum / 1000);
    cpu.push(held / 1000);
  }
  const [byWall, byCpu] = [wall, cpu].map((list) => list.sort((a, b) => a - b));
  return { frames_per_s: rounded((begins.length - 1) / ((begins.at(-1).ts - begins[0].ts) / 1e6)),
    main_p50_ms: rounded(at(byWall, 0.5)), main_p99_ms: rounded(at(byWall, 0.99)),
    cpu_p50_ms: rounded(at(byCpu, 0.5)), cpu_p99_ms: rounded(at(byCpu, 0.99)) };
}

try {
  let list;
  do list = await json("sessions");
  while (list.indexing);
  const id = encodeURIComponent(list.sessions[0].id);
  const { from_ps, to_ps } = await json(`session/${id}/tracks?analysis=1`);
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const all = {};
  for (const share of SHARES) {
    const from = Math.round(from_ps + (to_ps - from_ps) * 0.3);
    await page.goto(`${server.url}/session/${id}/timeline?from=${from}&to=${Math.round(from + (to_ps - from_ps) * share)}`);
    await page.waitForFunction(() => document.getElementById("timeline").dataset.marked);
    await page.waitForTimeout(1000);
    await browser.startTracing(page, { categories: CATEGORIES });
    await pan(page);
    all[share] = framesOf(JSON.parse(await browser.stopTracing()).traceEvents);
  }
  console.log(JSON.stringify(all));
} finally {
  await browser.close();
  await server.stop();
}
