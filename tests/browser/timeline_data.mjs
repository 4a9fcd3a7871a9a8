// The timeline's own reckoning, without a page.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { root, test } from "./lib.mjs";

// By their text: for node a file of this name is no module.
const moduleOf = (name, imported = "") => {
  const text = readFileSync(path.join(root, "web", name), "utf8").replace("./timeline_data.js", imported);
  return `data:text/javascript,${encodeURIComponent(text)}`;
};
const data = moduleOf("timeline_data.js");
const { SvgPen } = await import(moduleOf("timeline_draw.js", data));
const { leastSpan, Source, perfettoRange, recordAt, recordsIn, roundStep, ticks } = await import(data);

await test("a ruler has an end at any time", () => {
  for (const from of [0, -5e17, 9.1e15, 4e16 + 8, 5e17, 1e18]) {
    const view = { from, to: from + leastSpan(from) };
    const step = roundStep(((view.to - view.from) / 1200) * 110);
    const at = ticks(view, step);
    assert.ok(at.length > 0 && at.length <= 1000, `${from}: ${at.length}`);
    assert.ok(at.every((t) => t >= view.from && t <= view.to), String(from));
  }
  assert.deepEqual(ticks({ from: -3, to: 11 }, 5), [0, 5, 10]);
  assert.equal(ticks({ from: 0, to: 1e18 }, 1).length, 1000);
  assert.ok(ticks({ from: 1e18, to: 1e18 }, 1).length <= 1000);
});

await test("what is seen at least holds times that are told apart", () => {
  assert.equal(leastSpan(0), 10);
  assert.equal(leastSpan(2 ** 40), 10);
  for (const ps of [2 ** 53, -(2 ** 53), 1e17, 1e18]) assert.ok(ps + leastSpan(ps) / 64 !== ps && leastSpan(ps) >= 128, String(ps));
});

await test("a range of Perfetto's is rounded as the export is, whatever the origin", () => {
  const origin = "1700000000123456789";
  assert.equal(perfettoRange(1499, 3500, "0"), "1..4");
  assert.equal(perfettoRange(1500, 1600, "0"), "2..3");
  assert.equal(perfettoRange(-2501, -500, "0"), "-3..0");
  assert.equal(perfettoRange(0, 2000, origin), "1700000000123456789..1700000000123456791");
});

await test("in a row of overlaps a long record is seen behind short ones", () => {
  const row = { n: 4, start: [0, 10, 20, 90], dur: [100, 1, 1, 5], overlaps: 1 };
  assert.deepEqual([...recordsIn(row, { from: 50, to: 80 })], [0]);
  assert.deepEqual([10, 15, 92, 200].map((ps) => recordAt(row, ps, 1)), [1, 0, 3, -1]);
  const plain = { n: 3, start: [0, 10, 20], dur: [5, 5, 5], overlaps: 0 };
  assert.deepEqual([...recordsIn(plain, { from: 6, to: 20 })], [1]);
  assert.deepEqual([4, 8.5, 9, 12, 30].map((ps) => recordAt(plain, ps, 2)), [0, 1, 1, 1, -1]);
});

await test("an SVG is XML whatever names hold", () => {
  const pen = new SvgPen();
  pen.begin(100, 100);
  pen.text(0, 0, 1000, "a\u0000\u0001\u000b\u001f\ufffe\uffff\t<b>", "red");
  assert.ok(pen.toString().includes(">a\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\t&lt;b&gt;</text>"), pen.toString());
});

await test("tracks for which a window had no room are not taken for empty", () => {
  const windowOf = (ids, leftOut) => {
    const view = new DataView(new ArrayBuffer(56 + 24 * ids.length));
    [..."VPTL"].forEach((c, i) => view.setUint8(i, c.charCodeAt(0)));
    view.setBigInt64(16, 100n, true);
    for (const [at, n] of [[4, 1], [24, 1], [32, 10], [36, ids.length], [48, leftOut]]) view.setUint32(at, n, true);
    ids.forEach((id, i) => view.setUint32(56 + 24 * i, id, true));
    return new Source("", "").decode(view.buffer);
  };
  const told = ([...ids], leftOut) => [...windowOf(ids, leftOut).keys()];
  assert.deepEqual(told([3, 3, 4], 0), [3, 4]);
  assert.deepEqual(told([3, 3, 4], 7), [3]); // of 4 there may be more
  assert.deepEqual(told([3, 3], 7), [3]); // more than that no window holds
  assert.equal(windowOf([3], 7).leftOut, 7);
});

await test("an event whose answer breaks off is no event", async () => {
  const { fetch } = globalThis;
  const brokenOff = () => Promise.reject(new DOMException("broken off", "AbortError"));
  const answers = [{ ok: true, json: brokenOff }, { ok: true, arrayBuffer: brokenOff },
    { ok: false, status: 404, json: async () => ({ error: "no such event" }) }, { ok: false, status: 502, json: brokenOff }];
  globalThis.fetch = async () => answers.shift();
  try {
    await assert.rejects(new Source("", "").event("1.0.0"), { name: "AbortError" });
    await assert.rejects(new Source("", "").window(0, 1, 1, []), { name: "AbortError" });
    await assert.rejects(new Source("", "").event("1.0.0"), { message: "no such event", status: 404 });
    await assert.rejects(new Source("", "").event("1.0.0"), { message: "HTTP 502", status: 502 });
  } finally {
    globalThis.fetch = fetch;
  }
});
