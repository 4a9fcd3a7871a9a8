// How pages look: contrast, width, landmarks; and a screenshot of each in build/screenshots.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { guarded, serve, shots, test } from "./lib.mjs";
import { HOSTILE } from "./fixture.mjs";
import { browser, idOf, ids, ours, pathOf, server, withTensorboard } from "./world.mjs";

const pair = ["2026_01_11_21_26_41", "2026_01_12_00_26_20"].map(idOf).map(encodeURIComponent);
// The page of the slowest op.
async function firstOp(text) {
  const page = await (await fetch(server.url + pathOf("session", text))).text();
  return pathOf("session", text) + page.match(/(op\?[^"]+)/)[1].replaceAll("&amp;", "&");
}

// A page that goes on by itself, as it was when it came with this status; looked at under ?as=NAME.
const kept = {};
async function keep(name, mode, status) {
  const where = pathOf("tensorboard", "2026_11_21_06_33_16");
  await withTensorboard(mode, async (_, one) => {
    for (;;) {
      const answer = await fetch(one.url + where, { redirect: "manual" });
      const headers = Object.fromEntries(answer.headers);
      for (const ended of ["content-encoding", "content-length"]) delete headers[ended];
      const body = (await answer.text()).replace(/<meta http-equiv="refresh"[^>]*>/, "");
      if (answer.status === status) return (kept[name] = { status, headers, body });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
  return `${where}?as=${name}`;
}

// A directory whose only profile is gone: over an empty one no server starts.
async function emptied() {
  const dir = mkdtempSync(path.join(tmpdir(), "vp_empty_"));
  writeFileSync(path.join(dir, "a.trace.json"), '{"traceEvents":[{"ph":"X","pid":1,"tid":1,"name":"a","ts":1,"dur":1}]}');
  const one = await serve(dir);
  const says = async (text) => {
    while (!(await (await fetch(one.url)).text()).includes(text)) await new Promise((resolve) => setTimeout(resolve, 100));
  };
  await says("a.trace.json");
  rmSync(path.join(dir, "a.trace.json"));
  await says("No profiles yet");
  return { ...one, dir };
}

const [empty, growing] = [await emptied(), await serve("-")];

const pages = {
  index: "/",
  grouped: "/?group=run&sort=-name",
  session: pathOf("session", "2026_01_11_21_26_41"),
  ops: `${pathOf("session", "2026_01_11_21_26_41")}?tab=ops&group=scope`,
  whole: `${pathOf("session", "2026_02_03_04_05_06")}?tab=all`,
  op: await firstOp("2026_01_11_21_26_41"),
  graph: await firstOp("2026_11_21_06_33_16"),
  memory: `${pathOf("session", "2026_11_21_06_33_16")}?tab=memory`,
  timeline: `${pathOf("session", "2026_01_11_21_26_41")}timeline`,
  devices: `${pathOf("session", "2026_01_12_00_26_20")}?tab=devices`,
  files: `${pathOf("session", "2026_02_03_04_05_06")}?tab=files`,
  hosts: pathOf("session", "2026_02_03_04_05_06"),
  steps: pathOf("session", "2026_11_21_06_33_16"),
  compare: `/compare/${pair.join("/")}`,
  timelines: `/compare/${pair.join("/")}/timeline`,
  perfetto: pathOf("perfetto", "2026_01_11_21_26_41"),
  choose: pathOf("perfetto", "2026_02_03_04_05_06"),
  missing: "/session/nothing-like-it/",
  waiting: await keep("waiting", "slow", 200),
  failed: await keep("failed", "noplugin", 503),
  barren: pathOf("tensorboard", HOSTILE),
  nowhere: "/nowhere/at/all",
  empty: `${empty.url}/`,
  growing: `${growing.url}/`,
};

// Rows out of view ask for no headline: with the figures there, all of them have one at once.
for (const id of ids) await fetch(`${server.url}/session/${encodeURIComponent(id)}/headline`);

// Checks that want the same of a page, each [name, body of a page]: it is loaded once for all of them, which takes far longer than
// a look at it. They come in the order in which they stand here, and leave a page as they found it.
const looks = new Map();
function look(name, options, body) {
  const key = JSON.stringify(options);
  if (!looks.has(key)) looks.set(key, { options, checks: [] });
  looks.get(key).checks.push({ name, body });
}

async function lookAtAll({ options, checks }) {
  const allowed = [...ours, empty.url, growing.url];
  const { context } = await guarded(browser, allowed, { reducedMotion: "reduce", ...options });
  await context.route((url) => url.searchParams.has("as"), (route) =>
    route.fulfill(kept[new URL(route.request().url()).searchParams.get("as")]));
  const page = await context.newPage();
  for (const [name, where] of Object.entries(pages)) {
    await page.goto(new URL(where, server.url).href);
    for (const check of checks) {
      if (check.error) continue; // told of the first page of which it does not hold
      try {
        await check.body(page, name);
      } catch (error) {
        check.error = error;
      }
    }
  }
  await context.close();
}

/* ---- Width ----------------------------------------------------------------------------------- */

// As a page comes where nothing is asked for, in this width. Nothing moves in any of these.
const light = (width) => ({ colorScheme: "light", viewport: { width, height: 800 } });

const tooWide = () => document.documentElement.scrollWidth - innerWidth;

// Screenshots are looked at by people only: those of the widths between, and of the widest, take VP_SHOTS=1.
for (const width of [360, 700, 1000, 1200, 1440, 3840]) {
  const usual = [360, 1440].includes(width);
  for (const colorScheme of usual ? ["light", "dark"] : ["light"]) {
    const viewport = { width, height: width > 2000 ? 2160 : 800 };
    look(`nothing overflows, ${colorScheme}, ${width} px`, { colorScheme, viewport }, async (page, name) => {
      assert.ok((await page.evaluate(tooWide)) <= 0, `${name} is too wide`);
      if (!usual && !process.env.VP_SHOTS) return;
      await page.screenshot({
        path: path.join(shots, `${name}-${colorScheme}-${width}.png`),
        fullPage: width < 2000,
      });
    });
  }
}

// Tables scroll by themselves, but on a screen of a desk none has to.
const wideTables = () =>
  [...document.querySelectorAll("table")]
    .filter((t) => t.checkVisibility() && t.scrollWidth > t.parentElement.clientWidth)
    .map((t) => `${t.caption.textContent}: ${t.scrollWidth} in ${t.parentElement.clientWidth}`);

for (const width of [1280, 1440]) {
  look(`no table is wider than its box, ${width} px`, light(width), async (page, name) => {
    assert.deepEqual(await page.evaluate(wideTables), [], name);
  });
}

// A row's first figure: what remains to be seen of it where nothing was scrolled.
const hiddenFigures = () => {
  const hidden = new Set();
  for (const row of document.querySelectorAll(".scroll tbody tr")) {
    const figure = [...row.querySelectorAll("td:not(.text, .rank)")].find((td) => /\d/.test(td.textContent));
    const box = row.closest(".scroll").getBoundingClientRect();
    if (!figure || !row.checkVisibility()) continue;
    const text = document.createRange();
    text.selectNodeContents(figure);
    if (text.getBoundingClientRect().right > box.right + 0.5) hidden.add(row.closest("table").caption.textContent);
  }
  return [...hidden];
};

look("the first figure of every row is seen without scrolling, 360 px", light(360), async (page, name) => {
  assert.deepEqual(await page.evaluate(hiddenFigures), [], name);
});

/* ---- Contrast -------------------------------------------------------------------------------- */

// WCAG 1.4.3: every text against the nearest ground that is painted behind it.
const weakTexts = () => {
  const light = (channel) => {
    const c = channel / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  };
  const parse = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(at).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const weak = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("svg")) continue;
    const [a, b] = [parse(getComputedStyle(element).color), ground(element)].map(luminance);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) weak.add(`${ratio.toFixed(2)} ${element.className || element.tagName}`);
  }
  return [...weak];
};

for (const colorScheme of ["light", "dark"]) {
  look(`every text can be read, ${colorScheme}`, { ...light(1280), colorScheme }, async (page, name) => {
    const shut = await page.evaluateHandle(() => [...document.querySelectorAll("details:not([open])")]);
    await shut.evaluate((all) => all.forEach((d) => (d.open = true)));
    const weak = await page.evaluate(weakTexts);
    await shut.evaluate((all) => all.forEach((d) => (d.open = false)));
    assert.deepEqual(weak, [], name);
  });
}

/* ---- Structure ------------------------------------------------------------------------------- */

look("every page has its landmarks, one heading, and a way past the banner", light(1280), async (page, name) => {
  for (const one of ["main", "h1", "html[lang]", "a[href='#main']", "header", "footer"])
    assert.equal(await page.locator(one).count(), 1, `${name}: ${one}`);
  assert.ok(await page.title(), name);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.hash), "#main", name);
  const ring = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.equal(ring, "solid", `${name}: the focus is seen`);
});

look("every field and button has a name, and every table says what it holds", light(1280), async (page, name) => {
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll("button, input:not([type=hidden]), select, a[href]")]
      .filter((e) => e.checkVisibility())
      .filter((e) => !(e.ariaLabel || e.textContent.trim() || e.labels?.length || e.querySelector("img[alt]")))
      .map((e) => e.outerHTML.slice(0, 120)));
  assert.deepEqual(nameless, [], name);
  const bare = await page.evaluate(() =>
    [...document.querySelectorAll("table")].filter((t) => !t.caption).length);
  assert.equal(bare, 0, name);
});

