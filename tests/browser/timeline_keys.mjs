// What can be picked, searched and saved in timelines made for it: events that begin at once, hits in both directions, times
// beyond what a number holds, thousands of rows, and a map of the whole trace.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { guarded, serve, test } from "./lib.mjs";
import { browser } from "./world.mjs";

const dir = mkdtempSync(path.join(tmpdir(), "vp_keys_"));
const x = (name, ts, dur, tid = 1) => ({ ph: "X", pid: 1, tid, name, ts, dur });
const LATE = "9007199254.740993"; // µs: 2^53 + 1 ps
const files = {
  equal: [x("begin", 0, 10), ...Array.from({ length: 5 }, (_, i) => x(`at once ${i}`, 50, 0)), x("end", 90, 10)],
  hits: [x("needle", 0, 10), x("hay", 20, 10), x("needle", 40, 10), x("hay", 60, 10), x("needle", 80, 10)],
  // Each thread crosses 150 others: more than there are lanes.
  deep: Array.from({ length: 150 }, (_, i) => x(`row ${i}`, i, 1000)),
  late: `{"traceEvents":[${JSON.stringify(x("first", 0, 1))},{"ph":"X","pid":1,"tid":1,"name":"late","ts":${LATE},"dur":0.001}]}`,
};
for (const [name, events] of Object.entries(files))
  writeFileSync(path.join(dir, `${name}.trace.json`), typeof events === "string" ? events : JSON.stringify({ traceEvents: events }));

const server = await serve(dir);
const json = async (what) => (await fetch(`${server.url}${what}`)).json();
let list;
do list = await json("/api/v1/sessions");
while (list.indexing);
const idOf = (name) => encodeURIComponent(list.sessions.find((s) => s.name.startsWith(name)).id);
const api = (name, what) => json(`/api/v1/session/${idOf(name)}/${what}`);
const selected = (page) => new URL(page.url()).searchParams.get("sel");
const selects = (page, id) => page.waitForFunction((want) => new URL(location).searchParams.get("sel") === want, id);

