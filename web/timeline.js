// The timeline of a session: what is seen, what the keys and the pointer do, and the panels beside.
// Rows come from the server (timeline_data.js) and are drawn on a canvas (timeline_draw.js).
import {
  Source, eventsText, exactSpan, leastSpan, lengthText, markName, nearestTo, perfettoRange, recordAt, searchable, seenOf, spanOfPerfetto, timeText,
} from "./timeline_data.js";
import {
  CanvasPen, GROUP, ROW, RULER, SvgPen, coloursOf, drawMinimap, drawScene, makeMinimap, placeOf, signedName, trackName,
} from "./timeline_draw.js";
import { button, definition, figures, isGood, make } from "./timeline_parts.js";

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
const NAMES_PX = [160, 320]; // of the column of names, but no more than its share of the width
const NAMES_SHARE = 0.24;
const TIP_MS = 80; // on an event, until its details are asked for
const FOLDS_MAX = 200; // in an address

/* ---- The page -------------------------------------------------------------------------------- */

const minimap = make("canvas", { className: "minimap" });
minimap.setAttribute("aria-hidden", "true");
const canvas = make("canvas", { className: "rows", tabIndex: 0 });
canvas.setAttribute("role", "application");
canvas.setAttribute("aria-label", "Timeline. W and S zoom, A and D move, up and down go from row to row, space opens and closes a group, "
  + "Enter selects, comma and period go from event to event, the question mark lists all keys.");
const spacer = make("div", { className: "spacer" });
const scroller = make("div", { className: "scroller" }, canvas, spacer);
const searchBox = make("input", { type: "search", placeholder: "Find events", spellcheck: false });
searchBox.setAttribute("aria-label", "Find events by name, scope or source");
searchBox.setAttribute("aria-keyshortcuts", "/");
const found = make("output", { className: "muted" });
const away = make("a", { className: "button", textContent: "Perfetto", title: "Open the selection or the visible range in Perfetto (p)" });
away.setAttribute("aria-keyshortcuts", "p");
const bar = make("div", { className: "tools" },
  searchBox, button("‹", "Previous hit (N)", () => find(true)), button("›", "Next hit (n)", () => find(false)), found,
  make("span", { className: "gap" }),
  button("+", "Zoom in (w)", () => zoom(0.5)), button("−", "Zoom out (s)", () => zoom(2)),
  button("Fit", "Fit the selection, then everything (f)", fit), button("Save SVG", "Save the visible part as SVG", saveSvg), away);
const map = make("div", { className: "map" }, make("span", { className: "muted", textContent: "Whole trace" }), minimap);
const where = make("output", { className: "unseen" }); // for screen readers: the row of the keys
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
  at: null, // the row of the keys: { group } or { track, r }
  byKeys: false, // it is shown
  wantsNearest: false, // in it, as soon as its slices are there
  anchor: null, // ps of what was selected last
  awaited: { sel: null, top: "", fold: [] }, // of the address, what comes with the analysis
  nameWidth: NAMES_PX[0],
};
let panel = []; // what the details hold besides the marks
let colours, pen, minipen, ratio;
let strip = null; // the minimap without what is seen
let pointer = null; // ps under the mouse
let drawing = 0;

// Said by "load", it is gone with the next answer; said by "select", with the next selection.
let sayer = "";
const say = (text, isError = false, by = "load") => {
  statusLine.textContent = text;
  statusLine.classList.toggle("error", isError);
  statusLine.hidden = !text;
  sayer = text ? by : "";
};
const unsay = (by) => sayer === by && say("");

/* ---- Layout ---------------------------------------------------------------------------------- */

const narrow = () => canvas.clientWidth < 700;
const left = () => (narrow() ? 0 : Math.round(Math.max(NAMES_PX[0], Math.min(state.nameWidth, canvas.clientWidth * NAMES_SHARE))));
const top = () => scroller.scrollTop;
const tracksOf = (groups) => groups.flatMap((g) => g.tracks);

// As wide as the longest name of a track; in some 10000 of them the longest text is as good.
function measureNames() {
  const names = tracksOf(state.groups).map((t) => signedName(t, true)).sort((a, b) => b.length - a.length);
  state.nameWidth = Math.min(NAMES_PX[1], Math.max(0, ...names.slice(0, 2000).map((name) => pen.width(name))) + 20);
}

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

// What is seen of the rows, or up to `margin` px above or below it: { line, first, end } each.
function* seenRows(margin = 0) {
  const [from, to] = [top() - margin, top() + scroller.clientHeight - RULER + margin]; // once: each reading asks for the layout
  for (const line of state.lines) {
    if (!line.track || line.y + line.height <= from || line.y >= to) continue;
    const at = (y) => Math.min(Math.max((y - line.y - line.head) / ROW, 0), line.rows);
    const [first, end] = [Math.floor(at(from)), Math.ceil(at(to))];
    if (first < end) yield { line, first, end };
  }
}

