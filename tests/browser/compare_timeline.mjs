// Two timelines: both runs are drawn, move together, and say what differs without colours, too.
import assert from "node:assert/strict";
import path from "node:path";
import { shots, test } from "./lib.mjs";
import { HOSTILE } from "./fixture.mjs";
import { idOf, onPage, server } from "./world.mjs";

const TPU = ["2026_01_11_21_26_41", "2026_01_12_00_26_20"];
const STEPS = ["mnist_train", "mnist_train"];
const ids = (pair) => pair.map(idOf).map(encodeURIComponent).join("/");
const at = (pair, rest = "") => `/compare/${ids(pair)}/timeline${rest}`;
const api = async (pair) => (await fetch(`${server.url}/api/v1/compare/${ids(pair)}/timeline`)).json();
const query = (page) => new URL(page.url()).searchParams;
const details = (page) => page.locator("aside.details");
const canvas = (page) => page.locator("canvas.rows");

async function drawn(page) {
  await page.waitForFunction(() => Number(document.getElementById("compare-timeline")?.dataset.drawn) > 0);
  await page.waitForFunction(() => new URL(location).searchParams.has("to"));
  await page.waitForTimeout(300);
}

// How many colours there are in each of these stripes of the canvas: [[from, until], …].
const coloursOf = (page, stripes) =>
  page.evaluate((all) => {
    const canvas = document.querySelector("canvas.rows");
    const ratio = canvas.width / canvas.clientWidth;
    const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return all.map(([from, until]) => {
      const seen = new Set();
      for (let y = Math.ceil(from * ratio); y < until * ratio; y++)
        for (let x = Math.ceil(220 * ratio); x < width; x++) seen.add(data.slice((y * width + x) * 4, (y * width + x) * 4 + 3).join());
      return seen.size;
    });
  }, stripes);

await test("both runs are drawn, one above the other", () =>
  onPage(at(STEPS), async (page) => {
    await drawn(page);
    const tracks = await (await fetch(`${server.url}/api/v1/session/${encodeURIComponent(idOf(STEPS[0]))}/tracks`)).json();
    const high = Math.min(12, tracks.groups[0].tracks[0].rows) * 17 + 4;
    // Ruler 26, group 24, then the first pair's rows: A's and, right below, B's; one ground each.
    const seen = await coloursOf(page, [50, 50 + high].map((y) => [y + 2, y + high - 6]));
    assert.ok(seen.every((colours) => colours > 2), seen.join());
  }));

await test("the rows of both analyses follow their device", () =>
  onPage(at(TPU), async (page) => {
    await drawn(page);
    await page.waitForFunction(() => document.getElementById("compare-timeline").dataset.analysed === "yes");
    await page.getByText("The visible rows as a table").click();
    await page.waitForTimeout(500);
    const height = await page.locator(".scroller .spacer").evaluate((e) => e.offsetHeight);
    const rows = new Set();
    for (let y = 0; y <= height; y += 150) {
      await page.locator(".scroller").evaluate((e, top) => (e.scrollTop = top), y);
      await page.waitForTimeout(300);
      for (const row of await page.locator("details.seen tbody tr").all()) {
        const [track, side, events] = await row.locator("th, td").allInnerTexts();
        rows.add(`${track} ${side} ${events !== "0"}`);
      }
    }
    for (const side of ["A", "B"]) assert.ok(rows.has(`Idle ${side} true`), [...rows].join("; "));
  }));

await test("runs without steps are aligned by their devices, and the page says so", () =>
  onPage(at(TPU), async (page) => {
    await drawn(page);
    await page.getByText("A and B have no steps: both runs are aligned by the first op of their devices").waitFor();
  }));

