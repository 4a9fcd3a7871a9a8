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
  // A narrow slice alone, some that no pixel tells apart, and an end.
  narrow: [x("tiny op", 5e5, 0.00125), ...Array.from({ length: 100 }, (_, i) => x(`grain ${i}`, 3e5 + i / 100, 0.001, 2)), x("end", 999999, 1, 3)],
  // Two processes of one name, with more threads than are seen at once.
  procs: [11, 12].flatMap((pid) => [{ ph: "M", pid, name: "process_name", args: { name: "python3" } },
    ...Array.from({ length: 40 }, (_, i) => ({ ...x(`${pid} ${i}`, i, 40, i + 1), pid }))]),
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

async function onTimeline(name, rest, body, options = {}) {
  const { context, complaints } = await guarded(browser, [server.url], { viewport: { width: 1440, height: 900 }, ...options });
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
  const left = await page.evaluate(() => Number(document.getElementById("timeline").dataset.left));
  const px = box.x + left + ((ps - from) / (to - from)) * (box.width - left);
  for (let y = box.y + 30; y < box.y + box.height; y += 4) {
    await page.mouse.move(px, y);
    if (await page.locator(".tip").isVisible() && /events |at once/.test(await page.locator(".tip").textContent())) return { x: px, y };
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
    const href = await page.locator("aside.details a", { hasText: "Open selection in Perfetto" }).getAttribute("href");
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

/* ---- What is told of what is narrow --------------------------------------------------------- */

const details = (page) => page.locator("aside.details");
const status = (page) => page.locator("#timeline-status");
const query = (page) => new URL(page.url()).searchParams;

async function seenTable(page) {
  await page.locator("summary", { hasText: "as a table" }).click();
  await page.locator("details.seen tbody tr").first().waitFor();
  await page.waitForFunction(() => !document.querySelector("details.seen").textContent.includes("…"));
  return page.locator("details.seen tbody tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
}

await test("the table names what is longest, with its whole length, and says what cannot be told", () =>
  onTimeline("narrow", "", async (page) => {
    const rows = await seenTable(page);
    assert.ok(rows.some((row) => row[3] === "tiny op 1.250 ns"), JSON.stringify(rows));
    assert.ok(rows.some((row) => /^100 events, too dense/.test(row[3])), JSON.stringify(rows));
  }));

// The tip at a time, row by row from the top, until it says what is wanted.
async function tipAt(page, ps, wanted) {
  const box = await page.locator("canvas.rows").boundingBox();
  const left = await page.evaluate(() => Number(document.getElementById("timeline").dataset.left));
  const [from, to] = [Number(query(page).get("from")), Number(query(page).get("to"))];
  const said = [];
  for (let y = box.y + 40; y < box.y + 300; y += 9) {
    await page.mouse.move(box.x + left + ((ps - from) / (to - from)) * (box.width - left), y);
    if (!(await page.locator(".tip").isVisible())) continue;
    await page.waitForTimeout(250);
    said.push(await page.locator(".tip").textContent());
    if (wanted.test(said.at(-1))) return said.at(-1);
  }
  throw new Error(`no tip says ${wanted}: ${said.join(" | ")}`);
}

await test("the tip names a narrow slice and says its whole length, and of many how many there are", () =>
  onTimeline("narrow", "", async (page) => {
    await tipAt(page, 5e11, /^tiny op, 1\.250 ns$/);
    await tipAt(page, 3e11, /^100 events from .* to .*; click to open$/);
  }));

/* ---- Rows by the keys ------------------------------------------------------------------------ */

await test("rows are walked, opened and closed by keys", () =>
  onTimeline("procs", "", async (page) => {
    for (let i = 0; i < 400 && selected(page) !== "40.0.0"; i++) {
      await page.keyboard.press(i % 2 ? "j" : "ArrowDown");
      await page.waitForTimeout(160);
    }
    assert.equal(selected(page), "40.0.0", "the first thread of the second process is reached");
    assert.ok((await page.evaluate(() => document.querySelector(".scroller").scrollTop)) > 0);
    await page.keyboard.press("k");
    await page.waitForFunction(() => !new URL(location).searchParams.has("sel")); // the name of the group
    await page.keyboard.press("j");
    await selects(page, "40.0.0");
    await page.keyboard.press(" ");
    await page.waitForFunction(() => new URL(location).searchParams.get("fold") === "g40");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => !new URL(location).searchParams.has("fold"));
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await selects(page, "41.0.0");
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !new URL(location).searchParams.has("sel"));
    await page.keyboard.press("Enter");
    await selects(page, "41.0.0");
  }));

await test("the help lists every key that the timeline listens to", () =>
  onTimeline("hits", "", async (page) => {
    const names = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", PageUp: "PgUp", PageDown: "PgDn",
      Escape: "Esc", Plus: "+", "-": "−" };
    const keys = (await page.locator("canvas.rows").getAttribute("aria-keyshortcuts")).split(" ").map((key) => names[key] ?? key);
    await page.keyboard.press("?");
    const told = (await page.locator("dialog kbd").allTextContents()).flatMap((text) => text.split(/,? /));
    for (const key of [...keys, "/", "p", "?", "wheel", "ruler"]) assert.ok(told.includes(key) || (key === "," && told.includes("")), `${key}: ${told}`);
    assert.match(await page.locator("dialog").innerText(), /clear the selection/);
  }));

