// The timeline of a session: what is seen, what the keys and the pointer do, and the panels beside.
// Rows come from the server (timeline_data.js) and are drawn on a canvas (timeline_draw.js).
import { Source, exactSpan, leastSpan, lengthText, perfettoRange, recordAt, seenOf, spanOfPerfetto, timeText } from "./timeline_data.js";
import { CanvasPen, GROUP, ROW, RULER, SvgPen, coloursOf, drawMinimap, drawScene, makeMinimap, placeOf } from "./timeline_draw.js";
import { button, definition, isGood, make } from "./timeline_parts.js";

const root = document.getElementById("timeline");
const statusLine = document.getElementById("timeline-status");
const { api, perfetto, session, host, name: sessionName } = root.dataset;
const source = new Source(api, host);
const ROWS_SHOWN = 24; // of a track, until its name is clicked
const ROWS_KEPT = 600; // whose windows are kept
const CELLS = 40000; // rows times pixels of one question: the answer takes a few ms
const PX_MAX = 16384; // of one question
const BEHIND_ALL = 2n ** 61n; // ps: no event begins there
const LEAST_PS = 10; // of an event, where a view is made around it

/* ---- The page -------------------------------------------------------------------------------- */

const minimap = make("canvas", { className: "minimap" });
minimap.setAttribute("aria-hidden", "true");
const canvas = make("canvas", { className: "rows", tabIndex: 0 });
canvas.setAttribute("role", "application");
canvas.setAttribute("aria-label", "Timeline. W and S zoom, A and D move, F fits, Enter selects, comma and full stop go from event to event.");
const spacer = make("div", { className: "spacer" });
const scroller = make("div", { className: "scroller" }, canvas, spacer);
const searchBox = make("input", { type: "search", placeholder: "Find events", spellcheck: false });
searchBox.setAttribute("aria-label", "Find events by name, scope or source");
searchBox.setAttribute("aria-keyshortcuts", "/");
const found = make("output", { className: "muted" });
const bar = make("div", { className: "tools" },
  searchBox, button("‹", "Previous hit (N)", () => find(true)), button("›", "Next hit (n)", () => find(false)), found,
  make("span", { className: "gap" }),
  button("+", "Zoom in (w)", () => zoom(0.5)), button("−", "Zoom out (s)", () => zoom(2)),
  button("Fit", "Fit the selection, then all (f)", fit), button("Save SVG", "Save what is seen as SVG", saveSvg));
const details = make("aside", { className: "details card" });
details.setAttribute("aria-live", "polite");
details.setAttribute("aria-label", "Details");
const table = make("details", { className: "seen" }, make("summary", { textContent: "The visible rows as a table" }));
const tip = make("div", { className: "tip", hidden: true });

/* ---- State ----------------------------------------------------------------------------------- */

const state = {
  extent: { from: 0, to: 1 },
  view: { from: 0, to: 1 },
  groups: [], // of tracks; with the report those of its analysis above their devices
  lines: [],
  data: new Map(), // track → its last window
  steps: [],
  findings: [],
  marks: [],
  selected: null,
  linked: [],
  range: null, // [from, to], numbers or BigInts
  awaited: null, // an event of the analysis that the address names
};
let colours, pen, minipen, ratio;
let strip = null; // the minimap without what is seen
let pointer = null; // ps under the mouse
let drawing = 0;

const say = (text, isError = false) => {
  statusLine.textContent = text;
  statusLine.classList.toggle("error", isError);
  statusLine.hidden = !text;
};

/* ---- Layout ---------------------------------------------------------------------------------- */

const narrow = () => canvas.clientWidth < 700;
const left = () => (narrow() ? 0 : 210);
const top = () => scroller.scrollTop;

function layOut() {
  const lines = [];
  let y = 0;
  const head = narrow() ? 15 : 0;
  for (const group of state.groups) {
    lines.push({ group, y, height: GROUP, open: group.open });
    y += GROUP;
    for (const track of group.open ? group.tracks : []) {
      const rows = track.open ? track.rows : Math.min(track.rows, track.few ? 1 : ROWS_SHOWN);
      const height = head + rows * ROW + 4;
      lines.push({ track, y, height, rows, head, open: !track.few });
      y += height;
    }
  }
  state.lines = lines;
  spacer.style.height = `${Math.max(0, y + RULER - scroller.clientHeight)}px`;
}

