// Two timelines: run A above run B, pair by pair of tracks, from the same moment of each, and
// coloured by what an op takes more or less in B. The server says how they lie beside each other;
// the slices are those of each run's own timeline.
import { Source, accepted, lengthText, perfettoRange, recordAt, recordsIn, searchable, seenOf, timeText } from "./timeline_data.js";
import { CanvasPen, GROUP, ROW, RULER, SvgPen, coloursOf, drawGrid, drawRuler, drawTrack, xOf } from "./timeline_draw.js";
import { button, definition, isGood, make, tableOf } from "./timeline_parts.js";

const root = document.getElementById("compare-timeline");
const statusLine = document.getElementById("timeline-status");
const ROWS_SHOWN = 12; // of a track, until its name is clicked
const LEAST_PS = 10; // seen at once
const OPTIONS_MAX = 2000; // steps to pick from; the keys reach all
const EQUAL = 0.01; // of the longer side: less is no difference to the eye
const RING = 8; // px from which on a slice has room for an outline
const BEHIND_ALL = 2n ** 61n; // ps: no event begins there
const ASKED_MAX = 20; // texts that are searched for in a run at once
const PASSED_MAX = 200; // events that are passed by on the way to an op

const makeSide = (key) => {
  const of = (what) => root.dataset[`${key}${what}`];
  return { key, letter: key.toUpperCase(), source: new Source(of("Api"), of("Host")), session: of("Session"), perfetto: of("Perfetto"),
    host: of("Host"), data: new Map(), tracks: new Map(), kinds: new Map(), steps: [], step: -1, base: 0, inFlight: null };
};
const [A, B] = [makeSide("a"), makeSide("b")];
const sides = [A, B];
const other = (side) => (side === A ? B : A);

/* ---- The page -------------------------------------------------------------------------------- */

const canvas = make("canvas", { className: "rows", tabIndex: 0 });
canvas.setAttribute("role", "application");
canvas.setAttribute("aria-label", "Two timelines. W and S zoom, A and D move, F fits, square brackets go from step to step, Enter selects, comma and period go from event to event, N goes to the next hit.");
const spacer = make("div", { className: "spacer" });
const scroller = make("div", { className: "scroller" }, canvas, spacer);
const tip = make("div", { className: "tip", hidden: true });
const cursorText = make("output", { className: "cursor" });
cursorText.setAttribute("aria-live", "off");
const searchBox = make("input", { type: "search", placeholder: "Find ops in both runs", spellcheck: false });
searchBox.setAttribute("aria-label", "Find ops in both runs runs by name");
searchBox.setAttribute("aria-keyshortcuts", "/");
const found = make("output", { className: "muted" });
const steppers = make("span", { className: "tools" });
const bar = make("div", { className: "tools" },
  searchBox, button("‹", "Previous hit (N)", () => find(true)), button("›", "Next hit (n)", () => find(false)), found,
  steppers, make("span", { className: "gap" }),
  button("+", "Zoom in (w)", () => zoom(0.5)), button("−", "Zoom out (s)", () => zoom(2)),
  button("Fit", "Fit the steps, then everything (f)", fit), button("Save SVG", "Save the visible part as SVG", saveSvg));
const notes = make("p", { className: "muted" });
const details = make("aside", { className: "details card" });
details.setAttribute("aria-live", "polite");
details.setAttribute("aria-label", "Details");
const table = make("details", { className: "seen" }, make("summary", { textContent: "The visible rows as a table" }));
const swatch = (names, text) => make("li", {}, make("span", { className: `swatch ${names}` }), text);
const legend = make("ul", { className: "legend" }, swatch("slower", "▲ longer in B"), swatch("faster", "▼ shorter in B"),
  swatch("slower pale", "pale: within the noise"), swatch("equal", "same time in both, or not an op"), swatch("only", "✕ in one run only"),
  swatch("ringed", "outlined: the selected op in both runs"));
legend.setAttribute("aria-label", "Colours");

/* ---- State ----------------------------------------------------------------------------------- */

// Times of the view are ps after the moment that both runs are aligned by.
const state = { view: { from: 0, to: 1 }, all: { from: 0, to: 1 }, groups: [], lines: [], ops: [], byStep: false, perStep: false,
  selected: null, op: -1, cursor: null };
let colours, looks, pen, ratio;
let drawing = 0;
let timer = 0;

const say = (text, isError = false) => {
  statusLine.textContent = text;
  statusLine.classList.toggle("error", isError);
  statusLine.hidden = !text;
};

/* ---- Differences ----------------------------------------------------------------------------- */

// What a row of the comparison says of its slices: a colour, and a sign for who sees none.
function verdict(op) {
  if (!op) return "none";
  if (op.new || op.gone) return "only";
  if (op.delta_ps === null || Math.abs(op.delta_ps) <= EQUAL * Math.max(op.a_ps, op.b_ps)) return "equal";
  return `${op.delta_ps > 0 ? "slower" : "faster"}${op.significant ? "" : " pale"}`;
}

const SIGNS = { slower: "▲ ", faster: "▼ ", only: "✕ ", equal: "", none: "" };

function makeLooks() {
  const style = getComputedStyle(root);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  looks = state.ops.concat(null).map((op) => {
    const [word, pale] = verdict(op).split(" ");
    const color = word === "equal" || word === "none" ? of("idle") : of(word);
    return { color, alpha: pale ? 0.45 : word === "none" ? 0.6 : 1, sign: SIGNS[word], striped: word === "only" };
  });
  for (const side of sides)
    side.fill = (row, i) => looks[side.kinds.get(row.kind[i]) ?? state.ops.length];
}

