// The index: search as you type, order and pages in place, headlines for rows in view, two ticks
// for a comparison, and new runs as they appear. Without this script the page is complete: the
// search box and the ticks are forms, everything else is a link.

const box = document.getElementById("q");
const list = document.getElementById("list");
const orders = document.getElementById("orders");
const news = document.getElementById("news");
const form = document.getElementById("compare");

const parsed = (html) => new DOMParser().parseFromString(html, "text/html");

/* ---- Headlines: for rows that are seen, one request at a time ------------------------------- */

const wanted = new Set();
let fetching = false;

async function nextHeadline() {
  if (fetching) return;
  const [cell] = wanted;
  if (!cell) return;
  wanted.delete(cell);
  fetching = true;
  try {
    await fillHeadline(cell);
  } finally {
    fetching = false;
    nextHeadline();
  }
}

async function fillHeadline(cell) {
  const url = cell.dataset.headline;
  if (!url || !cell.isConnected) return;
  cell.removeAttribute("data-headline");
  try {
    const answer = await fetch(url);
    const text = await answer.text();
    if (answer.ok) cell.replaceChildren(...parsed(text).body.childNodes);
    else cell.textContent = text.trim().split("\n")[0];
  } catch {
    cell.textContent = "no answer from the server";
  }
}

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) wanted.add(entry.target);
    else wanted.delete(entry.target);
  }
  nextHeadline();
});

function watchHeadlines() {
  seen.disconnect();
  wanted.clear();
  for (const cell of list.querySelectorAll("[data-headline]")) seen.observe(cell);
}

/* ---- The server's own answer, put in place --------------------------------------------------- */

const byKey = (parent) => new Map([...parent.children].map((child) => [child.dataset.key, child]));
const looksLike = (a, b) => a.outerHTML === b.outerHTML;

// A headline that is here already says no less than the place for one.
function keepHeadline(mine, fresh) {
  const here = mine.querySelector(".headline");
  const there = fresh.querySelector(".headline");
  if (here && there?.dataset.headline && !here.dataset.headline) there.replaceWith(here.cloneNode(true));
}

// Makes the children of `old` those of `fresh`, by their keys; what stays the same stays untouched,
// and with it the focus and the ticks.
function patch(old, fresh) {
  const mine = byKey(old);
  let before = old.firstElementChild;
  for (const child of [...fresh.children]) {
    let kept = mine.get(child.dataset.key);
    mine.delete(child.dataset.key);
    if (kept && (kept.matches("table") || (kept.matches("tbody") && child.matches("tbody")))) {
      patch(kept, child);
    } else if (kept && kept.matches("tr")) {
      keepHeadline(kept, child);
    }
    if (!kept || (!kept.matches("table, tbody") && !looksLike(kept, child))) {
      kept?.replaceWith(child);
      if (kept === before) before = child;
      kept = child;
    }
    if (kept === before) before = before.nextElementSibling;
    else old.insertBefore(kept, before);
  }
  for (const gone of mine.values()) gone.remove();
}

// Whatever comes or goes above, the row that is read stays where it is.
function keepingPlace(change) {
  const active = document.activeElement;
  const key = active?.closest?.("tr")?.dataset.key;
  const rows = [...list.querySelectorAll("tr[data-key]")];
  const anchor = scrollY > 0 && rows.find((row) => row.getBoundingClientRect().top >= 0);
  const top = anchor && anchor.getBoundingClientRect().top;
  change();
  if (anchor?.isConnected) scrollBy(0, anchor.getBoundingClientRect().top - top);
  if (key && !active.isConnected)
    list.querySelector(`tr[data-key="${CSS.escape(key)}"] a`)?.focus({ preventScroll: true });
}

let asked = 0;

// True when this answer is the one that is shown.
async function show(url) {
  const turn = ++asked;
  const answer = await fetch(url);
  const page = parsed(await answer.text());
  const fresh = page.getElementById("list");
  if (turn !== asked || !fresh) return false; // a later question has overtaken this answer
  keepingPlace(() => patch(list, fresh));
  Object.assign(list.dataset, fresh.dataset);
  form.hidden = Number(list.dataset.sessions) < 2;
  orders.replaceChildren(...page.getElementById("orders").childNodes);
  tickAgain();
  watchHeadlines();
  offerUnpacking();
  return true;
}

/* ---- Search, order, pages -------------------------------------------------------------------- */

let timer;

function searchUrl() {
  const query = new URLSearchParams(location.search);
  const text = box.value.trim();
  query.delete("first");
  if (text) query.set("q", text);
  else query.delete("q");
  return query.size ? `./?${query}` : "./";
}

async function search() {
  const url = searchUrl();
  history.replaceState(null, "", url);
  if (!(await show(url))) return;
  news.textContent = document.getElementById("count")?.textContent ?? "";
}

box.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(() => search().catch(() => {}), 120);
});

box.addEventListener("keydown", (event) => {
  const links = list.querySelectorAll("a.open");
  if (event.key !== "Enter" || links.length !== 1) return;
  event.preventDefault();
  links[0].click();
});

