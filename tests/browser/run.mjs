// The pages in a real Chromium: what they show, what they never do, and the way into Perfetto.
// `node run.mjs [FILE…]` runs these files (index, session, …), or all of them in two processes that
// take about equally long. VIEW_PROFILE names the program, VP_TRACES the real profiles.
import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

// No test may read or write the files of the user: tests/hermetic.py starts this program again with
// a HOME, XDG directories and a TMPDIR of its own.
if (!process.env.VP_TEST_PLACE) {
  const hermetic = fileURLToPath(new URL("../hermetic.py", import.meta.url));
  const { status } = spawnSync("python3", [hermetic, process.execPath, ...process.argv.slice(1)], { stdio: "inherit" });
  process.exit(status ?? 1);
}

const worlds = [["looks", "live", "capture", "perfetto", "timeline_analysis"], ["index", "session", "timeline", "timeline_data", "timeline_keys", "compare_timeline", "handoff", "tensorboard"]];

function runWorld(files) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...files], { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (data) => (text += data));
    child.on("close", (code) => resolve({ text, failed: code !== 0 }));
  });
}

async function runAll() {
  const total = { passed: 0, failed: 0, skipped: 0 };
  const ends = await Promise.all(worlds.map(runWorld));
  for (const { text, failed } of ends) {
    process.stdout.write(text);
    const last = text.trimEnd().split("\n").at(-1);
    const counts = [...last.matchAll(/(\d+) (passed|failed|skipped)/g)];
    for (const [, n, word] of counts) total[word] += Number(n);
    if (!counts.length && failed) total.failed++; // it ended early
  }
  const skipped = total.skipped ? `, ${total.skipped} skipped` : "";
  console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
  process.exit(ends.some((end) => end.failed) ? 1 : 0);
}

const asked = process.argv.slice(2);
if (!asked.length) await runAll();
const { setFile } = await import("./lib.mjs");
const { end } = await import("./world.mjs");
for (const name of asked) {
  setFile(name);
  await import(`./${name}.mjs`);
}
await end();