await test("panning and zooming move both, and the address keeps it", () =>
  onPage(at(STEPS), async (page) => {
    await drawn(page);
    const asked = [];
    page.on("request", (request) => request.url().includes("/slices?") && asked.push(new URL(request.url())));
    const before = [Number(query(page).get("from")), Number(query(page).get("to"))];
    await canvas(page).focus();
    for (const key of "wwwwww") await page.keyboard.press(key);
    for (const key of "ddd") await page.keyboard.press(key);
    await page.waitForFunction((was) => Number(new URL(location).searchParams.get("from")) > was, before[0]);
    await page.waitForTimeout(500);
    const [from, to] = [Number(query(page).get("from")), Number(query(page).get("to"))];
    assert.ok(to - from < (before[1] - before[0]) / 4);
    assert.ok(asked.length >= 2, String(asked));
  }));

await test("brackets go from step to step, m back to the median", () =>
  onPage(at(STEPS), async (page) => {
    await drawn(page);
    const { a } = await api(STEPS);
    assert.ok(a.steps.length > 2);
    await page.getByText("Aligned by the start of").waitFor();
    await canvas(page).focus();
    await page.keyboard.press("[");
    await page.waitForFunction((n) => new URL(location).searchParams.get("step_a") === n, String(a.median - 1));
    assert.equal(query(page).get("step_b"), String(a.median - 1));
    assert.equal(await page.locator("#step-a").inputValue(), String(a.median - 1));
    await page.keyboard.press("m");
    await page.waitForFunction(() => !new URL(location).searchParams.has("step_a"));
    await page.locator("#step-b").selectOption("0");
    await page.waitForFunction(() => new URL(location).searchParams.get("step_b") === "0");
    assert.equal(query(page).get("step_a"), null);
  }));

await test("Enter shows an op of both runs, with the comparison's figures and the ways on", () =>
  onPage(at(TPU), async (page) => {
    await drawn(page);
    const { a, ops } = await api(TPU);
    const tracks = await (await fetch(`${server.url}/api/v1/session/${encodeURIComponent(idOf(TPU[0]))}/tracks`)).json();
    const track = tracks.groups.flatMap((g) => g.tracks).find((t) => t.role === "ops").id;
    const event = await (await fetch(`${server.url}/api/v1/session/${encodeURIComponent(idOf(TPU[0]))}/event?id=${track}.0.0`)).json();
    const op = ops[new Map(a.kinds).get(event.kind)];
    await page.goto(`${server.url}${at(TPU, `?sel=a${track}.0.0`)}`);
    await details(page).locator("caption").waitFor();
    assert.equal(await details(page).locator("h2").textContent(), event.name);
    assert.ok((await details(page).locator("caption").textContent()).startsWith(op.name));
    assert.equal(await details(page).locator("tbody tr").count(), 3);
    for (const href of await details(page).locator("ul a").evaluateAll((links) => links.map((link) => link.href)))
      assert.equal((await page.request.get(href)).status(), 200, href);
    const places = await details(page).locator("ul a").allInnerTexts();
    for (const place of ["Open in the timeline of A", "Open in the timeline of B", "A in Perfetto", "Open its row of the comparison"])
      assert.ok(places.includes(place), places.join());
    await canvas(page).focus();
    await page.keyboard.press(".");
    await page.waitForFunction((id) => new URL(location).searchParams.get("sel") === id, `a${track}.0.1`);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !new URL(location).searchParams.has("sel"));
  }));

await test("one cursor says where it is in both runs", () =>
  onPage(at(STEPS), async (page) => {
    await drawn(page);
    const box = await canvas(page).boundingBox();
    await page.mouse.move(box.x + 600, box.y + 60);
    const text = page.locator("output.cursor");
    await text.getByText(/A at .* of its step\), B at .* of its step\)/).waitFor();
    const was = await text.textContent();
    await page.mouse.move(box.x - 5, box.y - 5);
    await canvas(page).focus();
    await page.keyboard.press("Shift+ArrowRight");
    await page.waitForFunction((t) => document.querySelector("output.cursor").textContent !== t, was);
  }));

await test("the visible rows are a table that says the difference", () =>
  onPage(at(TPU), async (page) => {
    await drawn(page);
    await page.locator("summary", { hasText: "as a table" }).click();
    await page.locator("details.seen tbody tr").nth(1).waitFor();
    const runs = await page.locator("details.seen tbody tr td:nth-child(2)").allInnerTexts();
    assert.deepEqual(runs.slice(0, 2), ["A", "B"]);
  }));

