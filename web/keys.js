// Keys that all pages share, and the list of them. A link or field says in aria-keyshortcuts which
// key it listens to; in a table that is the one of the row that has the focus.

const list = [
  ["/", "Search", '[aria-keyshortcuts="/"]'],
  ["↓ ↑", "Next or previous row", "a.open"],
  ["Enter", "Open", "a.open"],
  ["l", "Open the timeline", '[aria-keyshortcuts="l"]'],
  ["p", "Open in Perfetto", '[aria-keyshortcuts="p"]'],
  ["t", "Open in TensorBoard", '[aria-keyshortcuts="t"]'],
  ["x", "Select for comparison", '[name="s"]'],
  ["w s, + −", "Zoom", ".timeline canvas"],
  ["Ctrl wheel", "Zoom at the pointer (or pinch)", ".timeline canvas"],
  ["a d, ← →", "Pan", ".timeline canvas"],
  ["Shift wheel", "Pan", ".timeline canvas"],
  ["Home End", "Go to the start or end", ".timeline canvas"],
  ["↑ ↓, k j", "Nearest event in the row above or below", "#timeline canvas"],
  ["Space", "Expand or collapse the group", "#timeline canvas"],
  ["o", "Show one row or all rows of the track", "#timeline canvas"],
  ["Enter", "Select the longest visible event in the row", "#timeline canvas"],
  ["↑ ↓", "Scroll the rows", "#compare-timeline canvas"],
  ["Enter", "Select the longest visible event", "#compare-timeline canvas"],
  ["PgUp PgDn", "Scroll the rows", ".timeline canvas"],
  ["f", "Fit the selection, then everything", "#timeline canvas"],
  ["f", "Fit the steps, then everything", "#compare-timeline canvas"],
  [", .", "Previous or next event in the row", ".timeline canvas"],
  ["[ ]", "Previous or next step in both runs", "#compare-timeline canvas"],
  ["m", "Median step of both runs", "#compare-timeline canvas"],
  ["Shift ← →", "Move the cursor", "#compare-timeline canvas"],
  ["Enter, n N", "Next or previous search result", ".timeline canvas"],
  ["m", "Set or remove a mark", "#timeline canvas"],
  ["r", "Summarize the visible range", "#timeline canvas"],
  ["Drag the ruler", "Summarize a range (or Shift and drag)", "#timeline canvas"],
  ["?", "Show this help", "body"],
  ["Esc", "Close, clear the search, or clear the selection", ".timeline canvas"],
  ["Esc", "Close, or clear the search", "body:not(:has(.timeline canvas))"],
];

const make = (tag, text, ...children) => {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  element.append(...children);
  return element;
};

/* ---- Help ------------------------------------------------------------------------------------ */

const help = make("dialog");
help.className = "keys";
help.setAttribute("aria-labelledby", "keys-h");
document.body.append(help);
help.addEventListener("click", (event) => {
  if (event.target === help) help.close(); // outside of its content
});

function showHelp() {
  const table = make("dl");
  for (const [key, what, where] of list)
    if (document.querySelector(where))
      table.append(make("div", "", make("dt", "", make("kbd", key)), make("dd", what)));
  const heading = make("h2", "Keys");
  heading.id = "keys-h";
  const close = make("button", "Close");
  close.className = "button";
  close.addEventListener("click", () => help.close());
  help.replaceChildren(make("div", "", heading, table, close));
  help.showModal();
}

const button = make("button", "", make("kbd", "?"), " Keys");
button.className = "help";
button.type = "button";
button.setAttribute("aria-keyshortcuts", "?");
button.setAttribute("aria-haspopup", "dialog");
button.addEventListener("click", showHelp);
document.querySelector("header .banner, header.banner, header .bar")?.append(button);

/* ---- Rows ------------------------------------------------------------------------------------ */

const box = () => document.querySelector('[aria-keyshortcuts="/"]');
const rowOf = (element) => element?.closest?.("tr");
const shown = (element) => element.checkVisibility?.() ?? true;

// From the search box Down goes to the first row, and Up from the first row back to it.
function move(step) {
  const links = [...document.querySelectorAll("a.open")].filter(shown);
  const row = rowOf(document.activeElement);
  const at = row ? links.findIndex((link) => rowOf(link) === row) : -1;
  if (!links.length || at + step < 0) box()?.focus();
  else links[Math.min(at + step, links.length - 1)].focus();
}

// In the index arrows always walk the rows; elsewhere they scroll, until a row has the focus.
function walks() {
  const active = document.activeElement;
  return document.getElementById("rows") || active === box() || active.matches("a.open");
}

function press(key) {
  const wanted = `[aria-keyshortcuts="${key}"]`;
  const here = rowOf(document.activeElement)?.querySelector(wanted);
  const all = document.querySelectorAll(wanted);
  const target = here ?? (all.length === 1 ? all[0] : null);
  target?.click();
  return Boolean(target);
}

function tick() {
  const choice = rowOf(document.activeElement)?.querySelector('[name="s"]');
  choice?.click();
  return Boolean(choice);
}

const types = (element) =>
  element.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button])");

function act(event) {
  const typing = types(event.target);
  if (event.key === "ArrowDown" && walks() && !event.target.matches("select")) return move(1) ?? true;
  if (event.key === "ArrowUp" && walks() && !typing) return move(-1) ?? true;
  if (typing) return false;
  if (event.key === "/" && box()) {
    box().focus();
    box().select();
    return true;
  }
  if (event.key === "?") return showHelp() ?? true;
  if (["l", "p", "t"].includes(event.key)) return press(event.key);
  return event.key === "x" && tick();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (act(event)) event.preventDefault();
});
