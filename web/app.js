// The index: search as you type, headlines for rows in view, and a few keys. Without this script
// the page is complete: the search box is a form, and a headline stands where its report was made.
"use strict";

const box = document.getElementById("q");
const list = document.getElementById("list");

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

/* ---- Search: the server's own answer, put in place ------------------------------------------- */

let asked = 0;
let timer;

async function search() {
  const turn = ++asked;
  const query = box.value.trim();
  const url = query ? `/?q=${encodeURIComponent(query)}` : "/";
  const answer = await fetch(url);
  const fresh = parsed(await answer.text()).getElementById("list");
  if (turn !== asked || !fresh) return; // a later key has overtaken this answer
  list.replaceChildren(...fresh.childNodes);
  history.replaceState(null, "", url);
  watchHeadlines();
}

box.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(() => search().catch(() => {}), 120);
});

/* ---- Keys ------------------------------------------------------------------------------------ */

const links = () => [...list.querySelectorAll("a.open")];

// From the search box Down goes to the first session, and Up from the first one back to it.
function move(step) {
  const all = links();
  const at = document.activeElement.closest?.("tr");
  const row = all.findIndex((link) => link.closest("tr") === at);
  if (row + step < 0 || !all.length) box.focus();
  else all[Math.min(row + step, all.length - 1)].focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/" && document.activeElement !== box) {
    box.focus();
    box.select();
  } else if (event.key === "ArrowDown") {
    move(1);
  } else if (event.key === "ArrowUp" && document.activeElement !== box) {
    move(-1);
  } else if (event.key === "Enter" && document.activeElement === box && links().length === 1) {
    links()[0].click();
  } else {
    return;
  }
  event.preventDefault();
});

watchHeadlines();