async function onTimeline(name, rest, body) {
  const { context, complaints } = await guarded(browser, [server.url], { viewport: { width: 1440, height: 900 } });
  try {
    const page = await context.newPage();
    const asked = [];
    page.on("request", (request) => request.url().includes("/slices?") && asked.push(new URL(request.url())));
    await page.goto(`${server.url}/session/${idOf(name)}/timeline${rest}`);
    await page.waitForFunction(() => document.getElementById("timeline").dataset.marked);
    await page.waitForTimeout(300);
    await page.locator("canvas.rows").focus();
    await body(page, asked);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}

// Where on the canvas the row of the file's first track is, found by what the pointer's tip says of a time.
async function pointAt(page, ps) {
  const box = await page.locator("canvas.rows").boundingBox();
  const query = new URL(page.url()).searchParams;
  const [from, to] = [Number(query.get("from")), Number(query.get("to"))];
  const px = box.x + 210 + ((ps - from) / (to - from)) * (box.width - 210);
  for (let y = box.y + 30; y < box.y + box.height; y += 4) {
    await page.mouse.move(px, y);
    if (await page.locator(".tip").isVisible() && /events, |at once/.test(await page.locator(".tip").textContent())) return { x: px, y };
  }
  throw new Error("nothing lies there");
}

await test("events that begin at once are picked one by one", () =>
  onTimeline("equal", "", async (page) => {
    for (let i = 0; i < 40 && !selected(page); i++) {
      const { x: left, y } = await pointAt(page, 50e6);
      await page.mouse.click(left, y);
      await page.waitForTimeout(150);
    }
    await selects(page, "0.0.1");
    const names = [];
    for (let i = 1; i <= 5; i++) {
      await selects(page, `0.0.${i}`);
      names.push(await page.locator("aside.details h2").textContent());
      await page.keyboard.press(".");
    }
    assert.deepEqual(names, [0, 1, 2, 3, 4].map((i) => `at once ${i}`));
    await selects(page, "0.0.6");
    await page.keyboard.press(",");
    await selects(page, "0.0.5");
  }));

await test("a search goes round in both directions", async () => {
  const hits = []; // of the analysis, too
  for (let after = ""; ; after = `&after=${hits.at(-1)}`) {
    const { found } = await api("hits", `search?analysis=1&q=needle${after}`);
    if (!found) break;
    hits.push(found.id);
  }
  assert.ok(hits.length >= 3, hits.join());
  await onTimeline("hits", `?sel=${hits[0]}&q=needle`, async (page) => {
    for (const id of [...hits.slice(1).reverse(), hits[0]]) {
      await page.keyboard.press("N");
      await selects(page, id);
    }
    await page.keyboard.press("N");
    await selects(page, hits.at(-1));
    await page.keyboard.press("n");
    await selects(page, hits[0]);
  });
});

await test("a search backwards begins at what is seen", () =>
  onTimeline("hits", "?from=30000000&to=70000000&q=needle", async (page) => {
    await page.keyboard.press("N");
    await selects(page, "0.0.2");
  }));

await test("times above what a number holds are kept to the picosecond", () =>
  onTimeline("late", "?sel=0.0.1", async (page) => {
    const event = await api("late", "event?id=0.0.1");
    assert.equal(event.exact_start_ps, String(2n ** 53n + 1n));
    const { file_origin_ns: origin } = await api("late", "tracks");
    const start = BigInt(origin) + (2n ** 53n + 1n + 500n) / 1000n;
    const end = BigInt(origin) + (2n ** 53n + 1n + 1000n + 500n) / 1000n;
    const href = await page.locator("aside.details a", { hasText: "Open this in Perfetto" }).getAttribute("href");
    assert.equal(href.split("?at=")[1], `${start}..${end}`);
    // An address of Perfetto's ns, odd in ps for a double.
    const at = `${BigInt(origin) + 9007199254741n}..${BigInt(origin) + 9007199254743n}`;
    const range = page.waitForRequest((request) => request.url().includes("/range?"));
    await page.goto(`${server.url}/session/${idOf("late")}/timeline?at=${at}`);
    const query = new URL((await range).url()).searchParams;
    assert.deepEqual([query.get("from"), query.get("to")], ["9007199254741000", "9007199254743000"]);
  }));

await test("of many rows those are asked for that are seen or near", () =>
  onTimeline("deep", "", async (page, asked) => {
    const track = (await api("deep", "tracks")).groups[0].tracks[0];
    assert.ok(track.rows > 100, String(track.rows));
    const rowsAsked = () => {
      const rows = new Set();
      for (const url of asked)
        for (const part of url.searchParams.get("tracks").split(",")) {
          const [, id, last = id, count, first = "0"] = part.match(/^(\d+)(?:-(\d+))?:(\d+)(?:@(\d+))?$/);
          assert.ok(Number(count) * Number(url.searchParams.get("px")) <= 40000 || count === "1", url.search);
          if (Number(id) <= track.id && track.id <= Number(last)) for (let r = 0; r < Number(count); r++) rows.add(Number(first) + r);
        }
      return rows;
    };
    assert.ok(rowsAsked().size > 0 && Math.max(...rowsAsked()) < 24, "24 of a track are shown");
    asked.length = 0;
    await page.goto(`${page.url().split("?")[0]}?sel=${track.id}.100.0`); // a row that is not shown at first
    await selects(page, `${track.id}.100.0`);
    await page.locator("aside.details h2").waitFor();
    assert.equal(new Set(asked.map((url) => url.search)).size, asked.length, "no window is asked for twice");
  }));

// Colours of the map's pixels in a band of it.
const mapColours = (page, from, to) =>
  page.evaluate(([a, b]) => {
    const canvas = document.querySelector("canvas.minimap");
    const rows = [Math.floor(canvas.height * a), Math.ceil(canvas.height * b)];
    const { data } = canvas.getContext("2d").getImageData(0, rows[0], canvas.width, rows[1] - rows[0]);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4) seen.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
    return seen.size;
  }, [from, to]);

await test("a map without steps and findings is plain", () =>
  onTimeline("hits", "", async (page) => assert.ok((await mapColours(page, 0.3, 0.6)) <= 4)));

export { mapColours };
await server.stop();
rmSync(dir, { recursive: true, force: true });
