// Programs that run now and can be told to record, and those that were captured over the network:
// one list, a line each, with a button that captures and leads to the new run; and the form for others.

const part = document.getElementById("programs");
const LIVE = "./api/v1/live";
const POLL_MS = 3000;
const FOLLOW_MS = 400;
const FOLLOW_FOR_MS = 600000; // a step may take minutes

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const rows = new Map(); // pid → its line, which keeps its focus and what it says

async function ask(options) {
  const answer = await fetch(options?.url ?? LIVE, options);
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error);
  return body.live;
}

const doing = { armed: "waiting for its next step", recording: "records", writing: "writing a run" };

function describe(row, now) {
  const steps = now.steps === 1 ? ", 1 step so far" : now.steps ? `, ${now.steps} steps so far` : "";
  const state = doing[now.state] ? `, ${doing[now.state]}` : "";
  row.name.textContent = `${now.program} (process ${now.pid})${steps}${state}`;
}

// Until the capture that was asked for is a run of the list, or the program is gone.
async function follow(row, before) {
  for (const end = Date.now() + FOLLOW_FOR_MS; Date.now() < end; await sleep(FOLLOW_MS)) {
    const now = (await ask()).find((p) => p.pid === before.pid);
    if (!now) throw new Error("The program has ended.");
    describe(row, now);
    if (now.captures === before.captures && now.state === "idle" && now.error)
      throw new Error(now.error);
    if (now.captures === before.captures) continue;
    if (now.session) return location.assign(`./session/${now.session}/`);
    row.tries = (row.tries ?? 0) + 1;
    if (row.tries > 10) {
      row.status.textContent = "The run was written to another directory.";
      return;
    }
  }
}

async function capture(row) {
  row.button.disabled = true;
  row.tries = 0;
  row.status.textContent = "Capturing…";
  try {
    const before = (await ask()).find((p) => p.pid === row.pid);
    if (!before) throw new Error("The program has ended.");
    const headers = { "Content-Type": "application/json" };
    await ask({ url: `${LIVE}/${row.pid}/capture`, method: "POST", headers, body: "{}" });
    await follow(row, before);
  } catch (error) {
    row.status.textContent = error.message;
  } finally {
    row.button.disabled = false;
  }
}

function line(label, begin) {
  const row = {
    line: document.createElement("p"),
    name: document.createElement("span"),
    button: document.createElement("button"),
    status: document.createElement("span"),
  };
  Object.assign(row.button, { type: "button", className: "button", textContent: "Capture" });
  row.button.setAttribute("aria-label", label);
  Object.assign(row.status, { className: "muted" });
  row.status.setAttribute("role", "status");
  row.button.addEventListener("click", () => begin(row));
  row.line.append(row.button, " ", row.name, " ", row.status);
  part.append(row.line);
  return row;
}

function add(pid) {
  const row = Object.assign(line(`Capture process ${pid}`, capture), { pid });
  rows.set(pid, row);
  return row;
}

async function poll() {
  const live = await ask();
  for (const now of live) describe(rows.get(now.pid) ?? add(now.pid), now);
  for (const [pid, row] of rows) {
    if (live.some((p) => p.pid === pid)) continue;
    row.line.remove();
    rows.delete(pid);
  }
}

/* ---- Over the network ------------------------------------------------------------------------ */

const CAPTURE = "./api/v1/capture";
const JOB_MS = 250; // while one runs
const LOOKS = 40; // for a run that is written to be found by the list
const form = document.getElementById("capture"); // null: nothing can be captured from here
const capturing = document.getElementById("capturing");
const said = document.getElementById("capture-said");
const targets = new Map(); // "HOST:PORT,…" → its line
let first = true;
let posts = 0;

async function post(url, body) {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const now = await answer.json();
  if (!answer.ok) throw new Error(now.error);
  posts++;
  showJobs(now);
  pollJobs();
}

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
const size = (n) => (n < 1e6 ? `${Math.round(n / 1e3)} kB` : `${(n / 1e6).toFixed(1)} MB`);

// What it does, and how far it is.
function progressOf(job) {
  if (job.bytes) return ["receiving", `${size(job.bytes)} so far`];
  if (job.targets.some((t) => t.state === "connecting")) return ["connecting", ""];
  return job.left_ms ? ["recording", `${seconds(job.left_ms)} left`] : ["waiting for its data", ""];
}

function failuresOf(job) {
  const failed = job.targets.filter((t) => t.error);
  if (job.targets.length === 1 && failed.length) return failed[0].error;
  return failed.map((t) => `${t.target}: ${t.error}`).join("; ") || job.error || "it failed";
}