document.addEventListener("click", async (event) => {
  const link = event.target.closest?.(".orders a, .pages a, .sessions thead a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  history.pushState(null, "", link.href); // first: a look for new runs asks for this address
  const shown = await show(link.href).catch(() => location.reload());
  if (!shown) return;
  if (link.closest(".pages")) document.getElementById("list").scrollIntoView();
  orders.querySelector(".orders [aria-current]")?.focus({ preventScroll: true });
});

addEventListener("popstate", () => {
  box.value = new URLSearchParams(location.search).get("q") ?? "";
  show(location.href).catch(() => location.reload());
});

/* ---- Two for a comparison -------------------------------------------------------------------- */

const chosen = []; // ids, as they were ticked; rows may come and go meanwhile

function tickAgain() {
  for (const input of list.querySelectorAll('[name="s"]')) input.checked = chosen.includes(input.value);
  sayChosen();
}

function nameOf(id) {
  const row = list.querySelector(`tr[data-key="${CSS.escape(id)}"] .name`);
  return row?.querySelector("a").textContent ?? id;
}

function sayChosen() {
  const text = ["Select two runs to compare them.", "Select one more run to compare with", "Compare"][chosen.length];
  document.getElementById("chosen").textContent =
    text + (chosen.length ? ` ${chosen.map(nameOf).join(" and ")}` : "");
  form.querySelector("button").disabled = chosen.length < 2;
  form.classList.toggle("busy", chosen.length > 0);
  for (const hidden of form.querySelectorAll("[type=hidden]")) hidden.remove();
  for (const id of chosen) {
    if (list.querySelector(`[name="s"][value="${CSS.escape(id)}"]`)) continue;
    const hidden = document.createElement("input");
    Object.assign(hidden, { type: "hidden", name: "s", value: id });
    form.append(hidden);
  }
}

list.addEventListener("change", (event) => {
  if (event.target.name !== "s") return;
  const at = chosen.indexOf(event.target.value);
  if (at >= 0) chosen.splice(at, 1);
  if (event.target.checked) chosen.push(event.target.value);
  if (chosen.length > 2) chosen.shift(); // the third tick takes the place of the first
  tickAgain();
});

/* ---- New runs -------------------------------------------------------------------------------- */

const POLL_MS = 3000;
const NEWS_MS = 8000;
const POLL_SOON_MS = 700; // while the directory is being read

let hiding;

function sayWhatCame(before, now) {
  const more = now - before;
  const runs = (n) => (n === 1 ? "1 run" : `${n} runs`);
  if (more > 0) news.textContent = more === 1 ? "1 new run" : `${more} new runs`;
  else news.textContent = more < 0 ? `${runs(-more)} gone` : "A run has changed";
  news.classList.remove("unseen");
  clearTimeout(hiding);
  hiding = setTimeout(() => news.classList.add("unseen"), NEWS_MS);
}

async function poll() {
  const now = await (await fetch("./api/v1/state")).json();
  const indexing = Boolean(now.indexing);
  if (!indexing && list.dataset.indexing === "false" && now.state === list.dataset.state) return;
  const before = Number(list.dataset.sessions);
  const wasIndexing = list.dataset.indexing === "true";
  if (!(await show(location.href))) return;
  if (!wasIndexing) sayWhatCame(before, Number(list.dataset.sessions));
}

let polling;

function pollLater() {
  clearTimeout(polling);
  polling = setTimeout(
    async () => {
      if (!document.hidden) await poll().catch(() => {}); // the server may be restarting
      pollLater();
    },
    list.dataset.indexing === "true" ? POLL_SOON_MS : POLL_MS
  );
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) poll().catch(() => {});
});

/* ---- Archives -------------------------------------------------------------------------------- */

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const EXTRACT = "./api/v1/extract";

function sayUnpacked(line, now) {
  const { found, made, kept, left_out: left } = now.files;
  const share = now.bytes.total ? `, ${Math.floor((100 * now.bytes.done) / now.bytes.total)}%` : "";
  if (now.state === "running") line.textContent = `Unpacking: ${made + kept} of ${found} files${share}`;
  else if (now.state === "failed") line.textContent = `Unpacking failed: ${now.error}`;
  else line.textContent = `${made + kept} files unpacked${left ? `, ${left} left out` : ""}.`;
}

async function unpack(button, line) {
  button.disabled = true;
  try {
    const headers = { "Content-Type": "application/json" };
    let answer = await fetch(EXTRACT, { method: "POST", headers, body: "{}" });
    for (;;) {
      const now = await answer.json();
      if (!now.files) throw new Error(now.error);
      sayUnpacked(line, now);
      if (now.state !== "running") return;
      await sleep(300);
      answer = await fetch(EXTRACT);
    }
  } catch (error) {
    line.textContent = `Unpacking failed: ${error.message}`;
  } finally {
    button.disabled = false;
  }
}

// Members of archives are read where they are; unpacked once, they open at once from then on.
function offerUnpacking() {
  if (document.getElementById("unpack") || !list.querySelector(".badge.archive")) return;
  const part = document.createElement("p");
  const button = document.createElement("button");
  const line = document.createElement("span");
  Object.assign(part, { id: "unpack", className: "unpack" });
  Object.assign(button, { type: "button", className: "button", textContent: "Unpack archives" });
  Object.assign(line, { className: "muted", role: "status", textContent:
    "Runs in archives open faster after they are unpacked into a temporary directory of the server." });
  button.addEventListener("click", () => unpack(button, line));
  part.append(button, " ", line);
  list.after(part);
}

tickAgain();
watchHeadlines();
offerUnpacking();
pollLater();
