// Our pages in a real Chromium: what they show, what they never do, and the way into Perfetto.
// `node run.mjs [FILE…]`; VIEW_PROFILE names the program, VP_TRACES the real profiles. Without a
// name all files, in two worlds at once, which take about as long as each other.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

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
    if (!counts.length && failed) total.failed++; // it did not come to its end
  }
  const skipped = total.skipped ? `, ${total.skipped} skipped` : "";
  console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
  process.exit(ends.some((end) => end.failed) ? 1 : 0);
}

const asked = process.argv.slice(2);
if (!asked.length) await runAll();
const { end } = await import("./world.mjs");
for (const name of asked) await import(`./${name}.mjs`);
await end();