// The colours of an area of the canvas, with how many px have each.
const areaOf = (page, [left, top, right, bottom]) =>
  page.evaluate(([x, y, w, h]) => {
    const canvas = document.querySelector("canvas.rows");
    const ratio = canvas.width / canvas.clientWidth;
    const copy = Object.assign(document.createElement("canvas"), { width: w * ratio, height: h * ratio }).getContext("2d");
    copy.drawImage(canvas, -x * ratio, -y * ratio);
    const { data } = copy.getImageData(0, 0, w * ratio, h * ratio);
    const seen = {};
    for (let i = 0; i < data.length; i += 4) seen[data.slice(i, i + 3).join()] = (seen[data.slice(i, i + 3).join()] ?? 0) + 1;
    return seen;
  }, [left, top, right - left, bottom - top]);

async function selectOp(page, { name }) {
  await page.locator(".tools input").fill(name);
  await page.keyboard.press("Enter");
  await details(page).locator("caption").waitFor();
  await page.waitForTimeout(300);
}

await test("the selected op is outlined in both, and all others keep their colours", () =>
  onPage(at(TPU), async (page) => {
    await drawn(page);
    const box = await canvas(page).boundingBox();
    const rows = [220, 50, Math.floor(box.width), Math.floor(box.height)];
    await selectOp(page, (await api(TPU)).ops.find((op) => !op.new && !op.gone));
    const after = await areaOf(page, rows);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !new URL(location).searchParams.has("sel"));
    await page.waitForTimeout(300);
    const before = await areaOf(page, rows);
    assert.notDeepEqual(before, after);
    for (const [colour, n] of Object.entries(before))
      if (n > 2000) assert.ok(after[colour] > n * 0.8, `${colour}: ${n} px, then ${after[colour]}`);
  }));

for (const width of [1440, 390])
  await test(`all of a step's name is seen, ${width} px`, () =>
    onPage(at(STEPS), async (page) => {
      await drawn(page);
      const widths = await page.locator(".tools select").evaluateAll((all) =>
        all.map((select) => {
          const whole = select.cloneNode(true);
          whole.style.cssText = "position: absolute; max-width: none";
          select.parentElement.append(whole);
          const pair = [select.offsetWidth, whole.offsetWidth];
          whole.remove();
          return pair;
        }));
      assert.equal(widths.length, 2);
      for (const [is, whole] of widths) assert.ok(is >= whole, `${is} of ${whole} px`);
    }, { viewport: { width, height: 800 } }));

await test("no step's line goes through a name, 390 px", () =>
  onPage(at(STEPS), async (page) => {
    await drawn(page);
    const colours = await areaOf(page, [200, 51, 360, 64]); // right of the first name, over its rows
    assert.equal(Object.keys(colours).length, 1, JSON.stringify(colours));
  }, { viewport: { width: 390, height: 800 } }));

await test("the table names the longest event, however narrow it is drawn", () =>
  onPage(at(TPU), async (page) => {
    await drawn(page);
    await canvas(page).focus();
    await page.keyboard.press("f"); // all of it: no op has room for its name
    await page.waitForTimeout(500);
    await page.locator("summary", { hasText: "as a table" }).click();
    await page.waitForFunction(() => {
      const cells = [...document.querySelectorAll("details.seen td:nth-child(4)")];
      return cells.length && cells.every((cell) => cell.textContent !== "…");
    });
    const texts = await page.locator("details.seen td:nth-child(4)").allInnerTexts();
    for (const text of texts) assert.match(text, /^(–|too dense to show separately|\S.* [\d.]+ (ps|ns|µs|ms|s))$/);
    assert.ok(texts.some((text) => / [\d.]+ (ns|µs|ms|s)$/.test(text)), texts.join("; "));
  }, { viewport: { width: 390, height: 800 } }));