const rowData = (track, r) => state.data.get(track.id)?.rows[r];
const idOf = (track, r, row, i) => `${track.id}.${r}.${row.index[i]}`;

/* ---- Windows of slices ----------------------------------------------------------------------- */

// Rows that have no good window for a view, as Source.slices wants them.
function lacking(view, pixel, margin) {
  const wants = [];
  for (const { line, first, end } of seenRows(margin)) {
    const have = state.data.get(line.track.id)?.rows ?? [];
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
  for (const { line, first, end } of seenRows(scroller.clientHeight)) {
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
        unsay("load");
        pickNearest();
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
    aim();
    if (table.open) fillTable();
  }, 100);
}

/* ---- Drawing --------------------------------------------------------------------------------- */

const scene = () => ({ ...state, at: state.byKeys && document.activeElement === canvas ? state.at : null,
  width: canvas.clientWidth, height: scroller.clientHeight, left: left(), top: top(), names: source.names, colours });

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
  root.dataset.left = String(left()); // where rows begin
  map.style.setProperty("--left", `${left()}px`);
  minimap.style.width = `${canvas.clientWidth - left()}px`;
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

const groupOf = (id) => state.groups.find((g) => g.tracks.some((t) => t.id === id));

function inSight(event) {
  const place = placeOf(scene(), event);
  return Boolean(place) && place.y >= RULER && place.y + ROW <= scroller.clientHeight;
}

// Opens what an event lies in and scrolls to it, without moving in time.
function reveal(event) {
  const group = groupOf(event.track);
  if (!group) return;
  const track = group.tracks.find((t) => t.id === event.track);
  group.open = true;
  if (event.row >= ROWS_SHOWN) track.open = true;
  track.few = false;
  layOut();
  if (!inSight(event)) scroller.scrollTop += placeOf(scene(), event).y - scroller.clientHeight / 2;
}

// Brings an event into view, in time and in height.
function show(event) {
  const { from, to } = state.view;
  if (event.start_ps + event.dur_ps < from || event.start_ps > to || event.dur_ps > to - from || event.dur_ps < (to - from) / 2000) {
    const half = Math.max(event.dur_ps * 5, LEAST_PS);
    look(event.start_ps - half, event.start_ps + event.dur_ps + half);
  }
  reveal(event);
}

// Where the devices work, if that is a small part of the trace; else all of it.
function firstView() {
  const { extent } = state;
  const ops = tracksOf(state.groups.filter((g) => g.device)).filter((t) => t.role === "ops");
  const [from, to] = [Math.min(...ops.map((t) => t.from_ps)), Math.max(...ops.map((t) => t.to_ps))];
  if (!ops.length || to - from > (extent.to - extent.from) / 3) return extent;
  const room = Math.max((to - from) * 0.05, LEAST_PS);
  return { from: from - room, to: to + room };
}

const psAt = (x) => state.view.from + ((x - left()) / Math.max(1, canvas.clientWidth - left())) * (state.view.to - state.view.from);

/* ---- Selecting ------------------------------------------------------------------------------- */

function hit(x, y) {
  const down = y - RULER + top();
  const line = state.lines.find((l) => down >= l.y && down < l.y + l.height);
  if (!line || y < RULER) return { line: null };
  const r = line.group ? 0 : Math.min(Math.max(Math.floor((down - line.y - line.head) / ROW), 0), line.rows - 1);
  if (line.group || x < left() || down < line.y + line.head) return { line, r, name: true };
  const row = rowData(line.track, r);
  const slack = ((state.view.to - state.view.from) / canvas.clientWidth) * 2;
  const i = row && down < line.y + line.head + line.rows * ROW ? recordAt(row, psAt(x), slack) : -1;
  return i >= 0 ? { line, r, row, i } : { line, r };
}

let asking = null;

// bring: show, reveal or nothing, what to do to the view.
async function select(id, bring = null) {
  asking?.abort();
  asking = new AbortController();
  try {
    const event = await source.event(id, asking.signal);
    const track = groupOf(event.track)?.tracks.find((t) => t.id === event.track);
    Object.assign(state, { selected: event, linked: event.linked, range: null, at: track ? { track, r: event.row } : state.at,
      anchor: event.start_ps + event.dur_ps / 2, wantsNearest: false });
    bring?.(event);
    unsay("select");
    showEvent(event);
    changed();
  } catch (error) {
    if (error.name !== "AbortError") say([400, 404].includes(error.status) ? `Event not found: ${id}.` : error.message, true, "select");
  }
}

function deselect() {
  asking?.abort();
  Object.assign(state, { selected: null, linked: [], range: null, wantsNearest: false });
  unsay("select");
  fill();
  changed();
}

function choose({ line, r, row, i }) {
  if (!row) return;
  if (row.count[i] === 1) return select(idOf(line.track, r, row, i));
  // A run opens, until nothing more can be told apart: events that begin at once are picked one by
  // one with the keys.
  const begin = row.start[i];
  const shown = state.view.to - state.view.from;
  const span = Math.max(row.overlaps ? shown / 20 : row.dur[i] * 1.2, leastSpan(begin));
  if (span > shown * 0.9) return select(idOf(line.track, r, row, i));
  look(begin - span * 0.1, begin + span * 0.9);
}