function seenLines(margin = 0) {
  const [from, to] = [top() - margin, top() + scroller.clientHeight + margin]; // once: each reading asks for the layout
  return state.lines.filter((l) => l.track && l.y + l.height > from && l.y < to);
}

/* ---- Windows of slices ----------------------------------------------------------------------- */

// Of a line the rows that are seen, or up to `margin` px above or below: [first, end).
function rowsSeen(line, margin = 0) {
  const at = (y) => Math.min(Math.max((y - line.y - line.head) / ROW, 0), line.rows);
  return [Math.floor(at(top() - margin)), Math.ceil(at(top() + scroller.clientHeight - RULER + margin))];
}

// Rows that have no good window for a view, as Source.slices wants them.
function lacking(view, pixel, margin) {
  const wants = [];
  for (const line of seenLines(margin)) {
    const have = state.data.get(line.track.id)?.rows ?? [];
    const [first, end] = rowsSeen(line, margin);
    const bad = [];
    for (let r = first; r < end; r++) if (!isGood(have[r], view, state.extent, pixel)) bad.push(r);
    if (bad.length) wants.push({ id: line.track.id, first: bad[0], count: bad.at(-1) + 1 - bad[0] });
  }
  return wants;
}

// As many of these rows as one question may ask for.
function batch(wants, px) {
  let room = Math.max(1, Math.floor(CELLS / px));
  const some = [];
  for (const want of wants.slice(0, 100)) {
    if (!room) break;
    some.push({ ...want, count: Math.min(want.count, room) });
    room -= some.at(-1).count;
  }
  return some;
}

// The part of a view that holds events, in whole ps; all of it where none does.
function within({ from, to }) {
  const [a, b] = [Math.max(from, state.extent.from), Math.min(to, state.extent.to + 1)];
  return a < b ? { from: Math.floor(a), to: Math.ceil(b) } : { from: Math.floor(from), to: Math.ceil(to) };
}

// What to ask next: rows that are seen, then their neighbours, so that whoever moves on finds them.
function nextQuestion() {
  const { from, to } = state.view;
  const span = to - from;
  const px = Math.max(50, canvas.clientWidth - left());
  const pixel = span / px;
  const question = (view, wants, ahead) => {
    const window = within(view);
    const wide = Math.min(PX_MAX, Math.ceil((window.to - window.from) / pixel));
    return { ...window, px: wide, wants: batch(wants, wide), ahead };
  };
  const seen = lacking(state.view, pixel, 0);
  if (seen.length) return question(state.view, seen, false);
  const more = Math.min(1, (PX_MAX / px - 1) / 2);
  const near = { from: from - (span * more) / 2, to: to + (span * more) / 2 };
  const beside = lacking(near, pixel, scroller.clientHeight / 2);
  return beside.length ? question({ from: from - span * more, to: to + span * more }, beside, true) : null;
}

function keep(got, { from, to, px, wants }) {
  for (const { id, first, count } of wants) {
    if (!state.data.has(id)) state.data.set(id, { rows: [] });
    const { rows } = state.data.get(id);
    for (let r = first; r < first + count; r++)
      rows[r] = got.get(id)?.rows[r] ?? { from, to, pixel: (to - from) / px, n: 0, start: [], dur: [] };
  }
  const kept = [...state.data.values()].reduce((n, { rows }) => n + Object.keys(rows).length, 0);
  if (kept <= ROWS_KEPT) return;
  const near = new Map();
  for (const line of seenLines(scroller.clientHeight)) {
    const [first, end] = rowsSeen(line, scroller.clientHeight);
    const { rows = [] } = state.data.get(line.track.id) ?? {};
    near.set(line.track.id, { rows: [] });
    for (let r = first; r < end; r++) if (rows[r]) near.get(line.track.id).rows[r] = rows[r];
  }
  state.data = near;
}

let inFlight = null; // { abort(), ahead }
let timer = 0;