/* ---- Addresses ------------------------------------------------------------------------------- */

await test("an address gives the same view again", () =>
  onTimeline("procs", "?q=12&marks=1000000,9000000", async (page) => {
    await page.locator("output.muted", { hasText: "events" }).waitFor();
    const hits = await page.locator("output.muted").textContent();
    await details(page).getByText("after A").waitFor();
    await page.locator("canvas.rows").hover();
    await page.mouse.wheel(0, 400);
    await page.waitForFunction(() => new URL(location).searchParams.has("top"));
    await page.waitForTimeout(200);
    const before = await page.evaluate(() => document.querySelector(".scroller").scrollTop);
    assert.ok(before > 100);
    for (const height of [900, 600]) {
      await page.setViewportSize({ width: 1440, height });
      await page.reload();
      await page.waitForFunction(() => document.getElementById("timeline").dataset.marked);
      await page.waitForTimeout(300);
      assert.equal(await page.evaluate(() => document.querySelector(".scroller").scrollTop), before, `${height} px`);
      assert.equal(await page.locator("output.muted").textContent(), hits);
      await details(page).getByText("after A").waitFor();
    }
  }));

await test("an address leads to its event, however far down, in a group that was closed", () =>
  onTimeline("procs", "?sel=70.0.0&fold=g40", async (page) => {
    assert.equal(await details(page).locator("h2").textContent(), "12 30");
    const rows = await seenTable(page);
    const { groups } = await api("procs", "tracks");
    const track = groups.flatMap((g) => g.tracks).find((t) => t.id === 70);
    assert.ok(rows.some(([name]) => name === (track.name || `track ${track.tid}`)), JSON.stringify(rows));
    assert.ok(rows.every((row) => row[2] !== ""));
  }));

await test("a range stays in the address, with what it sums up", () =>
  onTimeline("hits", "?from=30000000&to=70000000", async (page) => {
    const summed = async () => { // the page asks for both at once, and either may come first
      await details(page).getByText("Time by op in this range").waitFor();
      await details(page).getByText("Device time in the range").waitFor();
      return details(page).innerText();
    };
    await page.keyboard.press("r");
    const text = await summed();
    await page.waitForFunction(() => new URL(location).searchParams.get("range") === "30000000..70000000");
    await page.reload();
    assert.equal(await summed(), text);
    assert.equal(query(page).get("range"), "30000000..70000000");
  }));