function toggle(line) {
  if (line.group) line.group.open = !line.group.open;
  else line.track.few = !(line.track.few ?? false);
  layOut();
  changed();
}

// The longest event that is seen of some rows, from the top; where no row shows one by itself, the
// first. rows: as seenRows has them.
function chooseFirst(rows = [...seenRows()]) {
  for (const record of ["longest", "first"])
    for (const { line, first, end } of rows)
      for (let r = first; r < end; r++) {
        const row = rowData(line.track, r);
        const i = seenOf(row, state.view)[record];
        if (i >= 0) return select(idOf(line.track, r, row, i)) && true;
      }
  return false;
}

function step(by) {
  if (!state.selected) return chooseFirst();
  const [track, row, index] = state.selected.id.split(".").map(Number);
  if (index + by >= 0 && index + by < state.selected.events_of_row) select(`${track}.${row}.${index + by}`, show);
}

/* ---- Rows by the keys ------------------------------------------------------------------------ */

const lineAt = () => state.at && state.lines.find((l) => l.group === state.at.group && l.track === state.at.track);

const placeIn = (line, r) => (line.group ? { group: line.group } : { track: line.track, r: Math.min(Math.max(r, 0), line.rows - 1) });

// The row below or above; from one end of a line to the next line.
function besideRow(by) {
  const line = lineAt();
  if (!line) return placeIn(state.lines.find((l) => l.y + l.height > top()) ?? state.lines[0], 0);
  const r = line.group ? 0 : Math.min(state.at.r, line.rows - 1) + by;
  if (line.track && r >= 0 && r < line.rows) return placeIn(line, r);
  const next = state.lines[state.lines.indexOf(line) + by];
  return next ? placeIn(next, by > 0 ? 0 : next.rows - 1) : state.at;
}

function scrollToRow() {
  const line = lineAt();
  const y = line.group ? line.y : line.y + line.head + state.at.r * ROW;
  const [from, to] = [y - (line.group ? 0 : line.head), y + (line.group ? GROUP : ROW) - (scroller.clientHeight - RULER)];
  if (from < top() || to > top()) scroller.scrollTop = from < top() ? from : to;
}

function tellRow() {
  const line = lineAt();
  if (line.group) where.textContent = `${line.group.title}, ${line.open ? "open" : "closed"}, tracks: ${line.group.tracks.length}`;
  else where.textContent = `${trackName(line.track)}${line.rows > 1 ? `, row ${state.at.r + 1} of ${line.rows}` : ""}`;
}

function moveRow(by) {
  state.at = besideRow(by);
  state.byKeys = true;
  scrollToRow();
  tellRow();
  if (state.at.track) state.wantsNearest = true;
  else deselect();
  pickNearest();
  changed();
}

// The event of the row that is nearest to what was selected before, once the row's slices are there.
function pickNearest() {
  if (!state.wantsNearest || !state.at?.track) return;
  const { view, at, anchor } = state;
  const row = rowData(at.track, at.r);
  if (!isGood(row, view, state.extent, (view.to - view.from) / Math.max(50, canvas.clientWidth - left()))) return;
  state.wantsNearest = false;
  const i = nearestTo(row, view, anchor >= view.from && anchor <= view.to ? anchor : (view.from + view.to) / 2);
  if (i >= 0) return select(idOf(at.track, at.r, row, i));
  where.textContent += ", no event here";
  deselect();
}

// With the name of a group its own, with a row the group that it is in.
function toggleGroup() {
  const group = state.at?.group ?? groupOf(state.at?.track.id);
  if (!group) return moveRow(1);
  state.at = { group };
  state.byKeys = true;
  toggle(lineAt());
  scrollToRow();
  tellRow();
}

function toggleTrack() {
  const line = lineAt();
  if (!line?.track) return toggleGroup();
  state.byKeys = true;
  toggle(line);
  state.at = placeIn(lineAt(), state.at.r);
  scrollToRow();
  tellRow();
}

function enter() {
  const line = lineAt();
  if (line?.group) return toggleGroup();
  const rows = line && [{ line, first: state.at.r, end: state.at.r + 1 }];
  if (!rows || !chooseFirst(rows)) chooseFirst();
}

/* ---- Searching ------------------------------------------------------------------------------- */

// What is searched for: the box holds no more of it than the server takes.
function wanted() {
  const q = searchBox.value.trim();
  const cut = searchable(q);
  if (cut !== q) searchBox.value = cut;
  return { q: cut, note: cut === q ? "" : "; the text was truncated to 200 bytes" };
}

const hitsText = (total) => (total ? eventsText(total) : "no results");