look("nothing moves for those who asked for that", light(1280), async (page, name) => {
  const moving = await page.evaluate(() => document.getAnimations().length);
  assert.equal(moving, 0, name);
});

look("a bar that waits without a measure is still, too", light(1280), async (page, name) => {
  const bar = page.locator("progress:not([value]):visible");
  if (["waiting", "growing"].includes(name)) assert.equal(await bar.count(), 1, name);
  if (!(await bar.count())) return;
  const first = await bar.screenshot();
  await page.waitForTimeout(300);
  assert.ok(first.equals(await bar.screenshot()), name);
});

look("on paper pages are light, and without what only a screen can do", { ...light(1280), colorScheme: "dark" }, async (page, name) => {
  await page.emulateMedia({ media: "print" });
  const left = await page.evaluate(() =>
    [...document.querySelectorAll("nav, form, button:not(thead button), .skip")].filter((e) => e.checkVisibility()).length);
  const ink = await page.evaluate(() => getComputedStyle(document.body).color);
  await page.emulateMedia({ media: null });
  assert.equal(left, 0, name);
  assert.equal(ink, "rgb(0, 0, 0)", name);
});

for (const all of looks.values()) {
  const [first, ...more] = all.checks;
  const told = ({ error }) => {
    if (error) throw error;
  };
  await test(first.name, async () => {
    await lookAtAll(all).catch((error) => all.checks.forEach((check) => (check.error ??= error)));
    told(first);
  });
  for (const check of more) await test(check.name, async () => told(check));
}
await Promise.all([empty.stop(), growing.stop()]);
rmSync(empty.dir, { recursive: true });
