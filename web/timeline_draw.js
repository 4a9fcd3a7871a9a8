// How a timeline looks: rows, ruler, arrows, minimap, with one pen for a canvas and one for SVG.
import { eventsText, firstAt, lengthText, markName, roundStep, ticks, timeText } from "./timeline_data.js";

export const RULER = 26;
export const ROW = 17;
export const GROUP = 24;
const FONT = "12px system-ui, sans-serif";

/* ---- Pens ------------------------------------------------------------------------------------ */

export class CanvasPen {
  constructor(canvas) {
    this.g = canvas.getContext("2d", { alpha: false });
    this.widths = new Map();
    this.pixels = new Map(); // by colour
    this.strip = document.createElement("canvas");
  }

  begin(width, height, ratio) {
    this.ratio = ratio;
    this.g.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.g.font = FONT;
    this.g.textBaseline = "middle";
  }

  rect(x, y, w, h, color, alpha = 1) {
    this.g.globalAlpha = alpha;
    this.g.fillStyle = color;
    this.g.fillRect(x, y, w, h);
    this.g.globalAlpha = 1;
  }

  // A row is filled in as one line of pixels, since a screen has tens of thousands of slices: spans
  // between beginRow and endRow, on whole pixels.
  beginRow(x, width) {
    const n = Math.max(1, Math.round(width * this.ratio));
    if (this.line?.width !== n) {
      Object.assign(this.strip, { width: n, height: 1 });
      this.line = new ImageData(n, 1);
      this.cells = new Uint32Array(this.line.data.buffer);
    }
    this.cells.fill(0);
    this.x = x;
  }

  span(x, w, color, alpha) {
    const begin = Math.round((x - this.x) * this.ratio);
    const end = Math.max(begin + 1, Math.round((x + w - this.x) * this.ratio));
    const pixel = this.pixelOf(color) | (Math.round(alpha * 255) << 24);
    for (let i = begin; i < end; i++) this.cells[i] = pixel;
  }

  endRow(y, h) {
    this.strip.getContext("2d").putImageData(this.line, 0, 0);
    this.image(this.strip, this.x, y, this.line.width / this.ratio, h);
  }

  image(canvas, x, y, w, h) {
    this.g.imageSmoothingEnabled = false;
    this.g.drawImage(canvas, 0, 0, canvas.width, canvas.height, x, y, w, h);
  }

  // Blue, green and red of a colour, in the order in which image data have them.
  pixelOf(color) {
    if (this.pixels.has(color)) return this.pixels.get(color);
    this.g.fillStyle = color;
    const rgb = Number.parseInt(this.g.fillStyle.slice(1), 16); // "#rrggbb"
    this.pixels.set(color, ((rgb & 0xff) << 16) | (rgb & 0xff00) | (rgb >> 16));
    return this.pixels.get(color);
  }

  frame(x, y, w, h, color) {
    this.g.strokeStyle = color;
    this.g.lineWidth = 2;
    this.g.strokeRect(x, y, w, h);
  }

  // A text cut to a width, with an ellipsis.
  text(x, y, w, text, color, bold = false) {
    this.g.font = bold ? `600 ${FONT}` : FONT;
    const fits = Math.floor(w / 5);
    let shown = text.length > fits * 2 ? text.slice(0, fits * 2) : text;
    while (shown.length > 1 && this.width(shown, bold) > w) {
      const over = this.width(shown, bold) / w;
      shown = `${shown.slice(0, Math.min(shown.length - 2, Math.floor(shown.length / over) - 1))}…`;
      if (shown.length < 3) return;
    }
    this.g.fillStyle = color;
    this.g.fillText(shown, x, y);
  }

  width(text, bold) {
    const key = bold ? `\n${text}` : text;
    if (this.widths.size > 20000) this.widths.clear();
    if (!this.widths.has(key)) {
      this.g.font = bold ? `600 ${FONT}` : FONT;
      this.widths.set(key, this.g.measureText(text).width);
    }
    return this.widths.get(key);
  }

  // points: of a Bézier curve, x and y in turns.
  curve([x, y, ...rest], color) {
    this.g.strokeStyle = color;
    this.g.lineWidth = 1.5;
    this.g.beginPath();
    this.g.moveTo(x, y);
    this.g.bezierCurveTo(...rest);
    this.g.stroke();
  }

