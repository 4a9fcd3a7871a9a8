// The tracks of the analysis in our own timeline, in traces of five profilers: above their devices, in every size and
// colour, with details, by address, by search, in the table of rows and in ranges.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { guarded, serve, shots, test, traces } from "./lib.mjs";
import { browser } from "./world.mjs";

const FIVE = {
  tpu: "jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb",
  rocm: "jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax_conv_minimal_08/tw003.xplane.pb",
  cuda: "xla_gpu_cuda/EnzymeAD__Reactant.jl/traces/plugins/profile/2025_02_05_11_08_24/cyclops.xplane.pb",
  cpu: "jax_cpu/mnist_train/plugins/profile/2026_11_21_06_33_16/vm.xplane.pb",
  pytorch: "pytorch_cuda/pytorch__kineto/samples/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz",
};

const dir = mkdtempSync(path.join(tmpdir(), "vp_five_"));
for (const [name, file] of Object.entries(FIVE)) {
  const run = path.join(dir, name, "plugins/profile/2026_01_01_00_00_00");
  mkdirSync(run, { recursive: true });
  cpSync(path.join(traces, file), path.join(run, path.basename(file)));
}
const server = await serve(dir);
const json = async (what) => (await fetch(`${server.url}${what}`)).json();
let list;
do list = await json("/api/v1/sessions");
while (list.indexing);
const idOf = (name) => encodeURIComponent(list.sessions.find((s) => s.name.startsWith(`${name}/`)).id);
const api = (name, what) => json(`/api/v1/session/${idOf(name)}/${what}`);
const tracksOf = async (name, kind) =>
  (await api(name, "tracks?analysis=1")).analysis.flatMap((g) => g.tracks).filter((t) => t.derived === kind);