// Of a text in the address.
async function countHits() {
  const { q, note } = wanted();
  if (!q) return;
  const { total } = await source.search({ q }).catch(() => ({}));
  if (total !== undefined && wanted().q === q) found.textContent = hitsText(total) + note;
}

async function find(backwards) {
  const { q, note } = wanted();
  if (!q) return;
  const ps = BigInt(Math.round(backwards ? state.view.to : state.view.from));
  const from = state.selected ? { [backwards ? "before" : "after"]: state.selected.id } : { [backwards ? "before" : "from"]: ps };
  try {
    let answer = await source.search({ q, ...from });
    if (!answer.found && answer.total) answer = await source.search({ q, ...(backwards ? { before: BEHIND_ALL } : {}) }); // round to the other end
    if (searchBox.value.trim() !== q) return;
    found.textContent = hitsText(answer.total) + note;
    if (answer.found) await select(answer.found.id, show);
  } catch (error) {
    found.textContent = error.message;
  }
}

/* ---- Panels ---------------------------------------------------------------------------------- */

const jump = (event) => {
  const link = make("a", { href: "#", textContent: event.name || event.id });
  link.addEventListener("click", (click) => {
    click.preventDefault();
    select(event.id, show);
  });
  return make("span", {}, link, ` ${event.track_name}, ${lengthText(event.dur_ps)}`);
};

const addressIn = (from, to) => `${perfetto}?at=${perfettoRange(from, to, state.origin_ns)}`;
const perfettoLink = (from, to) => make("a", { href: addressIn(from, to), textContent: "Open selection in Perfetto" });

// The bar's way to Perfetto leads to what is selected, or else to what is seen.
function aim() {
  const { selected, range, view, extent } = state;
  const seen = [view.from, view.to].map((t) => Math.min(Math.max(t, extent.from), extent.to));
  away.href = addressIn(...(selected ? exactSpan(selected) : range ?? seen));
}

// What the details hold: an event or a range, and the marks.
function fill(...parts) {
  panel = parts;
  details.replaceChildren(...panel, ...marksList());
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
  fill(
    make("h2", { textContent: event.name || "(no name)" }),
    definition([
      ["Start", timeText(event.start_ps, 1000)], ["Duration", lengthText(event.dur_ps)],
      ["Track", `${event.track_name} · ${event.group_name}`], ["Op", op],
      ["Finding", finding && make("a", { href: `${session}#finding-${finding}`, textContent: event.name })], ["Operator", event.operator], ["Called by", event.outermost_operator !== event.operator && event.outermost_operator], ["Scope", event.scope], ["Source", event.source],
      ["Module", event.module], ["Category", event.category], ["HLO op", event.hlo_op], ["Shape", event.shape],
      ["FLOP", text(event.flops)], ["Bytes", text(event.bytes)],
      ["Calls of this name", `${text(event.calls_of_kind)}, ${lengthText(event.total_of_kind_ps)} in total`],
      ...Object.entries(event.args).map(argument), ["Inside", event.parent && jump(event.parent)],
      ...event.linked.slice(0, 8).map((other) => [other.start_ps >= event.start_ps ? "Flow to" : "Flow from", jump(other)]),
      ["Text", event.long_name],
    ]),
    make("p", {}, perfettoLink(...exactSpan(event))));
}

// What the report's own parts of each device's window come to in the range.
const PARTS = ["compute", "exposed communication", "exposed copy", "idle"];
function partsTable(devices) {
  const rows = devices.map(({ device, own_clock, breakdown, idle_causes = [] }) => {
    const all = breakdown.reduce((sum, p) => sum + p.ps, 0);
    const cells = PARTS.map((part) => breakdown.find((p) => p.name === part)?.ps ?? 0);
    const share = (ps) => (ps ? `${lengthText(ps)} (${((100 * ps) / all).toFixed(1)}%)` : "–");
    const causes = idle_causes.sort((a, b) => b.ps - a.ps).map((c) => `${c.name} ${lengthText(c.ps)}`);
    return [`${device}${own_clock ? ", device clock" : ""}`, ...cells.map(share), causes.join(", ") || "–"];
  });
  const heads = ["Compute", "Exposed communication", "Exposed copy", "Idle"].map((head) => [head, "num"]);
  return figures("Device time in the range, from the intervals of the report", [["Device"], ...heads, ["Cause of idle time", "prose"]], rows);
}

// As the report groups ops, device by device; a share is of its device's op time in the range.
function opsTable(rows) {
  const several = new Set(rows.map((r) => r.device)).size > 1;
  const heads = [["Name"], ...(several ? [["Device"]] : []), ...["Calls", "Total", "Self", "Share"].map((head) => [head, "num"])];
  return figures("Time by op in this range", heads, rows.map((r) => [
    r.names > 1 ? `${r.name} (${r.names} ops)` : r.name, ...(several ? [r.device ?? "–"] : []), r.calls.toLocaleString("en"), lengthText(r.total_ps),
    lengthText(r.self_ps), `${((100 * r.self_ps) / Math.max(1, r.of_ps)).toFixed(1)}%`]));
}

