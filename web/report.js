// The report of a session: the table of ops is sorted in place where all its rows are there, filtered
// as you type by the server, and copied as CSV. Without this script heads, filter and CSV are links
// and a form.

const ops = () => document.getElementById("ops");
const parsed = (html) => new DOMParser().parseFromString(html, "text/html");

/* ---- Sorting --------------------------------------------------------------------------------- */

// Rows that belong to the one above them ("part") move with it.
function bundles(body) {
  const all = [];
  for (const row of body.rows) {
    if (row.classList.contains("part")) all.at(-1)?.push(row);
    else all.push([row]);
  }
  return all;
}

function valueOf(row, column) {
  const text = row.cells[column].textContent.trim();
  const number = Number(text.replace(/[,%]/g, ""));
  return text && Number.isFinite(number) ? number : null;
}

const nameOf = (row, column) => row.cells[column].querySelector(".name").textContent;

// Unknown values stand last; names go from A, numbers from the largest.
function comparing(column, byName, sign) {
  return ([a], [b]) => {
    if (byName) return sign * nameOf(a, column).localeCompare(nameOf(b, column));
    const [x, y] = [valueOf(a, column), valueOf(b, column)];
    if (x === null || y === null) return (x === null) - (y === null);
    return sign * (y - x);
  };
}

function sortBy(head) {
  const table = head.closest("table");
  const natural = head.cellIndex === 1 || head.cellIndex === 0 ? "ascending" : "descending";
  const other = natural === "ascending" ? "descending" : "ascending";
  const to = head.ariaSort === natural ? other : natural;
  const body = table.tBodies[0];
  const order = comparing(head.cellIndex, head.cellIndex === 1, to === natural ? 1 : -1);
  if (head.cellIndex === 0) body.append(...bundles(body).sort(comparing(0, false, to === natural ? -1 : 1)).flat());
  else body.append(...bundles(body).sort(order).flat());
  for (const one of head.parentElement.cells) one.removeAttribute("aria-sort");
  head.ariaSort = to;
}

// A table that leaves rows out is sorted by the server where that can do it: the largest by another
// measure may be among those.
const isWhole = (table) => !table.tFoot;

function prepareHeads() {
  for (const head of document.querySelectorAll("table.ops thead th")) {
    if (head.querySelector("a") && !isWhole(head.closest("table"))) continue;
    const button = head.querySelector("a") ?? document.createElement("button");
    if (button.matches("button")) {
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      if (!isWhole(head.closest("table"))) head.title += " (sorts the visible rows)";
    }
    button.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      sortBy(head);
      if (button.href) history.replaceState(null, "", button.href);
    });
  }
}

/* ---- Filter ---------------------------------------------------------------------------------- */

let asked = 0;
let timer;

async function filter(box) {
  const turn = ++asked;
  const query = new URLSearchParams(location.search);
  if (box.value.trim()) query.set("q", box.value.trim());
  else query.delete("q");
  const url = `?${query}`;
  history.replaceState(null, "", url);
  const fresh = parsed(await (await fetch(url)).text());
  if (turn !== asked || !fresh.getElementById("ops")) return;
  for (const old of ops().querySelectorAll(":scope > :not(h2, .controls)")) old.remove();
  ops().append(...fresh.querySelectorAll("#ops > :not(h2, .controls)"));
  keepLinks(fresh);
  prepareHeads();
}

// What the other links say of the query: tabs, groups, ranks, CSV.
function keepLinks(fresh) {
  for (const where of [".tabs", ".pills", ".csv"]) {
    const links = fresh.querySelectorAll(`${where} a`);
    document.querySelectorAll(`${where} a`).forEach((link, i) => {
      if (links[i]) link.setAttribute("href", links[i].getAttribute("href"));
    });
  }
}

const box = document.getElementById("q");
box?.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(() => filter(box).catch(() => {}), 150);
});

/* ---- Copy ------------------------------------------------------------------------------------ */

const link = document.querySelector(".csv a");

async function copy(button) {
  const answer = await fetch(link.href);
  if (!answer.ok) throw new Error();
  const text = await answer.text();
  await navigator.clipboard.writeText(text);
  button.textContent = `Copied ${text.trimEnd().split("\n").length - 1} rows`;
}

// The clipboard is there for secure pages only; the link works everywhere.
if (link && navigator.clipboard) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy as CSV";
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", () => {
    copy(button).catch(() => (button.textContent = "Not allowed; use the link"));
    setTimeout(() => (button.textContent = "Copy as CSV"), 4000);
  });
  link.textContent = "Download CSV";
  link.before(button, " ");
}

prepareHeads();