for (const sel of ["999.0.0", "abc", "1", "0.0.99999"])
  await test(`an address of no event says so: ${sel}`, async () => {
    const { context } = await guarded(browser, [server.url]); // the browser itself reports that the answer is 404
    const page = await context.newPage();
    await page.goto(`${server.url}/session/${idOf("hits")}/timeline?sel=${sel}`);
    await page.waitForFunction(() => document.getElementById("timeline").dataset.marked);
    await page.locator("canvas.rows").focus();
    for (const key of "wd") await page.keyboard.press(key);
    await page.waitForTimeout(500);
    assert.match(await status(page).textContent(), /Event not found/);
    await page.keyboard.press("Enter");
    await details(page).locator("h2").waitFor();
    assert.equal(await status(page).textContent(), "");
    await context.close();
  });

await test("marks are lettered A to Z, then AA", () =>
  onTimeline("hits", `?marks=${Array.from({ length: 29 }, (_, i) => i * 1000000).join(",")}`, async (page) => {
    const names = await details(page).locator("section dt").allTextContents();
    assert.deepEqual([names[0], names[25], names[26], names[28]], ["A", "Z", "AA", "AC"]);
    assert.ok((await details(page).locator("section dd").nth(27).textContent()).endsWith("after AA"));
  }));

/* ---- Searching, Perfetto, fingers ------------------------------------------------------------ */

await test("a text that is too long is cut at a character, and an empty box says nothing", () =>
  onTimeline("hits", "", async (page) => {
    await page.keyboard.press("/");
    await page.locator("input[type=search]").fill("é".repeat(150));
    await page.keyboard.press("Enter");
    await page.locator("output.muted", { hasText: "no results; the text was truncated" }).waitFor();
    assert.equal(await page.locator("input[type=search]").inputValue(), "é".repeat(100));
    await page.keyboard.press("/");
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("output.muted").textContent(), "");
  }));

await test("p leads to Perfetto at what is seen", () =>
  onTimeline("hits", "?from=20000000&to=60000000", async (page) => {
    const { file_origin_ns: origin } = await api("hits", "tracks");
    const ns = (n) => BigInt(origin) + n;
    await page.keyboard.press("p");
    await page.waitForURL(`**/perfetto/**?at=${ns(20000n)}..${ns(60000n)}`);
  }));

await test("two fingers zoom", () =>
  onTimeline("hits", "", async (page) => {
    const box = await page.locator("canvas.rows").boundingBox();
    const cdp = await page.context().newCDPSession(page);
    const spanOf = () => Number(query(page).get("to")) - Number(query(page).get("from"));
    const before = spanOf();
    const touch = (type, apart) => cdp.send("Input.dispatchTouchEvent", { type, touchPoints: apart
      ? [-1, 1].map((side, id) => ({ id, x: box.x + 190 + side * apart, y: box.y + 120 })) : [] });
    await touch("touchStart", 40);
    for (let apart = 50; apart <= 120; apart += 10) await touch("touchMove", apart);
    await touch("touchEnd");
    await page.waitForTimeout(300);
    assert.ok(Math.abs(before / spanOf() - 3) < 0.3, `${before} ${spanOf()}`);
    assert.equal(selected(page), null);
  }, { viewport: { width: 390, height: 800 }, hasTouch: true }));

for (const [width, height] of [[1440, 900], [390, 800]])
  await test(`the page is as high as the window, ${width} px`, () =>
    onTimeline("hits", "", async (page) => {
      assert.ok((await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)) <= 0);
      const [map, rows] = await page.locator(".minimap, canvas.rows").evaluateAll((all) => all.map((c) => c.getBoundingClientRect().toJSON()));
      const left = await page.evaluate(() => Number(document.getElementById("timeline").dataset.left));
      for (const off of [map.left - rows.left - left, map.right - rows.right]) assert.ok(Math.abs(off) < 1, String(off));
    }, { viewport: { width, height } }));

export { mapColours };
await server.stop();
rmSync(dir, { recursive: true, force: true });
