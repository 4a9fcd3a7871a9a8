// Hands a trace to the Perfetto UI: fetched from our own server, posted into a window that the
// click opened. No permission of the browser is needed, and nothing is uploaded.

const part = document.getElementById("handoff");
const button = document.getElementById("open");
const progress = document.getElementById("progress");
const bar = document.getElementById("bar");
const amount = document.getElementById("amount");
const statusLine = document.getElementById("status");

const { trace: traceUrl, ui: uiUrl, title, file: fileName, start, end, share } = part.dataset;
const uiOrigin = new URL(uiUrl).origin;
const PING_MS = 100;
const SLOW_MS = 15000; // a cold UI over a slow line; from here on we say what may be wrong

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

const closedEarly = () => new Error("The Perfetto tab was closed before it took the trace.");

function adviseWhenSlow(since) {
  if (performance.now() - since < SLOW_MS) return;
  say(
    `Still waiting for ${uiOrigin} to answer. Can this browser reach it? Without it, download ` +
      "the trace below, or serve a Perfetto UI of your own and name it with --perfetto-ui.",
    true
  );
}

// PING until PONG: the UI answers once it has started. A PING says nothing, so it may reach the
// empty page that stands there before the UI does; the trace goes to the UI's origin only.
function answers(ui, signal) {
  const since = performance.now();
  return new Promise((resolve, reject) => {
    const heard = (event) => {
      if (event.source === ui && event.origin === uiOrigin && event.data === "PONG") resolve();
    };
    const timer = setInterval(() => {
      if (ui.closed) reject(closedEarly());
      adviseWhenSlow(since);
      ui.postMessage("PING", "*");
    }, PING_MS);
    addEventListener("message", heard, { signal });
    signal.addEventListener("abort", () => clearInterval(timer));
  });
}

function post(ui, buffer) {
  const goesOn = start !== undefined; // the time follows as a second message
  ui.postMessage(
    { perfetto: { buffer, title, fileName, keepApiOpen: goesOn } },
    uiOrigin,
    [buffer]
  );
  if (goesOn)
    ui.postMessage(
      {
        perfetto: {
          timeStart: Number(start) / 1e9,
          timeEnd: Number(end) / 1e9,
          viewPercentage: Number(share),
        },
      },
      uiOrigin
    );
}

async function handOff(ui) {
  const waiting = new AbortController();
  let buffer;
  try {
    [buffer] = await Promise.all([load(), answers(ui, waiting.signal)]);
  } finally {
    waiting.abort();
  }
  const size = buffer.byteLength;
  post(ui, buffer);
  loading = null; // the buffer went with the message
  say(`Handed ${bytes(size)} to Perfetto.`);
}

button.addEventListener("click", async () => {
  // Inside the click, or the browser blocks it as a popup.
  const ui = window.open(uiUrl, "_blank");
  if (!ui) {
    say("The browser blocked the new tab. Allow popups for this page, then click again.", true);
    return;
  }
  button.disabled = true;
  try {
    await handOff(ui);
  } catch (error) {
    const text = error instanceof RangeError ? "The trace is too large for this tab." : error.message;
    say(`${text} You can download it below.`, true);
  } finally {
    button.disabled = false;
  }
});

button.disabled = false;
if (part.dataset.atOnce !== undefined)
  load().then(
    () => say("The trace is here: one click opens it in Perfetto."),
    (error) => say(`The trace could not be loaded: ${error.message}`, true)
  );
