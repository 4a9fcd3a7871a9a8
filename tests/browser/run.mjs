// Our pages in a real Chromium: what they show, what they never do, and the way into Perfetto.
// `node run.mjs`; VIEW_PROFILE names the program, VP_TRACES the real profiles.
import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { finish, guarded, launch, serve, shots, skip, standIn, test, traces } from "./lib.mjs";
import { countEvents, HOSTILE, HOSTILE_OP, makeProfiles, TPU_FILE } from "./fixture.mjs";

if (!existsSync(traces)) {
  skip("all browser tests", `no real profiles at ${traces}; set VP_TRACES`);
  await finish();
}

mkdirSync(shots, { recursive: true });
const profiles = makeProfiles();
const ui = await standIn();
const server = await serve(profiles.dir, "--perfetto-ui", ui.url);
const browser = await launch(`--host-resolver-rules=MAP evil.test 127.0.0.1`);
const ours = [server.url, ui.url];

// A page of ours under guard: the body's checks hold, and nothing was complained about.
async function onPage(where, body, options = {}) {
  const { context, complaints } = await guarded(browser, ours, options);
  try {
    const page = await context.newPage();
    await page.goto(server.url + where);
    await body(page, context);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}

const rowNames = (page) => page.locator("#rows .name").allInnerTexts();
const sessionOf = async (page, text) =>
  new URL(await page.locator("a.open", { hasText: text }).first().getAttribute("href"), server.url)
    .pathname;
const handoffOf = async (text) => {
  const { context } = await guarded(browser, ours);
  const page = await context.newPage();
  await page.goto(server.url);
  const where = (await sessionOf(page, text)).replace("/session/", "/perfetto/").replace(/\/$/, "");
  await context.close();
  return where;
};

/* ---- Index ----------------------------------------------------------------------------------- */

await test("the index lists the sessions, newest first", () =>
  onPage("/", async (page) => {
    const names = await rowNames(page);
    const at = (text) => names.findIndex((name) => name.includes(text));
    assert.ok(at("2026_11_21_06_35_03") >= 0);
    assert.ok(at("2026_11_21_06_35_03") < at("2026_02_03_04_05_06"));
    assert.ok(at("2026_02_03_04_05_06") < at("2026_01_12_00_26_20"));
    assert.ok(at("2026_01_12_00_26_20") < at("2026_01_11_21_26_41"));
    assert.ok(await page.locator(".badge", { hasText: "archive" }).count());
  }));

await test("what cannot be read says why, beside its neighbours", () =>
  onPage("/", async (page) => {
    assert.match(await page.locator("main").innerText(), /LFS/);
  }));

await test("headlines arrive for rows in view", () =>
  onPage("/", async (page) => {
    const row = page.locator("tr", { hasText: "2026_01_11_21_26_41" });
    await row.locator("svg.bar").waitFor();
    // analysis.md 0.2: idle is 0.04 % of the device window of 67.2 ms.
    assert.match(await row.innerText(), /100\.0% busy of 67\.2/);
  }));

await test("search narrows the list while typing", () =>
  onPage("/", async (page) => {
    await page.locator("#q").pressSequentially("2026_01 TPU");
    await page.locator("#count", { hasText: "None of" }).waitFor();
    await page.locator("#q").fill("2026_01_1");
    await page.waitForFunction(() => document.querySelectorAll("#rows tr").length === 2);
    assert.ok((await rowNames(page)).every((name) => name.includes("2026_01_1")));
    assert.equal(new URL(page.url()).searchParams.get("q"), "2026_01_1");
  }));

await test("search works without script", () =>
  onPage(
    "/",
    async (page) => {
      await page.locator("#q").fill("two_hosts");
      await page.getByRole("button", { name: "Search" }).click();
      assert.equal((await rowNames(page)).length, 1);
      assert.equal(await page.locator("#q").inputValue(), "two_hosts");
    },
    { javaScriptEnabled: false }
  ));

await test("the index is used by keyboard alone", () =>
  onPage("/", async (page) => {
    const focused = () => page.evaluate(() => document.activeElement.textContent);
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement.id), "q");
    assert.equal(await page.locator("#q").inputValue(), "");
    await page.keyboard.press("ArrowDown");
    const first = await focused();
    await page.keyboard.press("ArrowDown");
    const second = await focused();
    assert.notEqual(first, second);
    await page.keyboard.press("ArrowUp");
    assert.equal(await focused(), first);
    await page.keyboard.press("ArrowUp");
    assert.equal(await page.evaluate(() => document.activeElement.id), "q");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/session/**");
  }));

await test("a hostile search is text", () =>
  onPage(`/?q=${encodeURIComponent(HOSTILE)}`, async (page) => {
    assert.equal(await page.locator("#q").inputValue(), HOSTILE);
    assert.equal(await page.locator("main img").count(), 0);
  }));

/* ---- Session --------------------------------------------------------------------------------- */

for (const javaScriptEnabled of [true, false]) {
  await test(`a session's report, script ${javaScriptEnabled ? "on" : "off"}`, () =>
    onPage(
      "/",
      async (page) => {
        await page.goto(server.url + (await sessionOf(page, "2026_01_11_21_26_41")));
        // analysis.md 5: the slowest op of this run.
        assert.match(await page.locator("body").innerText(), /convolution_bitcast_fusion/);
        assert.ok(await page.locator('a[href^="/perfetto/"]').count());
      },
      { javaScriptEnabled }
    ));
}

await test("hostile session and op names are text everywhere", () =>
  onPage("/", async (page) => {
    const where = await sessionOf(page, HOSTILE);
    await page.locator("tr", { hasText: HOSTILE }).locator(".topop").waitFor();
    for (const at of [where, where.replace("/session/", "/perfetto/").replace(/\/$/, "")]) {
      await page.goto(server.url + at);
      assert.equal(await page.locator("main img[onerror], main script, table script").count(), 0);
    }
    await page.goto(server.url + where);
    const text = await page.locator("body").innerText();
    assert.ok(text.includes("<script>alert(2)</script>"));
    assert.ok(!text.includes(HOSTILE_OP), "the bidi control must be shown, not obeyed");
  }));

await test("an unknown session answers 404 with what is like it", async () => {
  const { context } = await guarded(browser, ours);
  const page = await context.newPage();
  await page.goto(server.url);
  const where = await sessionOf(page, "2026_01_11_21_26_41");
  const answer = await page.goto(`${server.url}${where.slice(0, -3)}zz/`);
  assert.equal(answer.status(), 404);
  assert.equal(await page.locator(`main a[href="${where}"]`).count(), 1);
  await context.close();
});

await test("a session's page starts with findings, and its contents lead to every section", () =>
  onPage("/", async (page) => {
    await page.goto(server.url + (await sessionOf(page, "2026_02_03_04_05_06")));
    assert.equal(await page.locator("main > section").first().getAttribute("id"), "findings");
    const entries = await page.locator(".contents a").evaluateAll((all) => all.map((a) => a.hash.slice(1)));
    const sections = await page.locator("main > section").evaluateAll((all) => all.map((x) => x.id));
    assert.deepEqual(entries, sections);
    for (const id of entries) assert.ok(await page.locator(`#${id} h2`).isVisible(), id);
  }));

await test("every place of a finding leads to that time in Perfetto", () =>
  onPage("/", async (page) => {
    await page.goto(server.url + (await sessionOf(page, "2026_02_03_04_05_06")));
    const places = page.locator(".places a");
    assert.ok(await places.count());
    for (const href of await places.evaluateAll((all) => all.map((a) => a.getAttribute("href"))))
      assert.match(href, /^\/perfetto\/[^?]+\/host[AB]\?at=\d+\.\.\d+$/);
    await places.first().click();
    await page.waitForURL("**/perfetto/**");
    assert.match(await page.locator("main").innerText(), /It opens at \d+ to \d+ ns/);
  }));

await test("the index leads to a comparison without script", () =>
  onPage(
    "/?q=2026_01_1",
    async (page) => {
      assert.equal(await page.locator("input[type=radio]:checked").count(), 2);
      await page.getByRole("button", { name: "Compare A with B" }).click();
      await page.waitForURL("**/compare/*/*");
      assert.equal(await page.locator("h1").count(), 1);
      assert.match(await page.locator("h1").innerText(), /2026_01_12.* against .*2026_01_11/);
      assert.equal(await page.locator("#where tbody").count(), 2); // both runs have two devices
      assert.ok(await page.locator("#ops tbody tr").count());
    },
    { javaScriptEnabled: false }
  ));

/* ---- Hand-off -------------------------------------------------------------------------------- */

const tpuHandoff = await handoffOf("2026_01_11_21_26_41");

async function handOver(page, context, click = () => page.locator("#open").click()) {
  const opened = context.waitForEvent("page");
  await click();
  const perfetto = await opened;
  await perfetto.waitForFunction(() => window.got?.traces.length === 1, undefined, { timeout: 30000 });
  return { perfetto, got: await perfetto.evaluate(() => window.got) };
}

await test("one click hands every event to Perfetto", () =>
  onPage(tpuHandoff, async (page, context) => {
    const { perfetto, got } = await handOver(page, context);
    const file = countEvents(TPU_FILE);
    const trace = got.traces[0];
    assert.equal(trace.slices, file.slices);
    assert.equal(trace.events, file.events);
    assert.match(trace.title, /2026_01_11_21_26_41/);
    assert.equal(trace.fileName, "t1v-n-9eb622fc-w-0.json.gz");
    assert.equal(trace.keepApiOpen, false);
    await page.locator("#status", { hasText: "Handed" }).waitFor();
    // The UI was opened with commands that pin the device's tracks.
    const hash = new URLSearchParams(new URL(perfetto.url()).hash.replace(/^#!\/\?/, ""));
    const commands = JSON.parse(hash.get("startupCommands"));
    assert.ok(commands.some((c) => c.id === "dev.perfetto.PinTracksByRegex"));
  }));

await test("the page can hand over twice, and by keyboard", () =>
  onPage(tpuHandoff, async (page, context) => {
    await handOver(page, context);
    await page.locator("#open:enabled").focus();
    const { got } = await handOver(page, context, () => page.keyboard.press("Enter"));
    assert.equal(got.traces[0].slices, countEvents(TPU_FILE).slices);
  }));

await test("?at= lands on a time", () =>
  onPage(`${tpuHandoff}?at=1000000..2500000`, async (page, context) => {
    const { perfetto, got } = await handOver(page, context);
    assert.match(perfetto.url(), /&visStart=1000000&visEnd=2500000$/);
    await perfetto.waitForFunction(() => window.got.times.length === 1);
    const [time] = await perfetto.evaluate(() => window.got.times);
    assert.deepEqual(time, { timeStart: 0.001, timeEnd: 0.0025 });
    assert.equal(got.traces.length, 1);
  }));

await test("with --ui=perfetto the trace is there before the click", async () => {
  const other = await serve(profiles.dir, "--ui", "perfetto", "--perfetto-ui", ui.url);
  const { context, complaints } = await guarded(browser, [other.url, ui.url]);
  const page = await context.newPage();
  await page.goto(other.url + tpuHandoff);
  await page.locator("#status", { hasText: "one click" }).waitFor();
  await context.route("**/trace/**", (route) => route.abort());
  await handOver(page, context);
  assert.deepEqual(complaints, []);
  await context.close();
  await other.stop();
});

await test("a blocked popup is explained", () =>
  onPage(tpuHandoff, async (page) => {
    await page.evaluate(() => (window.open = () => null));
    await page.locator("#open").click();
    await page.locator("#status.error", { hasText: "Allow popups" }).waitFor();
    assert.ok(await page.locator("#open").isEnabled());
  }));

await test("a trace that cannot be fetched is explained, and can be tried again", async () => {
  const { context } = await guarded(browser, ours);
  const page = await context.newPage();
  await page.goto(server.url + tpuHandoff);
  const refuse = (route) => route.fulfill({ status: 422, body: "the file is damaged at byte 7\n" });
  await context.route("**/trace/**", refuse);
  await page.locator("#open").click();
  await page.locator("#status.error", { hasText: "damaged at byte 7" }).waitFor();
  await context.unroute("**/trace/**", refuse);
  await handOver(page, context);
  await context.close();
});

await test("a Perfetto that never answers is explained", async () => {
  const deaf = await standIn({ delay: -1 });
  const other = await serve(profiles.dir, "--perfetto-ui", deaf.url);
  const { context } = await guarded(browser, [other.url, deaf.url]);
  const page = await context.newPage();
  await page.clock.install();
  await page.goto(other.url + tpuHandoff);
  const opened = context.waitForEvent("page");
  await page.locator("#open").click();
  const popup = await opened;
  await page.clock.runFor(16000);
  await page.locator("#status.error", { hasText: "Still waiting" }).waitFor();
  await popup.close();
  await page.clock.runFor(200);
  await page.locator("#status.error", { hasText: "was closed" }).waitFor();
  await context.close();
  await other.stop();
  deaf.stop();
});

await test("a slow Perfetto gets the trace all the same", async () => {
  const slow = await standIn({ delay: 1200 });
  const other = await serve(profiles.dir, "--perfetto-ui", slow.url);
  const { context, complaints } = await guarded(browser, [other.url, slow.url]);
  const page = await context.newPage();
  await page.goto(other.url + tpuHandoff);
  const { got } = await handOver(page, context);
  assert.ok(got.pings > 3);
  assert.deepEqual(complaints, []);
  await context.close();
  await other.stop();
  slow.stop();
});

await test("on port 9001 a deep link lets Perfetto fetch the trace", async () => {
  let other;
  try {
    other = await serve(profiles.dir, "--perfetto-ui", ui.url, "--port", "9001");
  } catch (error) {
    return skip("the deep link", `port 9001 is taken: ${error.message.split("\n")[0]}`);
  }
  const { context } = await guarded(browser, [other.url, ui.url]);
  const page = await context.newPage();
  await page.goto(other.url + tpuHandoff);
  const href = await page.locator("#deeplink").getAttribute("href");
  const hash = new URLSearchParams(new URL(href).hash.replace(/^#!\/\?/, ""));
  const trace = hash.get("url");
  assert.match(trace, /^http:\/\/127\.0\.0\.1:9001\/trace\/[^?]+\.json\.gz$/);
  // As the UI does it: a plain fetch from the UI's origin.
  await page.goto(ui.url);
  const got = await page.evaluate(async (url) => {
    const answer = await fetch(url);
    const stream = (await answer.blob()).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text()).traceEvents.length;
  }, trace);
  assert.equal(got, countEvents(TPU_FILE).events);
  await context.close();
  await other.stop();
});

await test("without script the hand-off offers the file", () =>
  onPage(
    tpuHandoff,
    async (page) => {
      assert.match(await page.locator("main").innerText(), /needs JavaScript/);
      const download = page.waitForEvent("download");
      await page.locator("a[download]").first().click();
      assert.match((await download).suggestedFilename(), /\.json\.gz$/);
    },
    { javaScriptEnabled: false, acceptDownloads: true }
  ));

await test("a session of several hosts asks which", async () => {
  const where = await handoffOf("2026_02_03_04_05_06");
  await onPage(where, async (page, context) => {
    assert.equal(await page.locator("#open").count(), 0);
    await page.getByRole("link", { name: "hostB" }).click();
    const { got } = await handOver(page, context);
    assert.equal(got.traces[0].fileName, "hostB.json.gz");
    assert.ok(got.traces[0].slices > 20000); // peers.md: 26,723 events
  });
});

/* ---- Other sites ----------------------------------------------------------------------------- */

await test("a page of another name for this address reads nothing", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  for (const where of ["/", "/api/v1/sessions", tpuHandoff.replace("/perfetto/", "/trace/")]) {
    const answer = await page.goto(`http://evil.test:${server.port}${where}`);
    assert.ok([403, 404].includes(answer.status()), `${where}: ${answer.status()}`);
    assert.doesNotMatch(await page.content(), /2026_0/);
  }
  await context.close();
});

await test("another site's script reads nothing", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(ui.url.replace("127.0.0.1", "evil.test"));
  const reached = await page.evaluate(
    (url) => fetch(url).then((answer) => answer.text(), () => "refused"),
    `${server.url}/api/v1/sessions`
  );
  assert.equal(reached, "refused");
  await context.close();
});

/* ---- The full analysis ----------------------------------------------------------------------- */

await test("steps are a picture with a name, a description and a table", () =>
  onPage("/", async (page) => {
    await page.goto(server.url + (await sessionOf(page, "2026_11_21_06_33_16")));
    const chart = page.getByRole("img", { name: "Length of each step" });
    assert.equal(await chart.locator("g").count(), 20); // the program's loop
    assert.ok(await page.locator("#steps-d").textContent());
    await page.getByText("Table of 20 steps").focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("#steps details table tbody tr").count(), 20);
    assert.ok(await page.locator(".spark polyline").count());
  }));

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
  await test(`every text can be read, ${colorScheme}`, () =>
    onPage(
      "/",
      async (page) => {
        assert.deepEqual(await page.evaluate(weakTexts), []);
        await page.goto(server.url + (await sessionOf(page, "2026_02_03_04_05_06")));
        await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
        assert.deepEqual(await page.evaluate(weakTexts), []);
      },
      { colorScheme }
    ));
}

/* ---- Looks ----------------------------------------------------------------------------------- */

const { sessions: runs } = await (await fetch(`${server.url}/api/v1/sessions`)).json();
const pages = {
  index: "/",
  session: tpuHandoff.replace("/perfetto/", "/session/") + "/",
  hosts: (await handoffOf("2026_02_03_04_05_06")).replace("/perfetto/", "/session/") + "/",
  steps: (await handoffOf("2026_11_21_06_33_16")).replace("/perfetto/", "/session/") + "/",
  compare: `/compare/${["2026_01_11_21_26_41", "2026_01_12_00_26_20"]
    .map((name) => runs.find((run) => run.name.includes(name)).id)
    .map(encodeURIComponent)
    .join("/")}`,
  perfetto: tpuHandoff,
  missing: "/session/nothing-like-it/",
};

// Rows out of view ask for no headline: with the figures there, all of them have one at once.
for (const { id } of runs)
  await fetch(`${server.url}/session/${encodeURIComponent(id)}/headline`);

for (const colorScheme of ["light", "dark"]) {
  for (const width of [360, 400, 1280, 3840]) {
    await test(`nothing overflows, ${colorScheme}, ${width} px`, async () => {
      const { context } = await guarded(browser, ours, {
        colorScheme,
        reducedMotion: "reduce",
        viewport: { width, height: width > 2000 ? 2160 : 800 },
      });
      const page = await context.newPage();
      for (const [name, where] of Object.entries(pages)) {
        await page.goto(server.url + where);
        if (name === "index") await page.waitForFunction(() => !document.querySelector("[data-headline]"));
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${name} is ${wide} px too wide`);
        await page.screenshot({
          path: path.join(shots, `${name}-${colorScheme}-${width}.png`),
          fullPage: width < 2000,
        });
      }
      await context.close();
    });
  }
}

await test("every page has its landmarks and one heading", async () => {
  for (const where of Object.values(pages)) {
    const { context } = await guarded(browser, ours);
    const page = await context.newPage();
    await page.goto(server.url + where);
    assert.equal(await page.locator("main").count(), 1, where);
    assert.equal(await page.locator("h1").count(), 1, where);
    assert.equal(await page.locator("html[lang]").count(), 1, where);
    assert.ok(await page.title(), where);
    await context.close();
  }
});

await browser.close();
profiles.remove();
await finish();
