// A profile directory of real runs, damaged files and hostile names, in a temporary place.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { gzipSync, gunzipSync } from "node:zlib";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { traces } from "./lib.mjs";

export const HOSTILE = `"><img src=x onerror=alert(1)>`;
export const HOSTILE_OP = `<script>alert(2)</script>'"&\u202eevil`;

const tpu = "jax_tpu/vllm-project__tpu-inference/profiles/plugins/profile";
const v2 = "jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb";
const odd = "jax_cpu/odd_names/plugins/profile/2026_11_21_06_35_03";

export const TPU_FILE = path.join(traces, tpu, "2026_01_11_21_26_41/t1v-n-9eb622fc-w-0.trace.json.gz");

function hostileTrace() {
  const x = (name, ts, dur) => ({ ph: "X", pid: 1, tid: 1, name, ts, dur });
  return JSON.stringify({
    traceEvents: [
      { ph: "M", pid: 1, name: "process_name", args: { name: HOSTILE_OP } },
      x(HOSTILE_OP, 0, 10),
      x(HOSTILE, 10, 5),
    ],
  });
}

export function makeProfiles() {
  const dir = mkdtempSync(path.join(tmpdir(), "vp_browser_"));
  const run = (...parts) => {
    const made = path.join(dir, ...parts);
    mkdirSync(made, { recursive: true });
    return made;
  };
  const from = (name) => path.join(traces, name);
  cpSync(from(tpu), run("plugins/profile"), { recursive: true });
  cpSync(from(v2), path.join(run("two_hosts/plugins/profile/2026_02_03_04_05_06"), "hostA.xplane.pb"));
  cpSync(from(v2), path.join(dir, "two_hosts/plugins/profile/2026_02_03_04_05_06/hostB.xplane.pb"));
  cpSync(from(odd), run("odd/plugins/profile/2026_11_21_06_35_03"), { recursive: true });
  cpSync(from("jax_cpu/mnist_train"), path.join(dir, "mnist_train"), { recursive: true });
  cpSync(from("archives_made/tb_review_logs.zip"), path.join(dir, "tb_review_logs.zip"));
  const bad = run("broken/plugins/profile/2025_01_01_00_00_00");
  writeFileSync(path.join(bad, "vm.xplane.pb"), "version https://git-lfs.github.com/spec/v1\n");
  const evil = run("evil", "plugins/profile", HOSTILE);
  writeFileSync(path.join(evil, "vm.trace.json.gz"), gzipSync(hostileTrace()));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

// What the file itself holds: events without the writer's trailing `{}`, and slices.
export function countEvents(file) {
  const events = JSON.parse(gunzipSync(readFileSync(file))).traceEvents;
  const real = events.filter((event) => Object.keys(event).length);
  return { events: real.length, slices: real.filter((event) => event.ph === "X").length };
}