// What is heard by those who cannot see is said once.
function say(row, text) {
  if (row.status.textContent !== text) row.status.textContent = text;
}

// A bar that knows its end while the program records, and moves by itself while bytes come.
function showRunning(row, job) {
  const [doing, far] = progressOf(job);
  say(row, doing);
  row.far.textContent = far;
  if (doing === "recording") row.bar.value = 1 - job.left_ms / job.duration_ms;
  else row.bar.removeAttribute("value");
}

function showEnd(row, job) {
  row.link.hidden = !job.session;
  if (job.session) row.link.href = `./session/${job.session}/`;
  row.link.textContent = job.run ?? "";
  const kept = job.bytes ? `${size(job.bytes)} kept` : "nothing kept";
  if (job.state === "done") say(row, `done, ${size(job.bytes)}`);
  else if (job.state === "cancelled") say(row, `cancelled, ${kept}`);
  else say(row, failuresOf(job));
}

function showJob(row, job) {
  const running = job?.state === "running";
  const [shown, gone] = running ? [row.cancel, row.button] : [row.button, row.cancel];
  const focused = document.activeElement === gone;
  row.bar.hidden = row.far.hidden = !running;
  shown.hidden = false;
  gone.hidden = true;
  if (focused) shown.focus();
  row.status.classList.toggle("error", job?.state === "failed");
  row.job = job?.id;
  if (running) row.link.hidden = true;
  if (running) showRunning(row, job);
  else if (job) showEnd(row, job);
}

async function tell(row, url, body) {
  try {
    await post(url, body);
  } catch (error) {
    row.status.classList.add("error");
    row.status.textContent = error.message;
  }
}

const duration = () => Math.round(form.elements.seconds.value * 1000);

function addTarget(asked) {
  const again = (row) => {
    if (!form.elements.seconds.checkValidity()) {
      capturing.open = true; // a field that is not seen cannot say what is wrong
      form.elements.seconds.reportValidity();
    } else tell(row, CAPTURE, { targets: asked.split(","), duration_ms: duration() });
  };
  const row = Object.assign(line(`Capture ${asked}`, again), {
    bar: document.createElement("progress"),
    far: document.createElement("span"),
    cancel: document.createElement("button"),
    link: document.createElement("a"),
  });
  row.name.textContent = asked.replaceAll(",", ", ");
  row.far.className = "muted";
  row.link.hidden = true;
  row.bar.setAttribute("aria-label", `Capture of ${asked}`);
  Object.assign(row.cancel, { type: "button", className: "button", textContent: "Cancel" });
  row.cancel.setAttribute("aria-label", `Cancel the capture of ${asked}`);
  row.cancel.addEventListener("click", () => tell(row, `${CAPTURE}/${row.job}/cancel`, {}));
  row.line.prepend(row.cancel, " ");
  row.line.append(" ", row.far, " ", row.bar, " ", row.link);
  targets.set(asked, row);
  return row;
}

// The newest job of each target, and targets of before.
function showJobs(now) {
  const jobs = new Map();
  for (const job of now.jobs) if (!jobs.has(job.asked)) jobs.set(job.asked, job);
  for (const asked of new Set([...jobs.keys(), ...now.targets]))
    showJob(targets.get(asked) ?? addTarget(asked), jobs.get(asked));
  if (first && (jobs.size || now.targets.length)) capturing.open = true;
  first = false;
}

// Whether there is more to come of a job: its end, or its run's place in the list.
const runs = (job) => job.state === "running";
const unlisted = (job) => !runs(job) && job.run && !job.session;

let left = 0; // looks that remain
let following = false;

async function look() {
  const turn = posts;
  const now = await (await fetch(CAPTURE)).json();
  if (turn !== posts) return; // this answer is from before what was just asked for
  showJobs(now);
  if (now.jobs.some(runs)) left = LOOKS;
  else if (!now.jobs.some(unlisted)) left = 0;
}

// Until nothing runs, and what came is a run of the list.
async function pollJobs() {
  left = LOOKS;
  if (following) return;
  following = true;
  for (; left > 0; await sleep(JOB_MS)) {
    left--;
    await look().catch(() => {}); // the server may be restarting
  }
  following = false;
}

if (form) {
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    said.textContent = "";
    const list = form.elements.targets.value.split(",").map((text) => text.trim()).filter(Boolean);
    try {
      await post(CAPTURE, { targets: list, duration_ms: duration() });
      form.elements.targets.value = "";
    } catch (error) {
      said.textContent = error.message;
    }
  });
  pollJobs();
}

async function pollForEver() {
  for (;;) {
    if (!document.hidden) await poll().catch(() => {}); // the server may be restarting
    await sleep(POLL_MS);
  }
}

pollForEver();