  triangle([x, y, ...rest], color) {
    this.g.fillStyle = color;
    this.g.beginPath();
    this.g.moveTo(x, y);
    this.g.lineTo(rest[0], rest[1]);
    this.g.lineTo(rest[2], rest[3]);
    this.g.fill();
  }

  clip(x, y, w, h) {
    this.g.save();
    this.g.beginPath();
    this.g.rect(x, y, w, h);
    this.g.clip();
  }

  unclip = () => this.g.restore();
}

const escaped = (text) =>
  text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd") // no XML holds them, in any form
    .replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

export class SvgPen {
  parts = [];
  clips = 0;

  begin(width, height) {
    this.size = [width, height];
  }

  rect(x, y, w, h, color, alpha = 1) {
    this.parts.push(`<rect x="${x.toFixed(2)}" y="${y}" width="${w.toFixed(2)}" height="${h}" fill="${color}"${
      alpha < 1 ? ` opacity="${alpha.toFixed(2)}"` : ""}/>`);
  }

  beginRow() {
    this.spans = [];
  }

  span(...of) {
    this.spans.push(of);
  }

  endRow(y, h) {
    for (const [x, w, color, alpha] of this.spans) this.rect(x, y, w, h, color, alpha);
  }

  frame(x, y, w, h, color) {
    this.parts.push(`<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="none" stroke="${color}" stroke-width="2"/>`);
  }

  text(x, y, w, text, color, bold = false) {
    const fits = Math.floor(w / 6.5);
    if (fits < 3) return;
    const shown = text.length > fits ? `${text.slice(0, fits - 1)}…` : text;
    this.parts.push(`<text x="${x.toFixed(1)}" y="${y + 4}" fill="${color}"${bold ? ' font-weight="600"' : ""}>${escaped(shown)}</text>`);
  }

  curve(points, color) {
    const [x, y, ...rest] = points.map((v) => v.toFixed(1));
    this.parts.push(`<path d="M${x} ${y}C${rest.join(" ")}" fill="none" stroke="${color}" stroke-width="1.5"/>`);
  }

  triangle(points, color) {
    this.parts.push(`<polygon points="${points.map((v) => v.toFixed(1)).join(" ")}" fill="${color}"/>`);
  }

  clip(x, y, w, h) {
    const id = `c${this.clips++}`;
    this.parts.push(`<clipPath id="${id}"><rect x="${x}" y="${y}" width="${w}" height="${h}"/></clipPath><g clip-path="url(#${id})">`);
  }

  unclip() {
    this.parts.push("</g>");
  }

  toString() {
    const [w, h] = this.size;
    const size = `width="${w}" height="${h}" viewBox="0 0 ${w} ${h}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="system-ui, sans-serif" font-size="12">${this.parts.join("")}</svg>`;
  }
}

/* ---- Colours --------------------------------------------------------------------------------- */