// from and to: ps, numbers or BigInts.
async function showRange([begin, end]) {
  const [from, to] = [Number(begin), Number(end)];
  try {
    const range = await source.range(begin, end);
    const covered = (100 * range.covered_ps) / Math.max(1, Number(end - begin) * range.tracks);
    const tracks = `${range.tracks} ${range.tracks === 1 ? "track" : "tracks"}${state.groups.some((g) => g.device) ? " of device ops" : ""}`;
    if (state.range?.[0] !== begin || state.range[1] !== end) return;
    fill(
      make("h2", { textContent: `${lengthText(to - from)} from ${timeText(from, (to - from) / 100)}` }),
      ...(range.devices?.length ? [partsTable(range.devices)] : []),
      opsTable(range.rows.slice(0, 20)),
      make("p", { className: "muted", textContent: `Summed over ${eventsText(range.events)} on ${tracks}, clipped to the range, `
        + `on the host clock; they cover ${covered.toFixed(1)}% of it. A share is of the self time of all${range.rows[0]?.device ? " ops of the device" : " of them"}.` }),
      make("p", {}, perfettoLink(begin, end)));
  } catch (error) {
    say(error.message, true);
  }
}

function setRange(range) {
  Object.assign(state, { selected: null, linked: [], range });
  showRange(range);
  changed();
}

function marksList() {
  const { marks } = state;
  if (!marks.length) return [];
  const after = (t, i) => (i ? `, ${lengthText(t - marks[i - 1])} after ${markName(i - 1)}` : "");
  const rows = marks.map((t, i) => [markName(i), `${timeText(t, 1000)}${after(t, i)}`]);
  return [make("section", {}, make("h2", { textContent: "Marks" }), definition(rows))];
}

function mark() {
  const at = state.selected ? state.selected.start_ps : (pointer ?? (state.view.from + state.view.to) / 2);
  const near = state.marks.findIndex((t) => Math.abs(t - at) <= (state.view.to - state.view.from) / canvas.clientWidth * 3);
  if (near >= 0) state.marks.splice(near, 1);
  else state.marks.push(at);
  state.marks.sort((a, b) => a - b);
  fill(...panel);
  changed();
}

// The longest event of a line that can be told from others: { id, row, i }, or null where a longer
// one may be in a run.
function longestOf({ line, first, end }) {
  let [best, hides, count] = [null, 0, 0];
  for (let r = first; r < end; r++) {
    const row = rowData(line.track, r);
    const seen = seenOf(row, state.view);
    count += seen.count;
    hides = Math.max(hides, seen.hides);
    if (seen.longest >= 0 && (!best || row.dur[seen.longest] > best.row.dur[best.i]))
      best = { id: idOf(line.track, r, row, seen.longest), row, i: seen.longest };
  }
  return { count, best: best && best.row.dur[best.i] >= hides ? best : null };
}

function longestText({ count, best }) {
  if (!best) return count ? `${eventsText(count)}, too dense to show separately` : "–";
  const { name, dur_ps } = source.known(best.row, best.i, best.id);
  return dur_ps === undefined || name === undefined ? "…" : `${name || "(no name)"} ${lengthText(dur_ps)}`;
}

let telling = null;

async function fillTable() {
  telling?.abort();
  const { signal } = (telling = new AbortController());
  const lines = [...seenRows()].map((seen) => ({ ...seen.line, ...longestOf(seen) }));
  const body = lines.map((l) => [trackName(l.track), l.track.group, l.count.toLocaleString("en"), longestText(l)]);
  const caption = `From ${timeText(state.view.from, 1000)} to ${timeText(state.view.to, 1000)}`;
  const t = figures(caption, [["Track"], ["Process", "text"], ["Events", "num text"], ["Longest visible", "text"]], body);
  table.replaceChildren(table.firstChild, t);
  const cells = t.querySelectorAll("td:last-child");
  lines.forEach(async (l, i) => {
    if (cells[i].textContent !== "…") return;
    const event = await source.tell(l.best.id, signal).catch(() => null);
    if (!signal.aborted) cells[i].textContent = event ? longestText(l) : "unknown";
  });
}

/* ---- Addresses ------------------------------------------------------------------------------- */

// Groups and tracks that were opened or closed by hand: "g" and the id of a group's first track, "t"
// and "a" and a track's, of which one row or all are shown.
function folds() {
  const of = (g) => [...(g.open === g.opens || !g.tracks.length ? [] : [`g${g.tracks[0].id}`]),
    ...g.tracks.flatMap((t) => [...(t.few ? [`t${t.id}`] : []), ...(t.open ? [`a${t.id}`] : [])])];
  return [...state.groups.flatMap(of), ...state.awaited.fold].slice(0, FOLDS_MAX).join(",");
}