const fromStart = (t, step) => `${timeText(Math.abs(t), step)} ${t < 0 ? "before" : "after"} the start`;
const signed = (ps) => (ps === null ? "unknown" : `${ps > 0 ? "+" : ""}${lengthText(ps)}`);
const inSpan = () => (state.perStep ? "a step" : "in the window");

function differenceText(op) {
  if (!op) return "not in the comparison";
  if (op.new) return `only in B, ${lengthText(op.b_ps)} ${inSpan()}`;
  if (op.gone) return `only in A, ${lengthText(op.a_ps)} ${inSpan()}`;
  const share = op.a_ps > 0 ? `, ${op.delta_ps > 0 ? "+" : ""}${((100 * op.delta_ps) / op.a_ps).toFixed(1)}%` : "";
  const word = verdict(op) === "equal" ? "same time in both" : op.delta_ps > 0 ? "longer in B" : "shorter in B";
  return `${word}: ${signed(op.delta_ps)} ${inSpan()}${share}${op.significant ? "" : ", within the noise"}`;
}

/* ---- Alignment ------------------------------------------------------------------------------- */

const stepOf = (side) => (state.byStep ? side.steps[side.step] : null);

function align() {
  for (const side of sides) side.base = stepOf(side)?.start_ps ?? side.window?.start_ps ?? 0;
  const shown = sides.filter((side) => side.extent);
  state.all = { from: Math.min(...shown.map((s) => s.extent.from - s.base)), to: Math.max(...shown.map((s) => s.extent.to - s.base)) };
  if (state.all.to - state.all.from < LEAST_PS) state.all.to = state.all.from + LEAST_PS;
}

// The longer of the two steps, or of the two windows.
function aligned() {
  const length = Math.max(LEAST_PS, ...sides.map((side) => (stepOf(side) ?? side.window)?.dur_ps ?? 0));
  return { from: -length * 0.04, to: length * 1.04 };
}

const stepName = (side) => (stepOf(side).number === undefined ? `the ${side.step + 1}th step` : `step ${stepOf(side).number}`);

function alignedText() {
  if (!state.byStep) {
    const lacking = sides.filter((side) => side.extent && !side.steps.length).map((side) => side.letter);
    const of = sides.every((side) => !side.extent || side.window.of === "device") ? "the first op of their devices" : "their first device op or event";
    return `${lacking.join(" and ") || "One run"} ${lacking.length > 1 ? "have" : "has"} no steps: both runs are aligned by ${of}.`;
  }
  const [a, b] = [stepOf(A), stepOf(B)];
  const more = b.dur_ps - a.dur_ps;
  return `Aligned by the start of ${stepName(A)} of A (${lengthText(a.dur_ps)}) and ${stepName(B)} of B (${lengthText(b.dur_ps)}), which takes ${
    more === 0 ? "as long" : `${lengthText(Math.abs(more))} ${more > 0 ? "more" : "less"}`}.`;
}

function choose(side, step) {
  side.step = Math.min(Math.max(step, 0), side.steps.length - 1);
  const select = document.getElementById(`step-${side.key}`);
  if (select && !select.options[side.step]) select.append(option(side, side.step));
  if (select) select.value = String(side.step);
}

function moveSteps(change) {
  if (!state.byStep) return;
  for (const side of sides) choose(side, change(side));
  align();
  sayNotes();
  look(state.view.from, state.view.to);
}

function option(side, i) {
  const { number, dur_ps, partial } = side.steps[i];
  const text = `step ${number ?? i + 1}, ${lengthText(dur_ps)}${i === side.median ? ", the median" : ""}${partial ? ", not counted" : ""}`;
  return make("option", { value: String(i), textContent: text });
}

function makeSteppers() {
  if (!state.byStep) return;
  for (const side of sides) {
    const select = make("select", { id: `step-${side.key}` });
    select.append(...side.steps.slice(0, OPTIONS_MAX).map((_, i) => option(side, i)));
    select.addEventListener("change", () => moveSteps((s) => (s === side ? Number(select.value) : s.step)));
    steppers.append(make("label", {}, `${side.letter} `, select));
  }
  steppers.append(button("‹", "Previous step of both runs ([)", () => moveSteps((s) => s.step - 1)),
    button("›", "Next step of both runs (])", () => moveSteps((s) => s.step + 1)));
}

/* ---- Layout ---------------------------------------------------------------------------------- */

const narrow = () => canvas.clientWidth < 700;
const left = () => (narrow() ? 0 : 210);
const top = () => scroller.scrollTop;

function layOut() {
  const lines = [];
  const head = narrow() ? 15 : 0;
  let y = 0;
  for (const group of state.groups) {
    lines.push({ group, y, height: GROUP });
    y += GROUP;
    for (const pair of group.open ? group.pairs : []) {
      for (const [side, track] of pair.tracks) {
        const rows = Math.min(track.rows, pair.open ? track.rows : ROWS_SHOWN);
        const height = head + rows * ROW + 4;
        lines.push({ pair, side, track, y, height, rows, head });
        y += height;
      }
    }
  }
  state.lines = lines;
  spacer.style.height = `${Math.max(0, y + RULER - scroller.clientHeight)}px`;
}

