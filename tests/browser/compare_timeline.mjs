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
    await page.getByText("A and B have no steps: both are aligned by the first op of their devices").waitFor();
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
    for (const place of ["This in A’s own timeline", "This in B’s own timeline", "A in Perfetto", "Its row of the comparison"])
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