await test("differences of calls have a sign, as those of times have", () =>
  onPage(at(TPU), async (page) => {
    await page.route("**/api/v1/compare/**", async (route) => {
      const told = await (await route.fetch()).json();
      for (const op of told.ops) [op.span_calls_a, op.span_calls_b] = [3, 3.994];
      await route.fulfill({ json: told });
    });
    await page.reload();
    await drawn(page);
    await selectOp(page, (await api(TPU)).ops.find((op) => !op.new && !op.gone));
    const calls = await details(page).locator("tbody tr", { hasText: "Calls" }).locator("td").allInnerTexts();
    assert.deepEqual(calls, ["3", "3.99", "+0.994"]);
  }));

await test("the search finds the ops of both runs, by n and N in the order of time", () =>
  onPage(at(TPU), async (page) => {
    await drawn(page);
    const { ops } = await api(TPU);
    const { name } = ops.find((o) => !o.new && !o.gone && !o.name_b && o.name.length > 5);
    await page.keyboard.press("/");
    await page.keyboard.type(name);
    await page.keyboard.press("Enter");
    const met = [];
    const next = async (key) => {
      const was = query(page).get("sel");
      if (key) await page.keyboard.press(key);
      await page.waitForFunction((sel) => ![null, sel].includes(new URL(location).searchParams.get("sel")), was);
      met.push(query(page).get("sel"));
      assert.ok((await details(page).locator("caption").textContent()).includes(name.slice(0, 5)));
    };
    await next();
    for (const key of "nnnnnn") await next(key);
    assert.equal(new Set(met.map((sel) => sel[0])).size, 2, met.join());
    await next("N");
    assert.equal(met.at(-1), met.at(-3));
    assert.equal(query(page).get("q"), name);
    assert.match(await page.locator(".tools output").innerText(), /^\d+ ops?$/);
    await page.locator(".tools input").fill("no op has this name");
    await page.keyboard.press("Enter");
    await page.getByText("no such op").waitFor();
    await page.keyboard.press("?");
    await page.locator("dialog").getByText("search result").waitFor();
  }));

for (const width of [1440, 390])
  await test(`a flame graph's labels end within their frames, ${width} px`, () =>
    onPage(`/compare/${ids(TPU)}`, async (page) => {
      const seen = await page.locator(".flame > svg").evaluateAll((frames) =>
        frames.map((frame) => {
          const texts = [...frame.querySelectorAll("text")].filter((text) => getComputedStyle(text).display !== "none");
          const right = frame.querySelector("rect").getBoundingClientRect().right;
          return { n: texts.length, text: texts[0]?.textContent ?? "", over: (texts[0]?.getBoundingClientRect().right ?? 0) - right };
        }));
      assert.ok(seen.some(({ text }) => /^[+−±][\d.]+ \S+ /.test(text)));
      for (const { n, text, over } of seen) {
        assert.ok(n <= 1 && over <= 0, `${n} labels, ${text} by ${over} px`);
        assert.doesNotMatch(text, /\d…|^[+−±][\d.]+$/);
      }
    }, { viewport: { width, height: 800 } }));

await test("a run of hostile names stands beside another as text", () =>
  onPage(at([HOSTILE, "mnist_train"]), async (page) => {
    await drawn(page);
    await canvas(page).focus();
    await page.keyboard.press("Enter");
    await details(page).locator("h2").waitFor();
    assert.equal(await page.locator("#compare-timeline img, #compare-timeline script").count(), 0);
  }));

for (const [width, colorScheme] of [[1440, "light"], [1440, "dark"], [390, "light"], [390, "dark"]])
  await test(`two timelines fit, ${width} px, ${colorScheme}`, () =>
    onPage(at(TPU), async (page) => {
      await drawn(page);
      await canvas(page).focus();
      await page.keyboard.press("Enter");
      await details(page).locator("h2").waitFor();
      await page.waitForTimeout(300);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
      await page.screenshot({ path: path.join(shots, `compare-timeline-${colorScheme}-${width}.png`), fullPage: true });
    }, { viewport: { width, height: 900 }, colorScheme }));
