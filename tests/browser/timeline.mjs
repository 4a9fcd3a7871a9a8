// Our own timeline: what it draws is what the server says, by keys, by the pointer and by address.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { shots, test } from "./lib.mjs";
import { HOSTILE } from "./fixture.mjs";
import { idOf, onPage, pathOf, server, withoutScript } from "./world.mjs";

const TPU = "2026_01_11_21_26_41";
const timeline = (text) => `${pathOf("session", text)}timeline`;
const api = async (text, what) => (await fetch(`${server.url}/api/v1/session/${encodeURIComponent(idOf(text))}/${what}`)).json();
const drawn = (page) => page.waitForFunction(() => Number(document.getElementById("timeline").dataset.drawn) > 0);
const analysed = (page) => page.waitForFunction(() => document.getElementById("timeline").dataset.analysed);
const query = (page) => new URL(page.url()).searchParams;
const details = (page) => page.locator("aside.details");

// Pixels of the rows that are no background.
const painted = (page) =>
  page.evaluate(() => {
    const canvas = document.querySelector("canvas.rows");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const counts = new Map();
    for (let i = 0; i < data.length; i += 4) {
      const key = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return { colours: counts.size, rest: data.length / 4 - Math.max(...counts.values()) };
  });

async function openAt(page, text, rest = "") {
  await page.goto(`${server.url}${timeline(text)}${rest}`);
  await drawn(page);
  await page.locator("canvas.rows").focus();
}

await test("the timeline draws the trace, and says what it holds", () =>
  onPage(timeline(TPU), async (page) => {
    await drawn(page);
    const { events } = await api(TPU, "tracks");
    await page.getByText(`${events.toLocaleString("en")} events`).waitFor();
    await page.waitForFunction(() => !document.getElementById("timeline-status").textContent);
    await page.waitForTimeout(200);
    const seen = await painted(page);
    assert.ok(seen.colours > 10 && seen.rest > 5000, JSON.stringify(seen));
  }));

await test("keys zoom, move, fit and select, and the address keeps it", () =>
  onPage(timeline(TPU), async (page) => {
    await drawn(page);
    const before = Number(query(page).get("to")) - Number(query(page).get("from"));
    await page.locator("canvas.rows").focus();
    await page.keyboard.press("w");
    await page.waitForFunction((was) => {
      const q = new URL(location).searchParams;
      return q.get("to") && Number(q.get("to")) - Number(q.get("from")) !== was;
    }, before);
    await page.keyboard.press("f");
    await page.waitForTimeout(500);
    await page.keyboard.press("Enter");
    await details(page).locator("h2").waitFor();
    await page.waitForFunction(() => new URL(location).searchParams.has("sel"));
    const event = await api(TPU, `event?analysis=1&id=${query(page).get("sel")}`);
    assert.equal(await details(page).locator("h2").textContent(), event.name);
    const ops = (await api(TPU, "tracks")).groups.flatMap((g) => g.tracks).find((t) => t.role === "ops");
    await openAt(page, TPU, `?sel=${ops.id}.0.5`);
    await details(page).locator("h2").waitFor();
    await page.keyboard.press(".");
    await page.waitForFunction((id) => new URL(location).searchParams.get("sel") === id, `${ops.id}.0.6`);
    await page.keyboard.press(",");
    await page.waitForFunction((id) => new URL(location).searchParams.get("sel") === id, `${ops.id}.0.5`);
  }));

await test("a search goes from hit to hit by n and N", () =>
  onPage(timeline(TPU), async (page) => {
    await analysed(page);
    const { total, found } = await api(TPU, "search?analysis=1&q=fusion");
    await page.keyboard.press("/");
    await page.keyboard.type("fusion");
    await page.keyboard.press("Enter");
    await page.getByText(`${total.toLocaleString("en")} events`, { exact: true }).waitFor();
    await page.waitForFunction((id) => new URL(location).searchParams.get("sel") === id, found.id);
    const next = (await api(TPU, `search?analysis=1&q=fusion&after=${found.id}`)).found.id;
    await page.keyboard.press("n");
    await page.waitForFunction((id) => new URL(location).searchParams.get("sel") === id, next);
    await page.keyboard.press("N");
    await page.waitForFunction((id) => new URL(location).searchParams.get("sel") === id, found.id);
  }));

await test("a click opens an event's details, with the way to its op and to Perfetto", () =>
  onPage(timeline(TPU), async (page) => {
    await drawn(page);
    const ops = (await api(TPU, "tracks")).groups.flatMap((g) => g.tracks).find((t) => t.role === "ops");
    await api(TPU, "marks"); // the report is there
    await openAt(page, TPU, `?sel=${ops.id}.0.0`);
    await details(page).locator("a", { hasText: "Open selection in Perfetto" }).waitFor();
    const link = await details(page).locator("a", { hasText: "Open selection in Perfetto" }).getAttribute("href");
    assert.match(link, /\/perfetto\/[^?]+\?at=\d+\.\.\d+$/);
    const op = await details(page).locator("a[href*='op?on=']").getAttribute("href");
    assert.equal((await page.request.get(new URL(op, page.url()).href)).status(), 200);
  }));

await test("a drag over the ruler sums up its range", () =>
  onPage(timeline(TPU), async (page) => {
    await analysed(page);
    await page.waitForFunction(() => !document.getElementById("timeline-status").textContent);
    const box = await page.locator("canvas.rows").boundingBox();
    await page.mouse.move(box.x + 300, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + 800, box.y + 12, { steps: 4 });
    await page.mouse.up();
    await details(page).locator("caption", { hasText: "Time by op in this range" }).waitFor();
    assert.ok((await details(page).locator("tbody tr").count()) > 0);
  }));

await test("marks are set and removed, and stay in the address", () =>
  onPage(timeline(TPU), async (page) => {
    await drawn(page);
    await page.locator("canvas.rows").focus();
    await page.keyboard.press("m");
    await page.waitForFunction(() => new URL(location).searchParams.has("marks"));
    await page.keyboard.press("m");
    await page.waitForFunction(() => !new URL(location).searchParams.has("marks"));
  }));

await test("the visible rows are a table for those who cannot see them", () =>
  onPage(timeline("mnist_train"), async (page) => {
    await analysed(page);
    await page.waitForTimeout(300);
    await page.locator("summary", { hasText: "as a table" }).click();
    await page.locator("details.seen tbody tr").nth(2).waitFor();
    const names = await page.locator("details.seen tbody th").allInnerTexts();
    const { groups, analysis } = await api("mnist_train", "tracks?analysis=1");
    const tracks = [...groups, ...analysis].flatMap((g) => g.tracks.map((t) => t.name));
    assert.ok(names.length > 2 && names.every((name) => tracks.includes(name)), names.join());
  }));

await test("what is seen is saved as SVG", () =>
  onPage(timeline(TPU), async (page) => {
    await drawn(page);
    await page.waitForTimeout(300);
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save the visible part as SVG" }).click();
    const text = readFileSync(await (await saved).path(), "utf8");
    const parts = await page.evaluate((svg) => {
      const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
      return parsed.querySelector("parsererror") ? 0 : parsed.querySelectorAll("rect").length;
    }, text);
    assert.ok(parts > 50, String(parts));
  }));

await test("names from a file are text, whatever they hold", () =>
  onPage(timeline(HOSTILE), async (page) => {
    await drawn(page);
    await page.locator("canvas.rows").focus();
    await page.waitForTimeout(300);
    await page.keyboard.press("Enter");
    await details(page).locator("h2").waitFor();
    assert.equal(await page.locator("#timeline img, #timeline script").count(), 0);
  }));

await test("without a script the page says where else the trace can be seen", () =>
  onPage(timeline(TPU), async (page) => {
    const text = await page.locator("main").innerText();
    assert.match(text, /needs JavaScript. Without it, download the trace/);
    assert.ok(!text.includes("Reading the trace"), text);
  }, withoutScript));

await test("a window that somebody left is not waited for", () =>
  onPage(timeline(TPU), async (page) => {
    await drawn(page);
    await page.locator("canvas.rows").focus();
    for (const key of "wwwwddddaaaassssww") await page.keyboard.press(key);
    await page.waitForTimeout(400);
    assert.equal(await page.locator("#timeline-status.error").count(), 0);
  }));

for (const [width, colorScheme] of [[1440, "light"], [1440, "dark"], [390, "light"], [390, "dark"]])
  await test(`the timeline fits, ${width} px, ${colorScheme}`, () =>
    onPage(timeline(TPU), async (page) => {
      await drawn(page);
      await page.waitForTimeout(400);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
      await page.screenshot({ path: path.join(shots, `timeline-${colorScheme}-${width}.png`), fullPage: true });
    }, { viewport: { width, height: 900 }, colorScheme }));
