// Programs that run now and can be told to record: one line each, with a button that captures the
// next steps and leads to the new run. Without any, nothing is shown.

const part = document.getElementById("live");
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

const doing = { armed: "waits for its next step", recording: "records", writing: "writes a run" };

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
      row.status.textContent = "The run is written, but not below this directory.";
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

function add(pid) {
  const row = {
    pid,
    line: document.createElement("p"),
    name: document.createElement("span"),
    button: document.createElement("button"),
    status: document.createElement("span"),
  };
  Object.assign(row.button, { type: "button", className: "button", textContent: "Capture" });
  row.button.setAttribute("aria-label", `Capture process ${pid}`);
  Object.assign(row.status, { className: "muted" });
  row.status.setAttribute("role", "status");
  row.button.addEventListener("click", () => capture(row));
  row.line.append(row.button, " ", row.name, " ", row.status);
  rows.set(pid, row);
  part.append(row.line);
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
  part.hidden = !rows.size;
}

async function pollForEver() {
  for (;;) {
    if (!document.hidden) await poll().catch(() => {}); // the server may be restarting
    await sleep(POLL_MS);
  }
}

pollForEver();