function seenLines(margin = 0) {
  const [from, to] = [top() - margin, top() + scroller.clientHeight + margin]; // once: each reading asks for the layout
  return state.lines.filter((l) => l.track && l.y + l.height > from && l.y < to);
}
const viewOf = (side) => ({ from: state.view.from + side.base, to: state.view.to + side.base });
const widthPx = () => Math.max(50, canvas.clientWidth - left());

async function loadSide(side) {
  const view = viewOf(side);
  const span = view.to - view.from;
  const ids = seenLines(scroller.clientHeight / 2).filter((l) => l.side === side).map((l) => l.track.id)
    .filter((id) => !isGood(side.data.get(id), view, side.extent, span / widthPx())).slice(0, 200);
  if (!ids.length) return;
  side.inFlight?.abort();
  side.inFlight = new AbortController();
  try {
    const got = await side.source.slices(view.from - span, view.to + span, Math.min(widthPx() * 3, 16384), ids, side.inFlight.signal);
    for (const id of ids) side.data.set(id, got.get(id) ?? { from: -Infinity, to: Infinity, pixel: 1, rows: [] });
    draw();
    if (table.open) fillTable();
  } catch (error) {
    if (error.name !== "AbortError") say(`${side.letter} could not be loaded: ${error.message}`, true);
  }
}

function changed() {
  draw();
  clearTimeout(timer);
  timer = setTimeout(() => {
    for (const side of sides) if (side.extent) loadSide(side);
    keepAddress();
    if (table.open) fillTable();
  }, 15);
}

/* ---- Drawing --------------------------------------------------------------------------------- */

const scene = () => ({ width: canvas.clientWidth, height: scroller.clientHeight, left: left(), top: top(), view: state.view, colours });

function drawSteps(on, s, line, y) {
  for (const step of line.side.steps) {
    const end = step.start_ps + step.dur_ps;
    if (end < s.view.from || step.start_ps > s.view.to) continue;
    for (const at of [step.start_ps, end]) // not through the name over the rows
      if (xOf(s, at) >= s.left) on.rect(xOf(s, at), y + line.head, 1, line.height - line.head, colours.link, 0.7);
  }
}

// A colour or a paleness would say something of the op. What is too narrow has a bar below it, where
// rows have their gap.
function drawRing(on, s, row, i, y) {
  const x = Math.max(s.left, xOf(s, row.start[i]));
  const w = Math.min(s.width, xOf(s, row.start[i] + row.dur[i])) - x;
  if (row.count[i] === 1 && w >= RING) on.frame(x, y - 1, w - 1, ROW, colours.soft);
  else on.rect(x, y + ROW - 2, Math.max(1, w), 2, colours.soft);
}

// The slices of the selected op.
function drawOp(on, s, line, y) {
  const rows = s.data.get(line.track.id)?.rows ?? [];
  for (let r = 0; state.op >= 0 && r < line.rows; r++)
    for (const i of rows[r] ? recordsIn(rows[r], s.view) : [])
      if (line.side.kinds.get(rows[r].kind[i]) === state.op) drawRing(on, s, rows[r], i, y + line.head + r * ROW);
}

function drawLine(on, all, line, y) {
  const s = { ...all, view: viewOf(line.side), data: line.side.data, names: line.side.source.names, fill: line.side.fill };
  if (line.side === B) on.rect(0, y, all.width, line.height, colours.bg);
  drawTrack(on, s, line, y);
  drawSteps(on, s, line, y);
  drawOp(on, s, line, y);
  const alone = line.pair.tracks.length < 2 ? ` · only in ${line.side.letter}` : "";
  const more = line.track.rows > line.rows ? ` · ${line.rows} of ${line.track.rows} rows` : "";
  const middle = y + (line.head || ROW) / 2 - 0.5;
  on.text(6, middle, 14, line.side.letter, line.side === A ? colours.text : colours.link, true);
  on.text(22, middle, (line.head ? all.width : all.left) - 26, `${line.track.name || `track ${line.track.tid}`}${alone}${more}`, colours.text);
  on.rect(0, y + line.height - 1, all.width, 1, line.side === B || alone ? colours.line : colours.hair);
}

function drawSelected(on, s) {
  const { selected } = state;
  const line = selected && state.lines.find((l) => l.side === selected.side && l.track.id === selected.event.track);
  if (!line) return;
  const y = RULER + line.y - s.top + line.head + Math.min(selected.event.row, line.rows - 1) * ROW;
  const at = selected.event.start_ps - selected.side.base;
  const [x, end] = [Math.max(s.left - 3, xOf(s, at)), Math.min(s.width + 3, xOf(s, at + selected.event.dur_ps))];
  if (end >= x) on.frame(x, y - 1, Math.max(2, end - x), ROW, colours.text);
}

function drawAll(on, pixels = 1) {
  const s = scene();
  on.begin(s.width, s.height, pixels);
  on.rect(0, 0, s.width, s.height, colours.card);
  on.clip(0, RULER, s.width, s.height - RULER);
  for (const line of state.lines) {
    const y = RULER + line.y - s.top;
    if (y + line.height < RULER || y > s.height) continue;
    if (line.track) {
      drawLine(on, s, line, y);
    } else {
      on.rect(0, y, s.width, GROUP - 2, colours.bg);
      on.text(6, y + GROUP / 2 - 1, s.width - 12, `${line.group.open ? "▾" : "▸"} ${line.group.title}`, colours.text, true);
    }
  }
  on.unclip();
  on.clip(s.left, RULER, s.width - s.left, s.height - RULER);
  drawSelected(on, s);
  on.unclip();
  drawRuler(on, s);
  const x = state.cursor === null ? -1 : xOf(s, state.cursor);
  if (x >= s.left && x <= s.width) on.rect(x, 0, 1, s.height, colours.warn);
}