// Whether it is there to be opened or closed.
function fold(mark) {
  const id = Number(mark.slice(1));
  const group = groupOf(id);
  const track = group?.tracks.find((t) => t.id === id);
  if (mark[0] === "g" && group) group.open = !group.opens;
  else if (track) Object.assign(track, mark[0] === "t" ? { few: true } : { open: true });
  return Boolean(group);
}

// The first track that is seen, how many px of it are not, and "out" where the selection is not.
function topMark() {
  const isOut = state.selected && !inSight(state.selected);
  const line = (top() > 0 || isOut) && state.lines.find((l) => l.track && l.y + l.height > top());
  return line ? `${line.track.id}.${Math.round(top() - line.y)}${isOut ? ".out" : ""}` : "";
}

function restore() {
  const { awaited } = state;
  awaited.fold = awaited.fold.filter((mark) => !fold(mark));
  const [id, px] = awaited.top.split(".").map(Number);
  if (awaited.top && groupOf(id)) groupOf(id).open = true;
  layOut();
  const line = awaited.top && state.lines.find((l) => l.track?.id === id);
  if (line) scroller.scrollTop = line.y + (px || 0);
}

const isRange = ([from, to]) => Number(to) > Number(from);
const spanOf = (text) => text?.match(/^(-?\d+)\.\.(-?\d+)$/)?.slice(1).map(BigInt);

function keepAddress() {
  const query = new URLSearchParams(location.search);
  const put = (key, value) => (value ? query.set(key, value) : query.delete(key));
  const ps = (t) => BigInt(Math.round(t)).toString();
  query.delete("at");
  put("range", state.range?.map((t) => (typeof t === "bigint" ? t.toString() : ps(t))).join(".."));
  put("from", ps(state.view.from));
  put("to", ps(state.view.to));
  put("sel", state.selected?.id ?? state.awaited.sel);
  put("top", state.awaited.top || topMark());
  put("fold", folds());
  put("marks", state.marks.map(ps).join(","));
  put("q", searchBox.value.trim());
  history.replaceState(null, "", `?${query}`);
}

function readAddress() {
  const query = new URLSearchParams(location.search);
  const [from, to] = ["from", "to"].map((key) => Number(query.get(key) ?? NaN));
  const at = spanOfPerfetto(query.get("at"), state.origin_ns) ?? spanOf(query.get("range"));
  state.marks = (query.get("marks") ?? "").split(",").filter(Boolean).map(Number).filter(Number.isFinite).sort((a, b) => a - b);
  searchBox.value = query.get("q") ?? "";
  Object.assign(state.awaited, { sel: query.get("sel"), top: query.get("top") ?? "",
    fold: (query.get("fold") ?? "").split(",").filter((mark) => /^[gta]\d+$/.test(mark)) });
  state.bring = !(to > from) ? show : state.awaited.top.endsWith(".out") ? null : reveal;
  fill();
  restore();
  const room = at && Number(at[1] - at[0]) * 0.75;
  if (to > from) look(from, to);
  else if (at) look(Number(at[0]) - room, Number(at[1]) + room);
  else look(firstView().from, firstView().to);
  if (at && isRange(at)) {
    state.range = at;
    showRange(at);
  }
  selectAwaited(false);
  countHits();
}

// The event that the address names, if its track is there, or is not to come.
function selectAwaited(isLast) {
  const { sel } = state.awaited;
  if (!sel || !(isLast || groupOf(Number.parseInt(sel, 10)) || !/^\d+\.\d+\.\d+$/.test(sel))) return;
  state.awaited.sel = null;
  select(sel, state.bring);
}

/* ---- The pointer ----------------------------------------------------------------------------- */

let drag = null;
let pinch = null; // two fingers: the times under them
const fingers = new Map(); // pointers that are down → x

// From the touch that it begins with a pinch is ours, not the page's.
for (const type of ["touchstart", "touchmove"])
  canvas.addEventListener(type, (event) => event.touches.length > 1 && event.preventDefault(), { passive: false });

const spread = () => [...fingers.values()].sort((a, b) => a - b);

// Both fingers stay on their times.
function movePinch() {
  const [x, end] = spread();
  const scale = (pinch[1] - pinch[0]) / Math.max(10, end - x);
  const from = (pinch[0] + pinch[1]) / 2 - ((x + end) / 2 - left()) * scale;
  look(from, from + (canvas.clientWidth - left()) * scale);
}

canvas.addEventListener("pointerdown", (event) => {
  if (event.button) return;
  canvas.setPointerCapture(event.pointerId);
  state.byKeys = false;
  fingers.set(event.pointerId, event.offsetX);
  pinch = fingers.size === 2 ? spread().map(psAt) : null;
  const ranging = event.shiftKey || event.offsetY < RULER;
  drag = fingers.size > 1 ? null
    : { x: event.offsetX, y: event.offsetY, top: scroller.scrollTop, view: state.view, ranging, moved: false, at: psAt(event.offsetX) };
});

