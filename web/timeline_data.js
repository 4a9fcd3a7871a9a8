// What a timeline shows, from the server: rows, windows of slices, single events. No drawing here.

const RECORD = 24;
const CUT = 3; // flags of a record whose ends lie outside of its window
const TOLD_KEPT = 500; // single events
const SEARCH_BYTES = 200; // that the server takes

// A time as a number or, where it is known to the ps, as a BigInt.
const exact = (ps) => (typeof ps === "bigint" ? ps : BigInt(Math.round(ps)));
const whole = (ps) => exact(ps).toString(); // no exponent in an address

// Of an event [from, to] in ps, as BigInts.
export function exactSpan({ exact_start_ps, exact_dur_ps }) {
  const from = BigInt(exact_start_ps);
  return [from, from + BigInt(exact_dur_ps)];
}

// The answer, or an error with the reason of its refusal.
export async function accepted(answer) {
  if (answer.ok) return answer;
  const { error } = await answer.json().catch(() => ({}));
  throw Object.assign(new Error(error || `HTTP ${answer.status}`), { status: answer.status });
}

export class Source {
  constructor(api, host) {
    this.api = api;
    this.host = host;
    this.names = new Map(); // of kinds, as windows told them
    this.told = new Map(); // id → { name, dur_ps } of single events
    this.derivedFrom = Infinity; // ids of the tracks of the analysis, once they are there
  }

  url(what, query = {}) {
    const analysis = this.derivedFrom < Infinity ? { analysis: 1 } : {};
    return `${this.api}${what}?${new URLSearchParams({ host: this.host, ...analysis, ...query })}`;
  }

  async json(what, query, signal) {
    const answer = await fetch(this.url(what, query), { signal });
    return (await accepted(answer)).json();
  }

  tracks = () => this.json("tracks");
  analysed = () => this.json("tracks", { analysis: 1 }); // with those of the report, which takes longer
  marks = () => this.json("marks");
  event = (id, signal) => this.json("event", { id }, signal);
  // Of an event its name and whole length: asked for once.
  async tell(id, signal) {
    if (!this.told.has(id)) {
      const { name, dur_ps } = await this.event(id, signal);
      if (this.told.size >= TOLD_KEPT) this.told.delete(this.told.keys().next().value);
      this.told.set(id, { name, dur_ps });
    }
    return this.told.get(id);
  }

  // What is known of a record that is one event: { name, dur_ps }, undefined what is not. Windows
  // name what is wide enough for a label, and round lengths to their unit.
  known(row, i, id) {
    const exact = row.unit === 1 && !(row.flags[i] & CUT);
    return this.told.get(id) ?? { name: this.names.get(row.kind[i]), dur_ps: exact ? row.dur[i] : undefined };
  }

  search = (query) => this.json("search", query);
  range = (from, to) => this.json("range", { from: whole(from), to: whole(to) });

  // Map of track id → { from, to, pixel, rows: [{ from, to, pixel, n, start, dur, kind, index, count,
  // … }] }, rows by their number. wants: ids, or { id, first, count } of rows. The file's tracks and
  // those of the analysis come in an answer each.
  async slices(from, to, px, wants, signal) {
    const all = wants.map((want) => (want.id === undefined ? { id: want } : want));
    const kinds = [all.filter(({ id }) => id < this.derivedFrom), all.filter(({ id }) => id >= this.derivedFrom)];
    const got = await Promise.all(kinds.filter((some) => some.length).map((some) => this.window(from, to, px, some, signal)));
    return new Map(got.flatMap((tracks) => [...tracks]));
  }

  async window(from, to, px, wants, signal) {
    const query = { from: whole(from), to: whole(to), px: Math.max(1, Math.round(px)), tracks: runs(wants) };
    const answer = await fetch(this.url("slices", query), { signal });
    return this.decode(await (await accepted(answer)).arrayBuffer());
  }