function draw() {
  drawing ||= requestAnimationFrame(() => {
    drawing = 0;
    drawAll(pen, ratio);
    sayCursor();
    root.dataset.drawn = String(Number(root.dataset.drawn ?? 0) + 1);
  });
}

function resize() {
  ratio = devicePixelRatio || 1;
  canvas.style.height = `${scroller.clientHeight}px`;
  canvas.width = Math.max(1, Math.round(canvas.clientWidth * ratio));
  canvas.height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  colours = { ...coloursOf(root), partLabels: [] }; // no slice here has the colour of its part
  makeLooks();
  layOut();
  changed();
}

function saveSvg() {
  const svg = new SvgPen();
  drawAll(svg);
  const url = URL.createObjectURL(new Blob([svg.toString()], { type: "image/svg+xml" }));
  make("a", { href: url, download: "two_timelines.svg" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/* ---- Moving ---------------------------------------------------------------------------------- */

function look(from, to) {
  const all = state.all.to - state.all.from;
  const span = Math.min(Math.max(to - from, LEAST_PS), all * 1.1);
  const start = Math.min(Math.max((from + to - span) / 2, state.all.from - all * 0.05), state.all.to + all * 0.05 - span);
  state.view = { from: start, to: start + span };
  changed();
}

function zoom(factor, at = state.cursor ?? (state.view.from + state.view.to) / 2) {
  const { from, to } = state.view;
  const still = Math.min(Math.max(at, from), to);
  look(still - (still - from) * factor, still + (to - still) * factor);
}

function pan(share) {
  const by = (state.view.to - state.view.from) * share;
  look(state.view.from + by, state.view.to + by);
}

function fit() {
  const near = aligned();
  const is = Math.abs(state.view.from - near.from) + Math.abs(state.view.to - near.to) < (near.to - near.from) * 0.1;
  if (is) look(state.all.from, state.all.to);
  else look(near.from, near.to);
}

const psAt = (x) => state.view.from + ((x - left()) / Math.max(1, canvas.clientWidth - left())) * (state.view.to - state.view.from);

function moveCursor(share) {
  const { from, to } = state.view;
  state.cursor = Math.min(Math.max((state.cursor ?? (from + to) / 2) + (to - from) * share, from), to);
  draw();
}

function sayCursor() {
  if (state.cursor === null) return void (cursorText.textContent = "");
  const step = (state.view.to - state.view.from) / widthPx();
  const share = (side) => (stepOf(side) ? ` (${((100 * state.cursor) / Math.max(1, stepOf(side).dur_ps)).toFixed(1)}% of its step)` : "");
  const place = (side) => `${side.letter} at ${timeText(state.cursor + side.base, step)}${share(side)}`;
  cursorText.textContent = `Cursor ${fromStart(state.cursor, step)}: ${sides.filter((s) => s.extent).map(place).join(", ")}`;
}

/* ---- Selecting ------------------------------------------------------------------------------- */

function hit(x, y) {
  const down = y - RULER + top();
  const line = y < RULER ? null : state.lines.find((l) => down >= l.y && down < l.y + l.height);
  if (!line || line.group || x < left() || down < line.y + line.head) return { line, name: Boolean(line) };
  const r = Math.floor((down - line.y - line.head) / ROW);
  const row = line.side.data.get(line.track.id)?.rows[r];
  const i = row ? recordAt(row, psAt(x) + line.side.base, ((state.view.to - state.view.from) / canvas.clientWidth) * 2) : -1;
  return i >= 0 ? { line, r, row, i } : { line };
}

let asking = null;

// Opens what an event lies in, and scrolls to it.
function reveal(side, event) {
  const has = (pair) => pair.tracks.some(([s, track]) => s === side && track.id === event.track);
  const group = state.groups.find((g) => g.pairs.some(has));
  if (!group) return;
  group.open = true;
  group.pairs.find(has).open ||= event.row >= ROWS_SHOWN;
  layOut();
  const line = state.lines.find((l) => l.side === side && l.track.id === event.track);
  const y = line.y + line.head + event.row * ROW;
  const room = scroller.clientHeight - RULER;
  if (y < top() || y + ROW > top() + room) scroller.scrollTop = y - room / 2;
}

async function select(side, id, move = false) {
  asking?.abort();
  asking = new AbortController();
  try {
    const event = await side.source.event(id, asking.signal);
    state.selected = { side, event };
    state.op = side.kinds.get(event.kind) ?? -1;
    const at = event.start_ps - side.base;
    state.cursor = at;
    showEvent(side, event);
    if (move) reveal(side, event);
    if (move && (at < state.view.from || at > state.view.to)) look(at - (state.view.to - state.view.from) / 2, at + (state.view.to - state.view.from) / 2);
    changed();
  } catch (error) {
    if (error.name !== "AbortError") say(error.message, true);
  }
}

function take({ line, r, row, i }) {
  if (!row) return;
  if (row.count[i] === 1) return select(line.side, `${line.track.id}.${r}.${row.index[i]}`);
  const span = Math.max(row.dur[i], LEAST_PS);
  const at = row.start[i] - line.side.base;
  look(at - span * 0.1, at + span * 1.1); // a run opens
}

function toggle(line) {
  if (line.group) line.group.open = !line.group.open;
  else line.pair.open = !line.pair.open;
  layOut();
  changed();
}

// From the keyboard: the longest event that is seen, from the top.
function chooseFirst() {
  for (const line of seenLines())
    for (let r = 0; r < line.rows; r++) {
      const row = line.side.data.get(line.track.id)?.rows[r];
      const { longest } = seenOf(row, viewOf(line.side));
      if (longest >= 0) return select(line.side, `${line.track.id}.${r}.${row.index[longest]}`);
    }
}

function next(by) {
  if (!state.selected) return chooseFirst();
  const { side, event } = state.selected;
  const [track, row, index] = event.id.split(".").map(Number);
  if (index + by >= 0 && index + by < event.events_of_row) select(side, `${track}.${row}.${index + by}`, true);
}

/* ---- Searching ------------------------------------------------------------------------------- */

// Where a run is searched on from, in the order of both: by time after the moment they are aligned
// by, at one time A before B.
function searchedFrom(side, backwards) {
  const { selected, view } = state;
  const way = backwards ? "before" : "from";
  if (selected?.side === side) return { [backwards ? "before" : "after"]: selected.event.id };
  const at = selected ? selected.event.start_ps - selected.side.base : backwards ? view.to : view.from;
  return { [way]: ps(at + side.base + (selected && side === A ? 1 : 0)) };
}

// The ops that a text names in either run.
function opsOf(text) {
  const has = (name) => name?.toLowerCase().includes(text.toLowerCase());
  return new Set([...state.ops.keys()].filter((i) => has(state.ops[i].name) || has(state.ops[i].name_b)));
}

// What to ask of the runs: the text, and where an op has another name in B, that.
function questions(text, ops) {
  const name = (side, i) => (side === B && state.ops[i].name_b) || state.ops[i].name;
  const texts = (side) => [...ops].map((i) => name(side, i)).map((own) => (own.toLowerCase().includes(text.toLowerCase()) ? text : own));
  return sides.filter((side) => side.extent).flatMap((side) => [...new Set(texts(side))].slice(0, ASKED_MAX).map((q) => ({ side, q: searchable(q) })));
}

// Host events and the rows of the analysis have names of ops, too: they are passed by.
const holdsOps = (side, id) => !side.opTracks.size || side.opTracks.has(id);

async function nextOf({ side, q }, ops, backwards, from) {
  for (let i = 0; i < PASSED_MAX; i++) {
    const { found: event } = await side.source.search({ q, ...from });
    if (!event) return null;
    if (holdsOps(side, event.track) && ops.has(side.kinds.get((await side.source.event(event.id)).kind))) return { side, event };
    from = { [backwards ? "before" : "after"]: event.id };
  }
  throw new Error("too many other events of that name before the next op");
}

// The next event of the ops in both runs, undefined beyond the last.
async function nextOfBoth(text, ops, backwards, from) {
  const hits = await Promise.all(questions(text, ops).map((ask) => nextOf(ask, ops, backwards, from(ask.side))));
  const at = ({ side, event }) => event.start_ps - side.base;
  return hits.filter(Boolean).sort((x, y) => at(x) - at(y)).at(backwards ? -1 : 0); // stable: A comes first
}

async function findNext(backwards) {
  const text = searchBox.value.trim();
  const ops = opsOf(text);
  if (!text) return;
  found.textContent = ops.size ? `${ops.size.toLocaleString("en")} ${ops.size === 1 ? "op" : "ops"}` : "no such op";
  if (!ops.size) return;
  try {
    const hit = await nextOfBoth(text, ops, backwards, (side) => searchedFrom(side, backwards))
      ?? await nextOfBoth(text, ops, backwards, () => (backwards ? { before: BEHIND_ALL } : {})); // round to the other end
    if (hit) await select(hit.side, hit.event.id, true);
  } catch (error) {
    found.textContent = error.message;
  }
}

// One after the other: each goes on from where the one before it came to.
let finding = Promise.resolve();
const find = (backwards) => (finding = finding.then(() => findNext(backwards)));

/* ---- Panels ---------------------------------------------------------------------------------- */

const ps = (t) => BigInt(Math.round(t)).toString();
const link = (href, textContent) => make("li", {}, make("a", { href, textContent }));

// Where the same moment is, in each run's own timeline and in Perfetto.
function ways(side, event, op) {
  const from = event.start_ps - side.base;
  const range = (s) => [from + s.base, from + event.dur_ps + s.base];
  const list = make("ul", { className: "plain" });
  for (const s of sides.filter((one) => one.extent)) {
    const [begin, end] = range(s);
    const query = new URLSearchParams({ host: s.host, ...(s === side ? { sel: event.id } : op ? { q: (s === B && op.name_b) || op.name } : {}) });
    const room = Math.max(end - begin, LEAST_PS) * 5;
    query.set("from", ps(begin - room));
    query.set("to", ps(end + room));
    list.append(link(`${s.session}timeline?${query}`, `Open in the timeline of ${s.letter}`));
    if (end > s.extent.from && begin < s.extent.to) list.append(link(`${s.perfetto}?at=${perfettoRange(Math.max(begin, s.extent.from), end, s.origin_ns)}`, `${s.letter} in Perfetto`));
  }
  if (op) list.append(link(`${root.dataset.compare}#op-${state.op}`, "Open its row of the comparison"));
  return list;
}

function bothSides(op) {
  const [inA, inB] = [!op.new, !op.gone];
  const count = (n) => (n >= 100 ? Math.round(n).toLocaleString("en") : String(Number(n.toPrecision(3))));
  const calls = [inA ? op.span_calls_a : 0, inB ? op.span_calls_b : 0];
  const mean = [op.a_ps, op.b_ps].map((self, i) => (calls[i] > 0 ? Math.round(self / calls[i]) : null));
  const text = (v) => (v === null ? "–" : lengthText(v));
  return tableOf(`${op.name}${op.name_b ? `, in B ${op.name_b}` : ""}, on one device`, ["", "A", "B", "B − A"], [
    [`Self time ${inSpan()}`, text(op.a_ps), text(op.b_ps), signed(op.delta_ps)],
    [`Calls ${inSpan()}`, count(calls[0]), count(calls[1]), `${calls[1] > calls[0] ? "+" : ""}${count(calls[1] - calls[0])}`],
    ["Mean call", text(mean[0]), text(mean[1]), mean.includes(null) ? "–" : signed(mean[1] - mean[0])],
  ]);
}

function showEvent(side, event) {
  const op = state.ops[state.op];
  const parts = [make("h2", { textContent: event.name || "(no name)" }), make("p", {}, make("strong", { textContent: differenceText(op) }))];
  if (op) parts.push(make("div", { className: "scroll" }, bothSides(op)), make("p", { className: "muted", textContent: op.reason ?? "" }));
  parts.push(definition([
    ["Run", `${side.letter}, ${side.name}`], ["Start", `${fromStart(event.start_ps - side.base, 1000)}, ${timeText(event.start_ps, 1000)} in the trace`],
    ["Duration", lengthText(event.dur_ps)], ["Track", `${event.track_name} · ${event.group_name}`],
    ["Scope", event.scope], ["Source", event.source], ["Category", event.category]]), ways(side, event, op));
  details.replaceChildren(...parts);
}

// Of a line, how many events are seen and which is the longest; null where a run of events that are
// not told apart may hide a longer one.
function longestOf({ side, track, rows }) {
  const seen = { side, count: 0, best: null };
  let hides = 0;
  (side.data.get(track.id)?.rows ?? []).slice(0, rows).forEach((row, r) => {
    const of = seenOf(row, viewOf(side));
    seen.count += of.count;
    hides = Math.max(hides, of.hides);
    if (of.longest >= 0 && (!seen.best || row.dur[of.longest] > seen.best.row.dur[seen.best.i]))
      seen.best = { row, i: of.longest, id: `${track.id}.${r}.${row.index[of.longest]}` };
  });
  if (seen.best && seen.best.row.dur[seen.best.i] < hides) seen.best = null;
  return seen;
}

// Windows name wide slices only, and round lengths: "…" stands until the server has told the rest.
function longestText({ side, count, best }) {
  if (!best) return count ? "too dense to show separately" : "–";
  const { name, dur_ps } = side.source.known(best.row, best.i, best.id);
  return name === undefined || dur_ps === undefined ? "…" : `${name || "(no name)"} ${lengthText(dur_ps)}`;
}

let telling = null;

function fillTable() {
  telling?.abort();
  const { signal } = (telling = new AbortController());
  const lines = seenLines().map((line) => ({ ...line, ...longestOf(line) }));
  const rows = lines.map(({ side, track, pair, count, best }, i) => [
    track.name || `track ${track.tid}`, `${side.letter}${pair.tracks.length < 2 ? " only" : ""}`, count.toLocaleString("en"),
    longestText(lines[i]), best ? differenceText(state.ops[side.kinds.get(best.row.kind[best.i])]) : "–"]);
  const caption = `From ${timeText(state.view.from, 1000)} to ${timeText(state.view.to, 1000)} after the start of both`;
  const filled = tableOf(caption, ["Track", "Run", "Events", "Longest visible", "Op"], rows, "text");
  table.replaceChildren(table.firstChild, make("div", { className: "scroll" }, filled));
  const cells = filled.querySelectorAll("td:nth-child(4)");
  lines.forEach(async (line, i) => {
    if (cells[i].textContent !== "…") return;
    const event = await line.side.source.tell(line.best.id, signal).catch(() => null);
    if (!signal.aborted) cells[i].textContent = event ? longestText(line) : "unknown";
  });
}

function sayNotes() {
  const alone = sides.map((side) => state.groups.filter((g) => g.names).flatMap((g) => g.pairs).filter((p) => p.tracks.length < 2 && p.tracks[0][0] === side).length);
  const text = [];
  if (sides.every((side) => side.extent)) text.push(alignedText());
  for (const side of sides) {
    if (!side.extent) text.push(`${side.letter} cannot be shown: ${side.error}.`);
    else if (side.error) text.push(`${side.letter} could not be analyzed: ${side.error}.`);
    if (side.partial) text.push(`The file of ${side.letter} is damaged or truncated; the readable part is shown.`);
  }
  if (state.error) text.push(`The runs cannot be compared: ${state.error}.`);
  else if (state.ops.length && !state.ops.some((op) => op.significant)) text.push("No op differs by more than the noise.");
  if (A.extent && B.extent && alone[0] + alone[1])
    text.push(`${alone[0]} ${alone[0] === 1 ? "track" : "tracks"} only in A and ${alone[1]} only in B.`);
  if (state.lacking?.length) text.push(`No analysis tracks for ${state.lacking.join(" and ")}.`);
  if (state.leftOut) text.push(`${state.leftOut.toLocaleString("en")} tracks not shown (limit reached).`);
  notes.textContent = text.join(" ");
}

/* ---- Addresses ------------------------------------------------------------------------------- */

function keepAddress() {
  const query = new URLSearchParams(location.search);
  const put = (key, value) => (value ? query.set(key, value) : query.delete(key));
  put("from", ps(state.view.from));
  put("to", ps(state.view.to));
  for (const side of sides) put(`step_${side.key}`, state.byStep && side.step !== side.median && String(side.step));
  put("q", searchBox.value.trim());
  put("sel", state.selected && `${state.selected.side.key}${state.selected.event.id}`);
  history.replaceState(null, "", `?${query}`);
}

function readAddress() {
  const query = new URLSearchParams(location.search);
  searchBox.value = query.get("q") ?? "";
  for (const side of sides) {
    const given = query.get(`step_${side.key}`) ?? "";
    if (state.byStep) choose(side, /^\d+$/.test(given) ? Number(given) : side.median ?? 0);
  }
  align();
  const [from, to] = ["from", "to"].map((key) => Number(query.get(key) ?? NaN));
  const near = aligned();
  if (to > from) look(from, to);
  else look(near.from, near.to);
  const sel = query.get("sel")?.match(/^([ab])([\d.]+)$/);
  const side = sel && (sel[1] === "a" ? A : B);
  if (side?.extent) select(side, sel[2]);
}

/* ---- The pointer ----------------------------------------------------------------------------- */

let drag = null;

canvas.addEventListener("pointerdown", (event) => {
  if (event.button) return;
  canvas.setPointerCapture(event.pointerId);
  drag = { x: event.offsetX, y: event.offsetY, top: scroller.scrollTop, view: state.view, moved: false };
});

canvas.addEventListener("pointermove", (event) => {
  if (!drag) {
    state.cursor = event.offsetX >= left() ? psAt(event.offsetX) : state.cursor;
    draw();
    return showTip(event);
  }
  tip.hidden = true;
  drag.moved ||= Math.abs(event.offsetX - drag.x) + Math.abs(event.offsetY - drag.y) > 4;
  if (!drag.moved) return;
  const by = ((drag.x - event.offsetX) / widthPx()) * (drag.view.to - drag.view.from);
  if (event.pointerType === "mouse") scroller.scrollTop = drag.top + drag.y - event.offsetY;
  look(drag.view.from + by, drag.view.to + by);
});

canvas.addEventListener("pointerup", (event) => {
  const was = drag;
  drag = null;
  if (!was || was.moved) return;
  const on = hit(event.offsetX, event.offsetY);
  if (on.name) toggle(on.line);
  else take(on);
});
canvas.addEventListener("pointercancel", () => (drag = null));
canvas.addEventListener("pointerleave", () => (tip.hidden = true));

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
  const { line, row, i } = hit(event.offsetX, event.offsetY);
  tip.hidden = !row;
  if (!row) return;
  const many = row.count[i] > 1 ? `${row.count[i].toLocaleString("en")} events, ` : "";
  const name = line.side.source.names.get(row.kind[i]);
  tip.textContent = `${line.side.letter}: ${many}${name ? `${name}, ` : ""}${lengthText(row.dur[i])}; ${differenceText(state.ops[line.side.kinds.get(row.kind[i])])}`;
  tip.style.left = `${Math.max(0, Math.min(event.offsetX + 12, canvas.clientWidth - 240))}px`;
  tip.style.top = `${event.offsetY + 16}px`;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

const keys = {
  w: () => zoom(0.7), s: () => zoom(1 / 0.7), a: () => pan(-0.2), d: () => pan(0.2), "+": () => zoom(0.5), "-": () => zoom(2),
  ArrowLeft: (shift) => (shift ? moveCursor(-0.01) : pan(-0.1)), ArrowRight: (shift) => (shift ? moveCursor(0.01) : pan(0.1)),
  ArrowUp: () => (scroller.scrollTop -= ROW * 2), ArrowDown: () => (scroller.scrollTop += ROW * 2),
  PageUp: () => (scroller.scrollTop -= scroller.clientHeight / 2), PageDown: () => (scroller.scrollTop += scroller.clientHeight / 2),
  Home: () => look(state.all.from, state.all.from + state.view.to - state.view.from),
  End: () => look(state.all.to - (state.view.to - state.view.from), state.all.to),
  f: fit, Enter: chooseFirst, ",": () => next(-1), ".": () => next(1), n: () => find(false), N: () => find(true),
  "[": () => moveSteps((side) => side.step - 1), "]": () => moveSteps((side) => side.step + 1), m: () => moveSteps((side) => side.median ?? side.step),
  Escape: () => {
    Object.assign(state, { selected: null, op: -1, cursor: null });
    details.replaceChildren();
    changed();
  },
};

// In the timelines all of them; elsewhere on the page those that scroll or press nothing there.
addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, textarea, select");
  const elsewhere = event.target !== canvas && event.key.length > 1;
  if (typing || elsewhere || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key](event.shiftKey);
});

searchBox.addEventListener("input", () => {
  found.textContent = "";
  keepAddress();
});
searchBox.addEventListener("keydown", (event) => {
  if (event.key === "Escape") searchBox.value = found.textContent = "";
  if (event.key === "Enter" || event.key === "Escape") canvas.focus();
  if (event.key === "Enter") find(event.shiftKey);
});

/* ---- Begin ----------------------------------------------------------------------------------- */

// A run whose timeline cannot be read has no extent; the comparison says why.
function takeSide(side, told, tracks) {
  Object.assign(side, told, { kinds: new Map(told.kinds), steps: told.steps ?? [] });
  if (!tracks) return void (side.error ??= "its timeline could not be read");
  side.extent = { from: tracks.from_ps, to: Math.max(tracks.to_ps, tracks.from_ps + LEAST_PS) };
  side.origin_ns = tracks.file_origin_ns;
  side.partial = tracks.partial;
  for (const track of tracks.groups.flatMap((g) => g.tracks)) side.tracks.set(track.id, track);
  side.opTracks = new Set([...side.tracks.values()].filter((track) => track.role === "ops").map((track) => track.id));
}

function takeGroups(groups) {
  const device = groups.some((g) => g.device);
  state.groups = groups.map((group) => ({
    title: [...new Set([group.a, group.b].filter((name) => name !== null))].map((name) => name || "(no name)").join(" and ")
      + (group.a === null || group.b === null ? (A.extent && B.extent ? ` · only in ${group.a === null ? "B" : "A"}` : "") : ""),
    names: { a: group.a, b: group.b },
    open: group.device || !device,
    pairs: group.tracks.map(([a, b]) => ({ tracks: [[A, A.tracks.get(a)], [B, B.tracks.get(b)]].filter(([, track]) => track) })).filter((p) => p.tracks.length),
  })).filter((group) => group.pairs.length);
}

// Tracks of the analyses by their names, a pair each; of two with one name the first belongs to the first.
function pairUp(told) {
  const pairs = new Map();
  for (const [side, group] of told) {
    const met = new Map();
    for (const track of group.tracks) {
      met.set(track.name, (met.get(track.name) ?? 0) + 1);
      const key = `${track.name} ${met.get(track.name)}`;
      pairs.set(key, [...(pairs.get(key) ?? []), [side, track]]);
      side.tracks.set(track.id, track);
    }
  }
  return [...pairs.values()].map((tracks) => ({ tracks }));
}

// Groups of the analyses behind those of their devices, and what concerns the whole host at the end.
function addAnalyses(told) {
  const places = new Map();
  for (const [side, groups] of told) {
    if (groups.length) side.source.derivedFrom = Math.min(...groups.flatMap((g) => g.tracks.map((t) => t.id)));
    for (const group of groups) {
      const device = state.groups.find((g) => g.names && g.names[side.key] === group.of);
      const key = device ?? group.name;
      places.set(key, [...(places.get(key) ?? []), [side, group]]);
    }
  }
  for (const [key, all] of places) {
    const names = new Set(all.map(([, group]) => group.name));
    const at = typeof key === "string" ? state.groups.length : state.groups.indexOf(key) + 1;
    state.groups.splice(at, 0, { title: [...names].join(" and "), open: key.open ?? true, pairs: pairUp(all) });
  }
  layOut();
  changed();
}

// What comes with the reports, which take longer than the first slices.
async function analyse() {
  const shown = sides.filter((side) => side.extent);
  const told = await Promise.all(shown.map((side) => side.source.analysed().catch(() => ({}))));
  addAnalyses(shown.map((side, i) => [side, told[i].analysis ?? []]));
  state.lacking = shown.filter((_, i) => !told[i].analysis).map((side) => side.letter);
  sayNotes();
  root.dataset.analysed = "yes";
}

async function begin() {
  const whole = fetch(`${root.dataset.api}?${new URLSearchParams(sides.filter((s) => s.host).map((s) => [`host_${s.key}`, s.host]))}`);
  const [answer, ...tracks] = await Promise.all([whole, ...sides.map((side) => (side.host ? side.source.tracks().catch(() => null) : null))]);
  const told = await (await accepted(answer)).json();
  sides.forEach((side, i) => takeSide(side, told[side.key], tracks[i]));
  Object.assign(state, { ops: told.ops, perStep: told.per_step, error: told.error, leftOut: told.tracks_left_out,
    byStep: sides.every((side) => side.extent && side.steps.length) });
  takeGroups(told.groups);
  root.append(notes, bar, make("div", { className: "stage" }, scroller, tip), cursorText, legend, details, table);
  start();
}

function start() {
  if (!sides.some((side) => side.extent)) {
    for (const part of [bar, legend, table, scroller.parentNode]) part.remove();
    sayNotes();
    return say("Neither timeline can be shown.", true);
  }
  say("");
  makeSteppers();
  pen = new CanvasPen(canvas);
  align();
  resize();
  readAddress();
  sayNotes();
  new ResizeObserver(resize).observe(scroller);
  scroller.addEventListener("scroll", changed);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", resize);
  table.addEventListener("toggle", fillTable);
  analyse();
}

begin().catch((error) => say(`The timelines could not be shown: ${error.message}`, true));