// One question at a time, each of what lacks then. One for neighbours makes way.
async function load() {
  if (inFlight) {
    if (inFlight.ahead && nextQuestion()?.ahead === false) inFlight.abort();
    return;
  }
  let asked = "";
  try {
    for (let next = nextQuestion(); next && JSON.stringify(next) !== asked; next = nextQuestion()) {
      asked = JSON.stringify(next);
      inFlight = Object.assign(new AbortController(), { ahead: next.ahead });
      try {
        keep(await source.slices(next.from, next.to, next.px, next.wants, inFlight.signal), next);
        say("");
        draw();
      } catch (error) {
        if (error.name !== "AbortError") throw error;
        asked = "";
      }
    }
  } catch (error) {
    say(`The timeline could not be loaded: ${error.message}`, true);
  }
  inFlight = null;
}

// The address and the table follow when nothing has moved for a moment.
function changed() {
  draw();
  load();
  clearTimeout(timer);
  timer = setTimeout(() => {
    keepAddress();
    if (table.open) fillTable();
  }, 100);
}

/* ---- Drawing --------------------------------------------------------------------------------- */

const scene = () => ({ ...state, width: canvas.clientWidth, height: scroller.clientHeight, left: left(), top: top(),
  names: source.names, colours });

function draw() {
  if (drawing) return;
  drawing = requestAnimationFrame(() => {
    drawing = 0;
    drawScene(pen, scene(), ratio);
    const size = [minimap.clientWidth, minimap.clientHeight, ratio];
    strip ??= makeMinimap(...size, { ...state, colours });
    drawMinimap(minipen, strip, ...size, { ...state, colours });
    root.dataset.drawn = String(Number(root.dataset.drawn ?? 0) + 1);
  });
}

function resize() {
  ratio = devicePixelRatio || 1;
  canvas.style.height = `${scroller.clientHeight}px`;
  for (const c of [canvas, minimap]) {
    c.width = Math.max(1, Math.round(c.clientWidth * ratio));
    c.height = Math.max(1, Math.round(c.clientHeight * ratio));
  }
  colours = coloursOf(root);
  strip = null;
  layOut();
  changed();
}