  decode(buffer) {
    const view = new DataView(buffer);
    if (new TextDecoder().decode(new Uint8Array(buffer, 0, 4)) !== "VPTL" || view.getUint32(4, true) !== 1)
      throw new Error("the server sent no window of a timeline");
    const time = (at) => Number(view.getBigInt64(at, true));
    const [from, to, unit] = [time(8), time(16), time(24)];
    const [px, sections, records, names] = [32, 36, 40, 44].map((at) => view.getUint32(at, true));
    const tracks = new Map();
    let at = 56 + sections * RECORD;
    for (let s = 0; s < sections; s++) {
      const head = 56 + s * RECORD;
      const id = view.getUint32(head, true);
      const n = view.getUint32(head + 20, true);
      const window = { from, to, pixel: (to - from) / px };
      if (!tracks.has(id)) tracks.set(id, { ...window, rows: [] });
      tracks.get(id).rows[view.getUint32(head + 4, true)] = Object.assign(this.row(view, at, n, from, unit), window,
        { overlaps: view.getUint32(head + 16, true) & 1, unit });
      at += n * RECORD;
    }
    this.readNames(buffer, view, 56 + sections * RECORD + records * RECORD, names);
    // The last may lack rows then, and those behind it are not empty: the next view asks again.
    tracks.leftOut = view.getUint32(48, true);
    if (tracks.leftOut && tracks.size > 1) tracks.delete([...tracks.keys()].at(-1));
    return tracks;
  }

  row(view, at, n, from, unit) {
    const row = { n, start: new Float64Array(n), dur: new Float64Array(n), kind: new Uint32Array(n),
      index: new Uint32Array(n), count: new Uint32Array(n), busy: new Float32Array(n), hue: new Uint8Array(n),
      flags: new Uint8Array(n) };
    for (let i = 0; i < n; i++, at += RECORD) {
      row.start[i] = from + view.getUint32(at, true) * unit;
      row.dur[i] = view.getUint32(at + 4, true) * unit;
      row.kind[i] = view.getUint32(at + 8, true);
      row.index[i] = view.getUint32(at + 12, true);
      row.count[i] = view.getUint32(at + 16, true);
      row.busy[i] = view.getUint16(at + 20, true) / 65535;
      row.hue[i] = view.getUint8(at + 22);
      row.flags[i] = view.getUint8(at + 23);
    }
    return row;
  }

  readNames(buffer, view, at, n) {
    const decoder = new TextDecoder();
    for (let i = 0; i < n; i++) {
      const [kind, length] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
      if (!this.names.has(kind)) this.names.set(kind, decoder.decode(new Uint8Array(buffer, at + 8, length)));
      at += 8 + Math.ceil(length / 4) * 4;
    }
  }
}

// "3,7-12:24@48" of ids and rows, so that addresses stay short.
export function runs(wants) {
  const parts = [];
  const rowsOf = ({ first, count }) => (count === undefined ? "" : `:${count}${first ? `@${first}` : ""}`);
  const sorted = [...wants].sort((a, b) => a.id - b.id);
  for (let i = 0; i < sorted.length; i++) {
    const { id } = sorted[i];
    const rows = rowsOf(sorted[i]);
    while (sorted[i + 1]?.id === sorted[i].id + 1 && rowsOf(sorted[i + 1]) === rows) i++;
    parts.push(`${id}${id === sorted[i].id ? "" : `-${sorted[i].id}`}${rows}`);
  }
  return parts.join(",");
}

// The first record of a row that may end behind a time: where they overlap, ends do not ascend.
export function firstAt(row, ps) {
  if (row.overlaps) return 0;
  let [low, high] = [0, row.n];
  while (low < high) {
    const mid = (low + high) >> 1;
    if (row.start[mid] + row.dur[mid] < ps) low = mid + 1;
    else high = mid;
  }
  return low;
}

// Of a row the records that a view shows.
export function* recordsIn(row, { from, to }) {
  for (let i = firstAt(row, from); i < row.n && row.start[i] < to; i++)
    if (row.start[i] + row.dur[i] >= from) yield i;
}

// The record at a time, give or take; where several lie over each other the one drawn last. -1: none.
export function recordAt(row, ps, slack) {
  let at = -1;
  for (const i of recordsIn(row, { from: ps - slack, to: ps + slack }))
    if (at < 0 || row.start[i] <= ps) at = i;
  return at;
}

// What a row shows of a window: { count: events, longest: the record of the longest single one, or
// -1, first: the first record, or -1, hides: how long an event of a run may be, in ps }.
export function seenOf(row, view) {
  const seen = { count: 0, longest: -1, first: -1, hides: 0 };
  for (const i of row ? recordsIn(row, view) : []) {
    seen.count += row.count[i];
    if (seen.first < 0) seen.first = i;
    if (row.count[i] > 1) seen.hides = Math.max(seen.hides, row.overlaps ? row.dur[i] : Math.min(row.dur[i], row.pixel));
    else if (seen.longest < 0 || row.dur[i] > row.dur[seen.longest]) seen.longest = i;
  }
  return seen;
}