canvas.addEventListener("pointermove", (event) => {
  pointer = psAt(event.offsetX);
  if (fingers.has(event.pointerId)) fingers.set(event.pointerId, event.offsetX);
  if (pinch) return movePinch();
  if (!drag) return fingers.size ? undefined : showTip(event);
  hideTip();
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

function lift(event) {
  fingers.delete(event.pointerId);
  pinch = null;
}

canvas.addEventListener("pointerup", (event) => {
  const was = drag;
  drag = null;
  lift(event);
  if (!was) return;
  if (was.moved && was.ranging) return setRange(state.range);
  if (was.moved) return;
  const on = hit(event.offsetX, event.offsetY);
  if (on.line) state.at = placeIn(on.line, on.r);
  if (on.name) toggle(on.line);
  else choose(on);
});
canvas.addEventListener("pointercancel", (event) => {
  drag = null;
  lift(event);
});
canvas.addEventListener("pointerleave", () => {
  pointer = null;
  hideTip();
});
for (const type of ["focus", "blur"]) canvas.addEventListener(type, draw);
// Whoever scrolls has left the place that the address names.
for (const type of ["wheel", "pointerdown", "keydown"])
  scroller.addEventListener(type, () => (state.awaited.top = ""), { passive: true });

canvas.addEventListener("wheel", (event) => {
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    zoom(Math.exp(Math.max(-50, Math.min(50, event.deltaY)) * 0.01), psAt(event.offsetX));
  } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    event.preventDefault();
    pan((event.deltaX || event.deltaY) / canvas.clientWidth);
  }
}, { passive: false });

/* ---- The tip --------------------------------------------------------------------------------- */

let tipId = ""; // of the event that it is about
let tipTimer = 0;
let tipAsking = null;

function leaveTip() {
  clearTimeout(tipTimer);
  tipAsking?.abort();
  tipId = "";
}

function hideTip() {
  leaveTip();
  tip.hidden = true;
}

// Beside the pointer, but inside of the rows.
function putTip(text, { offsetX, offsetY }) {
  Object.assign(tip, { textContent: text, hidden: false });
  Object.assign(tip.style, { left: "0", top: "0" });
  const { offsetWidth: w, offsetHeight: h } = tip;
  const y = offsetY + 16 + h > scroller.clientHeight ? offsetY - 8 - h : offsetY + 16;
  Object.assign(tip.style, { left: `${Math.max(0, Math.min(offsetX + 12, canvas.clientWidth - w))}px`, top: `${Math.max(0, y)}px` });
}

const oneText = ({ name, dur_ps }) => [name === "" ? "(no name)" : name, dur_ps === undefined ? undefined : lengthText(dur_ps)]
  .filter((part) => part !== undefined).join(", ") || "…";

function runText(row, i) {
  const [from, to] = [row.start[i], row.start[i] + row.dur[i]].map((t) => timeText(t, Math.max(1, row.pixel / 10)));
  return `${eventsText(row.count[i])} from ${from} to ${to}; click to open`;
}

// A single event whose name or length the window does not tell is asked for, if the pointer stays.
function tellOf({ line, r, row, i }, event) {
  const id = idOf(line.track, r, row, i);
  const known = source.known(row, i, id);
  putTip(oneText(known), event);
  if (id === tipId || (known.name !== undefined && known.dur_ps !== undefined)) return;
  leaveTip();
  tipId = id;
  tipTimer = setTimeout(async () => {
    tipAsking = new AbortController();
    const whole = await source.tell(id, tipAsking.signal).catch(() => null);
    if (whole && tipId === id) putTip(oneText(whole), event);
  }, TIP_MS);
}

// Of a name that is cut, all of it.
function nameTip({ line }, event) {
  const isCut = line.track && pen.width(signedName(line.track, line.open)) > (line.head ? canvas.clientWidth - 8 : left() - 16);
  if (isCut) putTip(trackName(line.track), event);
  else tip.hidden = true;
}

function showTip(event) {
  const on = hit(event.offsetX, event.offsetY);
  const isOne = on.row?.count[on.i] === 1;
  if (!isOne) leaveTip();
  if (isOne) tellOf(on, event);
  else if (on.row) putTip(runText(on.row, on.i), event);
  else if (on.name) nameTip(on, event);
  else tip.hidden = true;
}

away.addEventListener("click", aim);

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
  ArrowUp: () => moveRow(-1), ArrowDown: () => moveRow(1), k: () => moveRow(-1), j: () => moveRow(1), " ": toggleGroup, o: toggleTrack,
  PageUp: () => (scroller.scrollTop -= scroller.clientHeight / 2), PageDown: () => (scroller.scrollTop += scroller.clientHeight / 2),
  Home: () => look(state.extent.from, state.extent.from + state.view.to - state.view.from),
  End: () => look(state.extent.to - (state.view.to - state.view.from), state.extent.to),
  f: fit, n: () => find(false), N: () => find(true), m: mark, Enter: enter, ",": () => step(-1), ".": () => step(1),
  r: () => {
    const [from, to] = [Math.max(state.view.from, state.extent.from), Math.min(state.view.to, state.extent.to + 1)];
    if (from < to) setRange([from, to]);
  },
  Escape: () => {
    if (!state.selected && !state.range) state.at = null;
    deselect();
  },
};
canvas.setAttribute("aria-keyshortcuts", Object.keys(keys).map((key) => ({ " ": "Space", "+": "Plus" })[key] ?? key).join(" "));