async function onTimeline(name, rest, body, options = {}) {
  const { context, complaints } = await guarded(browser, [server.url], options);
  try {
    const page = await context.newPage();
    await page.goto(`${server.url}/session/${idOf(name)}/timeline${rest}`);
    await page.waitForFunction(() => document.getElementById("timeline").dataset.analysed);
    await page.waitForTimeout(400);
    await body(page);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}
// Pixels of the map that are its colour of steps or of findings, and of the page's CSS what these are.
const mapped = (page) =>
  page.evaluate(() => {
    const canvas = document.querySelector("canvas.minimap");
    const g = canvas.getContext("2d");
    const { data } = g.getImageData(0, 0, canvas.width, canvas.height);
    const colour = (name) => {
      g.fillStyle = getComputedStyle(document.getElementById("timeline")).getPropertyValue(name).trim();
      const rgb = Number.parseInt(g.fillStyle.slice(1), 16);
      return [rgb >> 16, (rgb >> 8) & 0xff, rgb & 0xff];
    };
    const [card, bad, seen] = ["--card", "--bad", "--link"].map(colour);
    // Under what is seen everything is mixed with the links' colour.
    const mixed = (c) => c.map((v, i) => v + (seen[i] - v) * 0.22);
    const near = (i, c) => Math.abs(data[i] - c[0]) + Math.abs(data[i + 1] - c[1]) + Math.abs(data[i + 2] - c[2]) < 12;
    const [top, middle] = [3, Math.floor(canvas.height / 2)].map((y) => y * canvas.width * 4);
    let [findings, steps] = [0, 0];
    for (let x = 4; x < canvas.width - 4; x++) {
      findings += near(top + x * 4, bad) || near(top + x * 4, mixed(bad));
      steps += !near(middle + x * 4, card) && !near(middle + x * 4, mixed(card));
    }
    return { findings: findings / canvas.width, steps: steps / canvas.width };
  });
// How much of the trace these cover together.
function shareOf(list, { from_ps, to_ps }) {
  let [sum, until] = [0, from_ps];
  for (const { start_ps, dur_ps } of [...list].sort((a, b) => a.start_ps - b.start_ps)) {
    sum += Math.max(0, start_ps + dur_ps - Math.max(until, start_ps));
    until = Math.max(until, start_ps + dur_ps);
  }
  return sum / (to_ps - from_ps);
}
const details = (page) => page.locator("aside.details");

for (const name of Object.keys(FIVE)) {
  await test(`rows of the analysis are shown and told, ${name}`, () =>
    onTimeline(name, "", async (page) => {
      await page.locator("summary", { hasText: "as a table" }).click();
      await page.locator("details.seen tbody tr").nth(2).waitFor();
      const seen = await page.locator("details.seen tbody th").allInnerTexts();
      const { analysis } = await api(name, "tracks?analysis=1");
      for (const track of analysis[0].tracks.slice(0, 3)) assert.ok(seen.includes(track.name), `${track.name}: ${seen}`);
      assert.equal(await page.locator("#timeline-status.error").count(), 0);
    }, { viewport: { width: 1440, height: 1400 } }));

  await test(`the map shows steps and findings, ${name}`, () =>
    onTimeline(name, "", async (page) => {
      await page.waitForFunction(() => document.getElementById("timeline").dataset.marked);
      await page.keyboard.press("f"); // under a narrow frame nothing can be told
      await page.waitForTimeout(200);
      const marks = await api(name, "marks");
      const tracks = await api(name, "tracks");
      const seen = await mapped(page);
      for (const what of ["steps", "findings"]) {
        const share = Math.min(1, shareOf(marks[what], tracks));
        assert.ok(Math.abs(seen[what] - share) < 0.04, `${what}: ${seen[what]} of the map, ${share} of the trace`);
        assert.equal(seen[what] > 0, marks[what].length > 0, what);
      }
    }, { viewport: { width: 1440, height: 900 } }));

  await test(`the saved SVG has the rows of the analysis, ${name}`, () =>
    onTimeline(name, "", async (page) => {
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save the visible part as SVG" }).click();
      const text = readFileSync(await (await saved).path(), "utf8");
      const { texts, fills } = await page.evaluate((svg) => {
        const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
        return { texts: [...parsed.querySelectorAll("text")].map((t) => t.textContent),
          fills: [...parsed.querySelectorAll("rect")].map((r) => r.getAttribute("fill")) };
      }, text);
      const { analysis } = await api(name, "tracks?analysis=1");
      const group = analysis[0];
      assert.ok(texts.some((t) => t.includes(group.name)), `${group.name}: ${texts}`);
      for (const { name } of group.tracks.slice(0, 3))
        assert.ok(texts.some((t) => t.endsWith(name) || t.includes(name.slice(0, 20))), `${name}: ${texts}`);
      const part = await page.evaluate(() => getComputedStyle(document.getElementById("timeline")).getPropertyValue("--comp").trim());
      assert.ok(fills.includes(part), "the band of a device's time");
    }, { viewport: { width: 1440, height: 1400 } }));

  for (const [width, colorScheme] of [[1440, "light"], [1440, "dark"], [390, "light"], [390, "dark"]])
    await test(`the analysis fits, ${name}, ${width} px, ${colorScheme}`, () =>
      onTimeline(name, "", async (page) => {
        await page.locator("canvas.rows").focus();
        await page.keyboard.press("Enter");
        await details(page).locator("h2").waitFor();
        await page.waitForTimeout(200);
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
        await page.screenshot({ path: path.join(shots, `timeline-${name}-${colorScheme}-${width}.png`), fullPage: true });
      }, { viewport: { width, height: 900 }, colorScheme }));
}

await test("the first view is where the devices work, and f shows all", async () => {
  const { from_ps, to_ps, groups } = await api("cuda", "tracks");
  const ops = groups.filter((g) => g.device).flatMap((g) => g.tracks).filter((t) => t.role === "ops");
  await onTimeline("cuda", "", async (page) => {
    const seen = () => ["from", "to"].map((key) => Number(new URL(page.url()).searchParams.get(key)));
    const [from, to] = seen();
    assert.ok(from <= Math.min(...ops.map((t) => t.from_ps)) && to >= Math.max(...ops.map((t) => t.to_ps)));
    assert.ok(to - from < (to_ps - from_ps) / 3);
    await page.locator("canvas.rows").focus();
    await page.keyboard.press("f");
    await page.waitForTimeout(300);
    assert.deepEqual(seen(), [from_ps, to_ps]);
  });
});

await test("a permalink opens the group of its event and scrolls to it", async () => {
  const { groups } = await api("pytorch", "tracks");
  const track = groups.filter((g) => !g.device).at(-1).tracks.at(-1);
  await onTimeline("pytorch", `?sel=${track.id}.0.0`, async (page) => {
    await details(page).locator("h2").waitFor();
    await page.locator("summary", { hasText: "as a table" }).click();
    await page.locator("details.seen tbody tr").first().waitFor();
    const seen = await page.locator("details.seen tbody th").allInnerTexts();
    assert.ok(seen.includes(track.name || `track ${track.tid}`), `${track.name}: ${seen}`);
  });
});

await test("a permalink to a finding's slice leads to its advice and its card", async () => {
  const [track] = await tracksOf("pytorch", "FINDINGS");
  const event = await api("pytorch", `event?analysis=1&id=${track.id}.0.0`);
  await onTimeline("pytorch", `?sel=${track.id}.0.0`, async (page) => {
    await details(page).getByText(event.args.advice).waitFor();
    assert.equal(new URL(page.url()).searchParams.get("sel"), `${track.id}.0.0`);
    const href = await details(page).locator("a[href*='#finding-']").getAttribute("href");
    await page.goto(new URL(href, page.url()).href);
    assert.equal(await page.locator(`[id="${new URL(page.url()).hash.slice(1)}"]`).count(), 1);
  });
});

await test("a slow op's slice leads to the op", async () => {
  const [track] = await tracksOf("cuda", "SLOWEST");
  await onTimeline("cuda", `?sel=${track.id}.0.0`, async (page) => {
    const href = await details(page).locator("a[href*='op?on=']").getAttribute("href");
    assert.equal((await page.request.get(new URL(href, page.url()).href)).status(), 200);
  });
});

await test("a range says what the report says of it", async () => {
  const [band] = await tracksOf("pytorch", "PARTS");
  const { devices } = await api("pytorch", `range?analysis=1&from=${band.from_ps}&to=${band.to_ps}`);
  const report = await api("pytorch", "report");
  const idle = devices[0].breakdown.find((p) => p.name === "idle").ps;
  assert.equal(idle, report.devices[0].breakdown.idle_ps);
  await onTimeline("pytorch", `?from=${band.from_ps}&to=${band.to_ps}`, async (page) => {
    await page.locator("canvas.rows").focus();
    await page.keyboard.press("r");
    const share = ((100 * idle) / band.dur_ps).toFixed(1);
    await details(page).locator("td", { hasText: `(${share}%)` }).first().waitFor();
    await page.screenshot({ path: path.join(shots, "timeline-range-390.png"), fullPage: true });
    const heights = await details(page).locator("tbody tr").evaluateAll((rows) => rows.slice(1).map((row) => row.offsetHeight));
    assert.ok(heights.length > 5 && Math.max(...heights) < 40, `no cell of a number wraps: ${heights}`);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
  }, { viewport: { width: 390, height: 900 } });
});

await test("a search finds slices of the analysis", () =>
  onTimeline("cpu", "?q=idle", async (page) => {
    const { found } = await api("cpu", "search?analysis=1&q=idle");
    await page.keyboard.press("/");
    await page.keyboard.press("Enter");
    await page.waitForFunction((id) => new URL(location).searchParams.get("sel") === id, found.id);
  }));

await server.stop();
rmSync(dir, { recursive: true, force: true });