// Of "#rrggbb", as WCAG reckons it: above 0.18 dark text is told better than light one.
function lightness(color) {
  const rgb = Number.parseInt(color.slice(1), 16);
  const linear = [16, 8, 0].map((shift) => (((rgb >> shift) & 0xff) / 255) ** 2.2);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

export function coloursOf(element) {
  const style = getComputedStyle(element);
  const of = (name) => style.getPropertyValue(name).trim();
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const parts = ["--idle", "--comp", "--comm", "--copy"].map(of);
  return {
    card: of("--card"), bg: of("--bg"), text: of("--text"), soft: of("--soft"), line: of("--line"),
    hair: of("--hair"), link: of("--link"), warn: of("--warn"), bad: of("--bad"), idle: of("--idle"),
    slices: Array.from({ length: 256 }, (_, hue) => {
      const turn = Math.round((hue * 360) / 256);
      return dark ? `hsl(${turn} 38% ${34 + (hue % 3) * 4}%)` : `hsl(${turn} 52% ${72 + (hue % 3) * 4}%)`;
    }),
    parts,
    finding: dark ? "hsl(4 52% 40%)" : "hsl(4 72% 80%)",
    label: dark ? "#f2f4f6" : "#15191e",
    partLabels: parts.map((color) => (lightness(color) > 0.18 ? "#15191e" : "#f2f4f6")),
  };
}

/* ---- A scene --------------------------------------------------------------------------------- */

// scene: { width, height, left, top (scrolled), view: { from, to }, lines (layout), data, names,
//          colours, selected, linked, marks, range, at (where the keys are: { group } or { track,
//          r }); fill(row, i): how a slice looks, if not by its name: { color, alpha, sign (before
//          its name), striped } }
export const xOf = (scene, ps) =>
  scene.left + ((ps - scene.view.from) / (scene.view.to - scene.view.from)) * (scene.width - scene.left);

// Of what a device's time went to, as everywhere on our pages; else names that are alike are.
function colourOf({ parts, finding, slices }, track, hue) {
  if (track.derived === "PARTS") return parts[hue] ?? parts[0];
  return track.derived === "FINDINGS" ? finding : slices[hue];
}

const labelOf = ({ partLabels, label }, track, hue) => (track.derived === "PARTS" ? partLabels[hue] ?? label : label);

const LABEL = 26; // px from which on a slice is labelled

function drawRow(pen, scene, track, row, y) {
  const { view, colours, names, left, width } = scene;
  const scale = (width - left) / (view.to - view.from);
  const labels = [];
  pen.beginRow(left, width - left);
  for (let i = firstAt(row, view.from); i < row.n && row.start[i] < view.to; i++) {
    const end = Math.min(width, left + (row.start[i] + row.dur[i] - view.from) * scale);
    if (end < left) continue;
    const x = Math.max(left, left + (row.start[i] - view.from) * scale);
    const w = Math.max(1, end - x);
    const many = row.count[i] > 1;
    const own = scene.fill?.(row, i);
    pen.span(x, w > 2 && !many ? w - 1 : w, own ? own.color : colourOf(colours, track, row.hue[i]),
      (own ? own.alpha : 1) * (many ? 0.35 + 0.65 * row.busy[i] : 1));
    for (let at = x + 4; own?.striped && at < end - 1; at += 6) pen.span(at, 1.5, colours.card, 0.75);
    if (w >= LABEL && !many) labels.push(i, x, w);
  }
  pen.endRow(y, ROW - 2);
  for (let k = 0; k < labels.length; k += 3) {
    const [i, x, w] = [labels[k], labels[k + 1], labels[k + 2]];
    const name = names.get(row.kind[i]);
    if (name) pen.text(x + 4, y + ROW / 2 - 0.5, w - 7, `${scene.fill ? scene.fill(row, i).sign : ""}${name}`, labelOf(colours, track, row.hue[i]));
  }
}

// The rows of a line whose top is at y.
export function drawTrack(pen, scene, line, y) {
  const data = scene.data.get(line.track.id);
  for (let r = 0; r < line.rows; r++) {
    const top = y + line.head + r * ROW;
    if (top + ROW < RULER || top > scene.height) continue;
    if (data?.rows[r]) drawRow(pen, scene, line.track, data.rows[r], top);
    else pen.rect(scene.left, top, scene.width - scene.left, ROW - 2, scene.colours.hair);
  }
}

export const trackName = ({ name, tid }) => name || `track ${tid}`;

// A track's name with the sign of what a click on it does.
export const signedName = (track, isOpen) => `${track.rows > 1 ? (isOpen ? "▾ " : "▸ ") : ""}${trackName(track)}`;

function drawName(pen, scene, line, y) {
  const { colours, left, width } = scene;
  const title = signedName(line.track, line.open);
  if (line.head) pen.text(4, y + line.head / 2, width - 8, title, colours.soft);
  else pen.text(10, y + ROW / 2 - 0.5, left - 16, title, colours.text);
  if (!line.head && line.rows > 1) pen.text(10, y + ROW * 1.5 - 0.5, left - 16, eventsText(line.track.events), colours.soft);
}

// Of a line the place of the keys, where they are in it: { y, height }.
function placeOfKeys({ at }, line, y) {
  if (!at || line.group !== at.group || line.track !== at.track) return null;
  return line.group ? { y, height: GROUP - 2 } : { y: y + line.head + Math.min(at.r, line.rows - 1) * ROW - 1, height: ROW };
}

function drawKeys(pen, scene, line, y) {
  const at = placeOfKeys(scene, line, y);
  if (!at) return;
  pen.rect(0, at.y, scene.width, at.height, scene.colours.link, 0.16);
  pen.frame(3, at.y + 1, (scene.left > 60 ? scene.left : scene.width) - 6, at.height - 2, scene.colours.link);
}

function drawLines(pen, scene) {
  const { colours, width, height } = scene;
  for (const line of scene.lines) {
    const y = RULER + line.y - scene.top;
    if (y + line.height < RULER || y > height) continue;
    if (line.group) {
      pen.rect(0, y, width, GROUP - 2, colours.bg);
      const { title, model } = line.group;
      pen.text(8, y + GROUP / 2 - 1, width - 12, `${line.open ? "▾" : "▸"} ${title}${model ? ` · ${model}` : ""}`, colours.text, true);
      drawKeys(pen, scene, line, y);
      continue;
    }
    drawTrack(pen, scene, line, y);
    drawName(pen, scene, line, y);
    drawKeys(pen, scene, line, y);
    pen.rect(0, y + line.height - 1, width, 1, colours.hair);
  }
}

// Times in one unit, that of the last. How much is shown stands before them, or over them where rows
// have no names beside them.
export function drawRuler(pen, scene) {
  const { colours, width, left, view } = scene;
  const step = roundStep(((view.to - view.from) / Math.max(1, width - left)) * 110);
  const shown = `${lengthText(view.to - view.from)} shown`;
  const first = left > 60 ? left : 20 + shown.length * 7;
  const largest = Math.max(Math.abs(view.from), Math.abs(view.to));
  pen.rect(0, 0, width, RULER, colours.card);
  for (const t of ticks(view, step)) {
    const x = xOf(scene, t);
    pen.rect(x, RULER - 6, 1, 6, colours.soft);
    const text = timeText(t, step, largest);
    if (x >= first - 6 && x + 8 + text.length * 6.5 < width) pen.text(x + 4, RULER / 2, 106, text, colours.soft);
  }
  pen.rect(0, RULER - 1, width, 1, colours.line);
  if (left > 60) pen.rect(0, 0, left, RULER - 1, colours.card);
  pen.text(left > 60 ? 10 : 4, RULER / 2, first - 14, shown, colours.soft);
}

export function drawGrid(pen, scene) {
  const { width, left, view, height, colours } = scene;
  const step = roundStep(((view.to - view.from) / Math.max(1, width - left)) * 110);
  for (const t of ticks(view, step))
    pen.rect(xOf(scene, t), RULER, 1, height - RULER, colours.hair);
}

// Where an event is drawn: { x, y, w }, or null where its track is not.
export function placeOf(scene, event) {
  const line = scene.lines.find((l) => l.track?.id === event.track);
  if (!line) return null;
  const row = Math.min(event.row, line.rows - 1);
  const x = xOf(scene, event.start_ps);
  return { x, y: RULER + line.y - scene.top + line.head + row * ROW,
    w: Math.max(2, xOf(scene, event.start_ps + event.dur_ps) - x) };
}

const HEAD = 6; // px, of an arrow

// From the end of a slice to the begin of one that comes later.
function drawForwards(pen, a, b, color) {
  const [x, y, end, to] = [a.x + a.w, a.y + ROW / 2 - 1, b.x - HEAD, b.y + ROW / 2 - 1];
  const bend = Math.max(8, (end - x) / 2);
  pen.curve([x, y, x + bend, y, end - bend, to, end, to], color);
  pen.triangle([b.x, to, end, to - HEAD / 2, end, to + HEAD / 2], color);
}

// Between slices of which one begins while the other lasts: from edge to edge.
function drawAcross(pen, a, b, color) {
  const down = b.y > a.y ? 1 : -1;
  const [y, tip] = down > 0 ? [a.y + ROW - 2, b.y] : [a.y, b.y + ROW - 2];
  const [x, to] = [Math.min(Math.max(b.x, a.x), a.x + a.w), b.x + Math.min(HEAD / 2, b.w / 2)];
  const [end, bend] = [tip - down * HEAD, down * Math.max(6, Math.abs(tip - y) / 3)];
  pen.curve([x, y, x, y + bend, to, end - bend, to, end], color);
  pen.triangle([to, tip, to - HEAD / 2, end, to + HEAD / 2, end], color);
}

function drawArrow(pen, a, b, color) {
  if (a.x + a.w + 2 * HEAD <= b.x || a.y === b.y) drawForwards(pen, a, b, color);
  else drawAcross(pen, a, b, color);
}

function drawSelected(pen, scene) {
  const at = scene.selected && placeOf(scene, scene.selected);
  if (!at) return;
  for (const other of scene.linked) {
    const to = placeOf(scene, other);
    if (!to) continue;
    const [a, b] = other.start_ps >= scene.selected.start_ps ? [at, to] : [to, at];
    drawArrow(pen, a, b, scene.colours.link);
  }
  const x = Math.max(scene.left - 3, at.x);
  const end = Math.min(scene.width + 3, at.x + at.w);
  if (end > x) pen.frame(x, at.y - 1, end - x, ROW, scene.colours.text);
}

function drawMarks(pen, scene) {
  const { colours, height, left, width } = scene;
  if (scene.range) {
    const [a, b] = scene.range.map((t) => Math.min(width, Math.max(left, xOf(scene, Number(t)))));
    pen.rect(a, 0, Math.max(1, b - a), height, colours.link, 0.16);
  }
  scene.marks.forEach((t, i) => {
    const x = xOf(scene, t);
    if (x < left || x > width) return;
    pen.rect(x, 0, 1.5, height, colours.warn);
    const name = markName(i);
    pen.rect(x + 1, 1, 6 + 9 * name.length, 15, colours.card);
    pen.text(x + 4, 9, 40, name, colours.warn, true);
  });
  for (const f of scene.findings) {
    const [x, end] = [xOf(scene, f.start_ps), xOf(scene, f.start_ps + f.dur_ps)];
    if (end >= left && x <= width) pen.rect(Math.max(left, x), RULER - 4, Math.max(3, Math.min(width, end) - Math.max(left, x)), 4, colours.bad);
  }
}

export function drawScene(pen, scene, ratio = 1) {
  const { width, height, left, colours } = scene;
  pen.begin(width, height, ratio);
  pen.rect(0, 0, width, height, colours.card);
  drawGrid(pen, scene);
  pen.clip(0, RULER, width, height - RULER);
  drawLines(pen, scene);
  pen.unclip();
  pen.clip(left, RULER, width - left, height - RULER);
  drawSelected(pen, scene);
  pen.unclip();
  drawRuler(pen, scene);
  drawMarks(pen, scene);
}

// All of the trace in one strip, but for what is seen: steps and findings. Of those that begin in
// one pixel the first is drawn.
export function makeMinimap(width, height, ratio, { colours, extent, steps, findings }) {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: Math.max(1, Math.round(width * ratio)), height: Math.max(1, Math.round(height * ratio)) });
  const pen = new CanvasPen(canvas);
  const at = (ps) => ((ps - extent.from) / (extent.to - extent.from)) * width;
  const apart = (list) => {
    let last = -1;
    return list.filter(({ start_ps }) => {
      const x = Math.floor(at(start_ps) * ratio);
      return x !== last && ((last = x), true);
    });
  };
  pen.begin(width, height, ratio);
  pen.rect(0, 0, width, height, colours.card);
  apart(steps).forEach((s, i) => {
    const x = at(s.start_ps);
    pen.rect(x, 6, Math.max(1, at(s.start_ps + s.dur_ps) - x - 0.5), height - 12, i % 2 ? colours.soft : colours.idle, 0.6);
  });
  for (const f of apart(findings)) pen.rect(at(f.start_ps), 0, Math.max(2, at(f.start_ps + f.dur_ps) - at(f.start_ps)), 5, colours.bad);
  return canvas;
}

// The strip, and what is seen of it.
export function drawMinimap(pen, strip, width, height, ratio, { colours, extent, view }) {
  const at = (ps) => ((ps - extent.from) / (extent.to - extent.from)) * width;
  pen.begin(width, height, ratio);
  pen.image(strip, 0, 0, width, height);
  const [a, b] = [Math.max(0, at(view.from)), Math.min(width, at(view.to))];
  pen.rect(a, 0, Math.max(2, b - a), height, colours.link, 0.22);
  pen.frame(a, 1, Math.max(2, b - a), height - 2, colours.link);
}