// In the timeline all of them; elsewhere on the page those that scroll or press nothing there.
addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, textarea, select");
  const elsewhere = event.target !== canvas && (event.key.length > 1 || event.key === " ");
  if (typing || elsewhere || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
searchBox.addEventListener("input", () => {
  found.textContent = "";
  changed();
});
searchBox.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    searchBox.value = "";
    found.textContent = "";
    changed();
  }
  if (event.key === "Enter" || event.key === "Escape") canvas.focus();
  if (event.key === "Enter") find(event.shiftKey);
});

/* ---- Begin ----------------------------------------------------------------------------------- */

function notesOf(all) {
  const notes = [eventsText(all.events)];
  const overlaid = state.groups.flatMap((g) => g.tracks).reduce((n, t) => n + t.overlaid, 0);
  if (all.empty) notes.push(`${all.empty} ${all.empty === 1 ? "track" : "tracks"} without events not shown`);
  if (overlaid) notes.push(`${eventsText(overlaid)} ${overlaid === 1 ? "overlaps" : "overlap"} others in the last row of their track`);
  if (all.left_out) notes.push(`${eventsText(all.left_out)} not shown (limit reached)`);
  if (all.tracks_left_out) notes.push(`${all.tracks_left_out.toLocaleString("en")} ${all.tracks_left_out === 1 ? "track" : "tracks"} not shown (limit reached)`);
  if (all.partial) notes.push("the file is damaged or truncated; the readable part is shown");
  return notes.join("; ");
}

const noteLine = make("p", { className: "muted" });

// Groups of one name are told apart by their process.
function entitle() {
  const times = new Map();
  for (const { name } of state.groups) times.set(name, (times.get(name) ?? 0) + 1);
  for (const group of state.groups) {
    const pid = times.get(group.name) > 1 && group.pid !== undefined ? ` (${group.pid})` : "";
    group.title = `${group.name || "(no name)"}${pid}`;
    for (const track of group.tracks) track.group = group.title;
  }
}

function place() {
  const shown = state.groups.some((g) => g.device) ? (g) => g.device : () => true;
  for (const group of state.groups) group.open = group.opens = shown(group) || state.groups.length < 4;
  entitle();
  root.append(bar, map, make("div", { className: "stage" }, scroller, tip), noteLine, where, details, table);
}

// Rows of the analysis above those of their devices, what concerns the whole host on top. What is
// seen of the others stays where it is.
function addAnalysis(groups) {
  const seen = top() > 0 && state.lines.find((l) => l.y + l.height > top());
  const wasInSight = state.selected && inSight(state.selected);
  source.derivedFrom = Math.min(...groups.flatMap((g) => g.tracks.map((t) => t.id)));
  let first = 0;
  for (const group of groups) {
    const at = state.groups.findIndex((g) => g.device && g.name === group.of);
    group.open = group.opens = at < 0 || state.groups[at].opens;
    state.groups.splice(at < 0 ? first++ : at, 0, group);
  }
  entitle();
  measureNames();
  resize();
  const now = seen && state.lines.find((l) => l.track === seen.track && l.group === seen.group);
  if (now) scroller.scrollTop += now.y - seen.y;
  if (wasInSight) reveal(state.selected);
}

// What comes with the report, which takes longer than the first slices.
async function analyse(all) {
  noteLine.textContent = `${notesOf(all)}; analysis tracks are loading`;
  try {
    const { analysis } = await source.analysed();
    if (analysis?.length) addAnalysis(analysis);
    noteLine.textContent = `${notesOf(all)}${analysis ? "" : "; no analysis tracks"}`;
  } catch (error) {
    noteLine.textContent = `${notesOf(all)}; no analysis: ${error.message}`;
  }
  restore();
  state.awaited.top = "";
  state.awaited.fold = [];
  selectAwaited(true);
  if (state.range) showRange(state.range);
  countHits();
  root.dataset.analysed = "yes";
  changed();
}

async function begin() {
  say("Reading the trace …");
  const all = await source.tracks();
  if (!all.events) return say("This trace has no events with a time.");
  state.groups = all.groups;
  state.origin_ns = all.file_origin_ns;
  state.extent = { from: all.from_ps, to: Math.max(all.to_ps, all.from_ps + leastSpan(all.from_ps)) };
  state.view = { ...state.extent };
  place();
  pen = new CanvasPen(canvas);
  minipen = new CanvasPen(minimap);
  measureNames();
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
    noteLine.textContent += `; no steps and findings on the map: ${error.message}`;
  }
  root.dataset.marked = "yes";
}

begin().catch((error) => say(`The timeline could not be shown: ${error.message}`, true));