function saveSvg() {
  const svg = new SvgPen();
  drawScene(svg, scene());
  const url = URL.createObjectURL(new Blob([svg.toString()], { type: "image/svg+xml" }));
  make("a", { href: url, download: `${sessionName.replace(/[^\w.-]+/g, "_")}.svg` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/* ---- Moving ---------------------------------------------------------------------------------- */

function look(from, to) {
  const all = state.extent.to - state.extent.from;
  const middle = (from + to) / 2;
  const span = Math.min(Math.max(to - from, leastSpan(middle)), all * 1.1);
  from = Math.min(Math.max(middle - span / 2, state.extent.from - all * 0.05), state.extent.to + all * 0.05 - span);
  state.view = { from, to: from + span };
  changed();
}

function zoom(factor, at) {
  const { from, to } = state.view;
  const still = at ?? (from + to) / 2;
  look(still - (still - from) * factor, still + (to - still) * factor);
}

function pan(share) {
  const by = (state.view.to - state.view.from) * share;
  look(state.view.from + by, state.view.to + by);
}

function fit() {
  const { selected, view, extent } = state;
  const room = selected && Math.max(selected.dur_ps, LEAST_PS) * 0.5;
  const near = selected && [selected.start_ps - room, selected.start_ps + selected.dur_ps + room];
  if (near && Math.abs(view.from - near[0]) + Math.abs(view.to - near[1]) > (near[1] - near[0]) * 0.1) look(...near);
  else look(extent.from, extent.to);
}

// Brings an event into view, in time and in height.
function show(event) {
  const { from, to } = state.view;
  if (event.start_ps + event.dur_ps < from || event.start_ps > to || event.dur_ps > to - from || event.dur_ps < (to - from) / 2000) {
    const half = Math.max(event.dur_ps * 5, LEAST_PS);
    look(event.start_ps - half, event.start_ps + event.dur_ps + half);
  }
  const group = state.groups.find((g) => g.tracks.some((t) => t.id === event.track));
  const track = group?.tracks.find((t) => t.id === event.track);
  if (!track) return;
  group.open = true;
  if (event.row >= ROWS_SHOWN) track.open = true;
  track.few = false;
  layOut();
  const place = placeOf(scene(), event);
  if (place.y < RULER || place.y + ROW > scroller.clientHeight) scroller.scrollTop += place.y - scroller.clientHeight / 2;
}

const psAt = (x) => state.view.from + ((x - left()) / Math.max(1, canvas.clientWidth - left())) * (state.view.to - state.view.from);

/* ---- Selecting ------------------------------------------------------------------------------- */

function hit(x, y) {
  const line = state.lines.find((l) => y - RULER + top() >= l.y && y - RULER + top() < l.y + l.height);
  if (!line || y < RULER) return { line: null };
  if (line.group || x < left() || (line.head && y - RULER + top() < line.y + line.head)) return { line, name: true };
  const r = Math.floor((y - RULER + top() - line.y - line.head) / ROW);
  const row = state.data.get(line.track.id)?.rows[r];
  const slack = ((state.view.to - state.view.from) / canvas.clientWidth) * 2;
  const ps = psAt(x);
  if (!row) return { line };
  const i = recordAt(row, ps, slack);
  return i >= 0 ? { line, r, row, i } : { line };
}

let asking = null;

async function select(id, move = false) {
  asking?.abort();
  asking = new AbortController();
  try {
    const event = await source.event(id, asking.signal);
    Object.assign(state, { selected: event, linked: event.linked, range: null });
    if (move) show(event);
    showEvent(event);
    changed();
  } catch (error) {
    if (error.name !== "AbortError") say(error.message, true);
  }
}

function choose({ line, r, row, i }) {
  if (!row) return;
  if (row.count[i] === 1) return select(`${line.track.id}.${r}.${row.index[i]}`);
  // A run opens, until nothing more can be told apart: events that begin at once are picked one by
  // one with the keys.
  const begin = row.start[i];
  const shown = state.view.to - state.view.from;
  const span = Math.max(row.overlaps ? shown / 20 : row.dur[i] * 1.2, leastSpan(begin));
  if (span > shown * 0.9) return select(`${line.track.id}.${r}.${row.index[i]}`);
  look(begin - span * 0.1, begin + span * 0.9);
}

function toggle(line) {
  if (line.group) line.group.open = !line.group.open;
  else line.track.few = !(line.track.few ?? false);
  layOut();
  changed();
}

// From the keyboard: the longest event that is seen, from the top; where no row shows one by itself,
// the first.
function chooseFirst() {
  for (const record of ["longest", "first"])
    for (const line of seenLines())
      for (let r = 0; r < line.rows; r++) {
        const row = state.data.get(line.track.id)?.rows[r];
        const i = seenOf(row, state.view)[record];
        if (i >= 0) return select(`${line.track.id}.${r}.${row.index[i]}`);
      }
}

function step(by) {
  if (!state.selected) return chooseFirst();
  const [track, row, index] = state.selected.id.split(".").map(Number);
  if (index + by >= 0 && index + by < state.selected.events_of_row) select(`${track}.${row}.${index + by}`, true);
}

async function find(backwards) {
  const q = searchBox.value.trim();
  if (!q) return;
  const ps = BigInt(Math.round(backwards ? state.view.to : state.view.from));
  const from = state.selected ? { [backwards ? "before" : "after"]: state.selected.id } : { [backwards ? "before" : "from"]: ps };
  try {
    let answer = await source.search({ q, ...from });
    if (!answer.found && answer.total) answer = await source.search({ q, ...(backwards ? { before: BEHIND_ALL } : {}) }); // round to the other end
    found.textContent = answer.total ? `${answer.total.toLocaleString("en")} events` : "nothing found";
    if (answer.found) await select(answer.found.id, true);
  } catch (error) {
    found.textContent = error.message;
  }
}

/* ---- Panels ---------------------------------------------------------------------------------- */

const jump = (event) => {
  const link = make("a", { href: "#", textContent: event.name || event.id });
  link.addEventListener("click", (click) => {
    click.preventDefault();
    select(event.id, true);
  });
  return make("span", {}, link, ` ${event.track_name}, ${lengthText(event.dur_ps)}`);
};

function perfettoLink(from, to) {
  const link = make("a", { href: `${perfetto}?at=${perfettoRange(from, to, state.origin_ns)}`, textContent: "Open this in Perfetto" });
  link.setAttribute("aria-keyshortcuts", "p");
  return link;
}

// "gap_ps", 1200 → "Gap", "1.200 ns"
function argument([key, value]) {
  const words = key.replace(/_ps$/, "").replaceAll("_", " ");
  return [words[0].toUpperCase() + words.slice(1), key.endsWith("_ps") ? lengthText(value) : String(value)];
}

function showEvent(event) {
  const finding = event.derived === "FINDINGS" && event.name.split(" ", 1)[0];
  const op = event.op_page && make("a", { href: `${session}${event.op_page}`, textContent: event.op });
  const text = (v) => (v === undefined ? undefined : v.toLocaleString("en"));
  details.replaceChildren(
    make("h2", { textContent: event.name || "(no name)" }),
    definition([
      ["Start", timeText(event.start_ps, 1000)], ["Duration", lengthText(event.dur_ps)],
      ["Track", `${event.track_name} · ${event.group_name}`], ["Op", op],
      ["Finding", finding && make("a", { href: `${session}#finding-${finding}`, textContent: event.name })], ["Scope", event.scope], ["Source", event.source],
      ["Module", event.module], ["Category", event.category], ["HLO op", event.hlo_op], ["Shape", event.shape],
      ["FLOPs", text(event.flops)], ["Bytes", text(event.bytes)],
      ["Calls of this name", `${text(event.calls_of_kind)}, ${lengthText(event.total_of_kind_ps)} in all`],
      ...Object.entries(event.args).map(argument), ["Inside", event.parent && jump(event.parent)],
      ...event.linked.slice(0, 8).map((other) => [other.start_ps >= event.start_ps ? "Leads to" : "Comes from", jump(other)]),
      ["Text", event.long_name],
    ]),
    make("p", {}, perfettoLink(...exactSpan(event))));
}

const tableOf = (caption, heads, rows) =>
  make("div", { className: "scroll" }, make("table", {}, make("caption", { textContent: caption }),
    make("thead", {}, make("tr", {}, ...heads.map((textContent) => make("th", { scope: "col", textContent })))),
    make("tbody", {}, ...rows.map(([head, ...cells]) =>
      make("tr", {}, make("th", { scope: "row", textContent: head, title: head }), ...cells.map((textContent) => make("td", { textContent, className: textContent.length > 40 ? "prose" : "" })))))));

// What the report's own parts of each device's window come to in the range.
const PARTS = ["compute", "exposed communication", "exposed copy", "idle"];
function partsTable(devices) {
  const rows = devices.map(({ device, own_clock, breakdown, idle_causes = [] }) => {
    const all = breakdown.reduce((sum, p) => sum + p.ps, 0);
    const cells = PARTS.map((part) => breakdown.find((p) => p.name === part)?.ps ?? 0);
    const share = (ps) => (ps ? `${lengthText(ps)} (${((100 * ps) / all).toFixed(1)}%)` : "–");
    const causes = idle_causes.sort((a, b) => b.ps - a.ps).map((c) => `${c.name} ${lengthText(c.ps)}`);
    return [`${device}${own_clock ? ", on its clock" : ""}`, ...cells.map(share), causes.join(", ") || "–"];
  });
  return tableOf("What the devices' time went to, by the report's intervals, cut to the range", ["Device", "Compute", "Exposed communication", "Exposed copy", "Idle", "Idle because of"], rows);
}

// from and to: ps, numbers or BigInts.
async function showRange([begin, end]) {
  const [from, to] = [Number(begin), Number(end)];
  try {
    const range = await source.range(begin, end);
    const rows = range.rows.slice(0, 20).map((r) => [r.name, r.calls.toLocaleString("en"), lengthText(r.total_ps), lengthText(r.self_ps),
      `${((100 * r.self_ps) / Math.max(1, range.busy_ps)).toFixed(1)}%`]);
    const covered = (100 * range.covered_ps) / Math.max(1, Number(end - begin) * range.tracks);
    const tracks = `${range.tracks} ${range.tracks === 1 ? "track" : "tracks"}${state.groups.some((g) => g.device) ? " of device ops" : ""}`;
    details.replaceChildren(
      make("h2", { textContent: `${lengthText(to - from)} from ${timeText(from, (to - from) / 100)}` }),
      ...(range.devices?.length ? [partsTable(range.devices)] : []),
      tableOf("What takes the time there", ["Name", "Calls", "Total", "Self", "Share"], rows),
      make("p", { className: "muted", textContent: `Names are summed over the ${range.events.toLocaleString("en")} events on ${tracks} that lie in the range, cut at both ends, on the host's clock; they cover ${covered.toFixed(1)}% of it.` }),
      make("p", {}, perfettoLink(begin, end)));
  } catch (error) {
    say(error.message, true);
  }
}

function showMarks() {
  const rows = state.marks.map((t, i) => [String.fromCharCode(65 + (i % 26)), `${timeText(t, 1000)}${i ? `, ${lengthText(t - state.marks[i - 1])} after ${String.fromCharCode(64 + i)}` : ""}`]);
  details.replaceChildren(make("h2", { textContent: "Marks" }), rows.length ? definition(rows) : make("p", { textContent: "None." }));
}

function mark() {
  const at = state.selected ? state.selected.start_ps : (pointer ?? (state.view.from + state.view.to) / 2);
  const near = state.marks.findIndex((t) => Math.abs(t - at) <= (state.view.to - state.view.from) / canvas.clientWidth * 3);
  if (near >= 0) state.marks.splice(near, 1);
  else state.marks.push(at);
  state.marks.sort((a, b) => a - b);
  showMarks();
  changed();
}

function fillTable() {
  const body = seenLines().map((line) => {
    const { track } = line;
    let [count, longest, name] = [0, 0, ""];
    for (const row of (state.data.get(track.id)?.rows ?? []).slice(...rowsSeen(line))) {
      const seen = seenOf(row, state.view);
      count += seen.count;
      if (row?.dur[seen.longest] > longest) [longest, name] = [row.dur[seen.longest], source.names.get(row.kind[seen.longest]) ?? ""];
    }
    return [track.name || `track ${track.tid}`, track.group, count.toLocaleString("en"), longest ? `${name} ${lengthText(longest)}` : "–"];
  });
  const t = tableOf(`From ${timeText(state.view.from, 1000)} to ${timeText(state.view.to, 1000)}`, ["Track", "Process", "Events", "Longest seen"], body);
  t.querySelectorAll("td").forEach((cell) => cell.classList.add("text"));
  table.replaceChildren(table.firstChild, t);
}

/* ---- Addresses ------------------------------------------------------------------------------- */

function keepAddress() {
  const query = new URLSearchParams(location.search);
  const put = (key, value) => (value ? query.set(key, value) : query.delete(key));
  const ps = (t) => BigInt(Math.round(t)).toString();
  query.delete("at");
  put("from", ps(state.view.from));
  put("to", ps(state.view.to));
  put("sel", state.selected?.id ?? state.awaited);
  put("marks", state.marks.map(ps).join(","));
  put("q", searchBox.value.trim());
  history.replaceState(null, "", `?${query}`);
}

function readAddress() {
  const query = new URLSearchParams(location.search);
  const [from, to] = ["from", "to"].map((key) => Number(query.get(key) ?? NaN));
  const at = spanOfPerfetto(query.get("at"), state.origin_ns);
  state.marks = (query.get("marks") ?? "").split(",").filter(Boolean).map(Number).filter(Number.isFinite);
  searchBox.value = query.get("q") ?? "";
  if (at) {
    const room = Number(at[1] - at[0]) * 0.75;
    state.range = at;
    look(Number(at[0]) - room, Number(at[1]) + room);
    showRange(at);
  } else if (to > from) {
    look(from, to);
  } else {
    look(state.extent.from, state.extent.to);
  }
  const sel = query.get("sel");
  const isThere = state.groups.some((g) => g.tracks.some((t) => t.id === Number.parseInt(sel, 10)));
  if (sel && isThere) select(sel);
  else state.awaited = sel;
}

/* ---- The pointer ----------------------------------------------------------------------------- */

let drag = null;

canvas.addEventListener("pointerdown", (event) => {
  if (event.button) return;
  canvas.setPointerCapture(event.pointerId);
  const ranging = event.shiftKey || event.offsetY < RULER;
  drag = { x: event.offsetX, y: event.offsetY, top: scroller.scrollTop, view: state.view, ranging, moved: false, at: psAt(event.offsetX) };
});

canvas.addEventListener("pointermove", (event) => {
  pointer = psAt(event.offsetX);
  if (!drag) return showTip(event);
  tip.hidden = true;
  drag.moved ||= Math.abs(event.offsetX - drag.x) + Math.abs(event.offsetY - drag.y) > 4;
  if (!drag.moved) return;
  if (drag.ranging) {
    state.range = [drag.at, psAt(event.offsetX)].sort((a, b) => a - b);
    return draw();
  }
  const by = ((drag.x - event.offsetX) / Math.max(1, canvas.clientWidth - left())) * (drag.view.to - drag.view.from);
  if (event.pointerType === "mouse") scroller.scrollTop = drag.top + drag.y - event.offsetY;
  look(drag.view.from + by, drag.view.to + by);
});

canvas.addEventListener("pointerup", (event) => {
  const was = drag;
  drag = null;
  if (!was) return;
  if (was.moved && was.ranging) return showRange(state.range);
  if (was.moved) return;
  const on = hit(event.offsetX, event.offsetY);
  if (on.name) toggle(on.line);
  else choose(on);
});
canvas.addEventListener("pointercancel", () => (drag = null));
canvas.addEventListener("pointerleave", () => {
  pointer = null;
  tip.hidden = true;
});

canvas.addEventListener("wheel", (event) => {
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    zoom(Math.exp(Math.max(-50, Math.min(50, event.deltaY)) * 0.01), psAt(event.offsetX));
  } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    event.preventDefault();
    pan((event.deltaX || event.deltaY) / canvas.clientWidth);
  }
}, { passive: false });

function showTip(event) {
  const { row, i } = hit(event.offsetX, event.offsetY);
  tip.hidden = !row;
  if (!row) return;
  const name = source.names.get(row.kind[i]);
  tip.textContent = row.count[i] > 1 ? `${row.count[i].toLocaleString("en")} events, ${lengthText(row.dur[i])}; click to open` : `${name ? `${name}, ` : ""}${lengthText(row.dur[i])}`;
  tip.style.left = `${Math.min(event.offsetX + 12, canvas.clientWidth - 160)}px`;
  tip.style.top = `${event.offsetY + 16}px`;
}

const toMinimap = (event) => {
  if (event.type === "pointermove" && !event.buttons) return;
  const at = state.extent.from + (event.offsetX / minimap.clientWidth) * (state.extent.to - state.extent.from);
  const half = (state.view.to - state.view.from) / 2;
  look(at - half, at + half);
};
minimap.addEventListener("pointerdown", toMinimap);
minimap.addEventListener("pointermove", toMinimap);

/* ---- Keys ------------------------------------------------------------------------------------ */

const keys = {
  w: () => zoom(0.7), s: () => zoom(1 / 0.7), a: () => pan(-0.2), d: () => pan(0.2), "+": () => zoom(0.5), "-": () => zoom(2),
  ArrowLeft: () => pan(-0.1), ArrowRight: () => pan(0.1),
  ArrowUp: () => (scroller.scrollTop -= ROW * 2), ArrowDown: () => (scroller.scrollTop += ROW * 2),
  PageUp: () => (scroller.scrollTop -= scroller.clientHeight / 2), PageDown: () => (scroller.scrollTop += scroller.clientHeight / 2),
  Home: () => look(state.extent.from, state.extent.from + state.view.to - state.view.from),
  End: () => look(state.extent.to - (state.view.to - state.view.from), state.extent.to),
  f: fit, n: () => find(false), N: () => find(true), m: mark, Enter: chooseFirst, ",": () => step(-1), ".": () => step(1),
  r: () => {
    const [from, to] = [Math.max(state.view.from, state.extent.from), Math.min(state.view.to, state.extent.to + 1)];
    if (from >= to) return;
    state.range = [from, to];
    showRange(state.range);
    draw();
  },
  Escape: () => {
    Object.assign(state, { selected: null, linked: [], range: null });
    details.replaceChildren();
    changed();
  },
};

// In the timeline all of them; elsewhere on the page those that scroll or press nothing there.
addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, textarea, select");
  const elsewhere = event.target !== canvas && (event.key.length > 1 || event.target.matches("a, button, summary") && event.key === " ");
  if (typing || elsewhere || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
searchBox.addEventListener("keydown", (event) => {
  if (event.key === "Escape") searchBox.value = "";
  if (event.key === "Enter" || event.key === "Escape") canvas.focus();
  if (event.key === "Enter") find(event.shiftKey);
});

/* ---- Begin ----------------------------------------------------------------------------------- */

function notesOf(all) {
  const notes = [`${all.events.toLocaleString("en")} events`];
  const overlaid = state.groups.flatMap((g) => g.tracks).reduce((n, t) => n + t.overlaid, 0);
  if (all.empty) notes.push(`${all.empty} ${all.empty === 1 ? "track" : "tracks"} without events not shown`);
  if (overlaid) notes.push(`${overlaid.toLocaleString("en")} events lie over others in the last row of their track`);
  if (all.left_out) notes.push(`${all.left_out.toLocaleString("en")} events found no room`);
  if (all.tracks_left_out) notes.push(`${all.tracks_left_out.toLocaleString("en")} tracks found no room`);
  if (all.partial) notes.push("the file is damaged or cut: what could be read is shown");
  return notes.join("; ");
}

const noteLine = make("p", { className: "muted" });

function place(all) {
  const shown = state.groups.some((g) => g.device) ? (g) => g.device : () => true;
  for (const group of state.groups) {
    group.open = shown(group) || state.groups.length < 4;
    for (const track of group.tracks) track.group = group.name;
  }
  root.append(bar, minimap, make("div", { className: "stage" }, scroller, tip), noteLine, details, table);
}

// Rows of the analysis above those of their devices, what concerns the whole host on top. What is
// seen of the others stays where it is.
function addAnalysis(groups) {
  const seen = top() > 0 && state.lines.find((l) => l.y + l.height > top());
  source.derivedFrom = Math.min(...groups.flatMap((g) => g.tracks.map((t) => t.id)));
  let first = 0;
  for (const group of groups) {
    const at = state.groups.findIndex((g) => g.device && g.name === group.of);
    for (const track of group.tracks) track.group = group.name;
    group.open = at < 0 || state.groups[at].open;
    state.groups.splice(at < 0 ? first++ : at, 0, group);
  }
  layOut();
  const now = seen && state.lines.find((l) => l.track === seen.track && l.group === seen.group);
  if (now) scroller.scrollTop += now.y - seen.y;
}

// What comes with the report, which takes longer than the first slices.
async function analyse(all) {
  noteLine.textContent = `${notesOf(all)}; the analysis follows`;
  try {
    const { analysis } = await source.analysed();
    if (analysis?.length) addAnalysis(analysis);
    noteLine.textContent = `${notesOf(all)}${analysis ? "" : "; the tracks of the analysis could not be made"}`;
  } catch (error) {
    noteLine.textContent = `${notesOf(all)}; without the analysis: ${error.message}`;
  }
  if (state.awaited) select(state.awaited, true);
  state.awaited = null;
  if (state.range) showRange(state.range);
  root.dataset.analysed = "yes";
  changed();
}

async function begin() {
  const all = await source.tracks();
  if (!all.events) return say("This trace holds no events that lie in time.");
  state.groups = all.groups;
  state.origin_ns = all.file_origin_ns;
  state.extent = { from: all.from_ps, to: Math.max(all.to_ps, all.from_ps + leastSpan(all.from_ps)) };
  state.view = { ...state.extent };
  place(all);
  pen = new CanvasPen(canvas);
  minipen = new CanvasPen(minimap);
  resize();
  readAddress();
  new ResizeObserver(resize).observe(scroller);
  scroller.addEventListener("scroll", changed);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", resize);
  table.addEventListener("toggle", fillTable);
  await analyse(all);
  try {
    const { steps, findings } = await source.marks();
    Object.assign(state, { steps, findings });
    strip = null;
    draw();
  } catch (error) {
    noteLine.textContent += `; without steps and findings on the map: ${error.message}`;
  }
  root.dataset.marked = "yes";
}

begin().catch((error) => say(`The timeline could not be shown: ${error.message}`, true));