// Of a row the record in a view that is nearest to a time, -1: none.
export function nearestTo(row, view, ps) {
  let [at, least] = [-1, Infinity];
  for (const i of row ? recordsIn(row, view) : []) {
    const off = Math.max(row.start[i] - ps, ps - row.start[i] - row.dur[i], 0);
    if (off < least) [at, least] = [i, off];
  }
  return at;
}

/* ---- Words ----------------------------------------------------------------------------------- */

export const eventsText = (n) => `${n.toLocaleString("en")} ${n === 1 ? "event" : "events"}`;

// A … Z, AA, AB …
export const markName = (i) => (i < 26 ? "" : markName(Math.floor(i / 26) - 1)) + String.fromCharCode(65 + (i % 26));

// As much of a text, in whole characters, as the server searches for.
export function searchable(text) {
  let bytes = 0;
  let shown = "";
  for (const c of text) {
    bytes += new TextEncoder().encode(c).length;
    if (bytes > SEARCH_BYTES) break;
    shown += c;
  }
  return shown;
}

/* ---- Times ----------------------------------------------------------------------------------- */

const UNITS = [["s", 1e12], ["ms", 1e9], ["µs", 1e6], ["ns", 1e3], ["ps", 1]];

const unitOf = (ps) => UNITS.find(([, size]) => Math.abs(ps) >= size) ?? UNITS.at(-1);

// A length, to four digits.
export function lengthText(ps) {
  const [sign, size] = unitOf(ps);
  const v = ps / size;
  return `${size === 1 ? v : v.toFixed(Math.abs(v) >= 100 ? 1 : Math.abs(v) >= 10 ? 2 : 3)} ${sign}`;
}

// A place in time, to the digit that a step of `step` ps tells apart, in the unit of `largest`.
export function timeText(ps, step, largest = ps) {
  const [sign, size] = unitOf(Math.max(Math.abs(largest), step));
  const digits = Math.max(0, Math.min(12, Math.ceil(Math.log10(size / step) - 1e-9)));
  return `${(ps / size).toFixed(digits)} ${sign}`;
}

// Round steps of a ruler, about `wish` ps apart.
export function roundStep(wish) {
  const ten = 10 ** Math.floor(Math.log10(Math.max(wish, 1)));
  return [1, 2, 5, 10].map((x) => x * ten).find((x) => x >= wish) ?? ten * 10;
}

// Where steps lie in a view. Counted, since far from 0 a sum of a number and a step may be that
// number; a view this wide in steps is no view of anybody.
export function ticks({ from, to }, step) {
  const first = Math.ceil(from / step) * step;
  const n = Math.min(1000, Math.floor((to - first) / step) + 1);
  return Array.from({ length: Math.max(0, n) }, (_, i) => first + i * step);
}

// The least that is seen at once around a time, in ps: above 2^53 of them, 2.5 hours, a number of
// the language tells only every second one apart, and later fewer.
export function leastSpan(ps) {
  const ulp = 2 ** (Math.floor(Math.log2(Math.max(1, Math.abs(ps)))) - 52);
  return Math.max(10, 64 * ulp);
}

/* ---- Times of Perfetto ------------------------------------------------------------------------ */

// A range in Perfetto's whole ns, "FROM..TO": rounded as the export rounds, half up, and never
// empty. originNs: of the file, as text, since it is above what a number holds. from and to: numbers
// or BigInts.
export function perfettoRange(from, to, originNs) {
  const ns = (ps) => {
    const up = exact(ps) + 500n;
    return (up - (((up % 1000n) + 1000n) % 1000n)) / 1000n + BigInt(originNs);
  };
  const [begin, end] = [ns(from), ns(to)];
  return `${begin}..${end > begin ? end : begin + 1n}`;
}

// "FROM..TO" of an address in Perfetto's ns as [from, to] in ps, BigInts; null: it is none.
export function spanOfPerfetto(text, originNs) {
  const ns = text?.match(/^(\d+)\.\.(\d+)$/)?.slice(1).map((n) => (BigInt(n) - BigInt(originNs)) * 1000n);
  return ns && ns[1] > ns[0] ? ns : null;
}
