// What the pages of timelines share: elements, and whether what was fetched is good for what is seen.

export const make = (tag, props = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), props);
  element.append(...children);
  return element;
};

export const button = (text, title, act) => {
  const b = make("button", { type: "button", className: "button", textContent: text, title });
  b.setAttribute("aria-label", title);
  b.addEventListener("click", act);
  return b;
};

// Names and what they stand for; rows without a value are left out.
export function definition(rows) {
  const list = make("dl");
  for (const [key, value] of rows)
    if (value !== undefined && value !== "" && value !== null && value !== false)
      list.append(make("div", {}, make("dt", { textContent: key }), make("dd", {}, value)));
  return list;
}

// rows: of texts or elements, the first of each its header.
export function tableOf(caption, heads, rows, className = "") {
  return make("table", {}, make("caption", { textContent: caption }),
    make("thead", {}, make("tr", {}, ...heads.map((textContent) => make("th", { scope: "col", textContent })))),
    make("tbody", {}, ...rows.map(([first, ...rest]) =>
      make("tr", {}, make("th", { scope: "row" }, first), ...rest.map((cell) => make("td", { className }, cell))))));
}

// A table in a box that scrolls. columns: [head, class of its cells]; rows: of texts, the first of
// each its name, which is cut where there is no room for it.
export function figures(caption, columns, rows) {
  const head = ([textContent, className = ""]) => make("th", { scope: "col", textContent, className });
  const cell = (textContent, i) => make("td", { textContent, className: columns[i + 1][1] ?? "" });
  return make("div", { className: "scroll" }, make("table", {}, make("caption", { textContent: caption }),
    make("thead", {}, make("tr", {}, ...columns.map(head))),
    make("tbody", {}, ...rows.map(([name, ...rest]) =>
      make("tr", {}, make("th", { scope: "row", textContent: name, title: name }), ...rest.map(cell))))));
}

// Good: it covers what is seen of the extent, with pixels that are about as fine as the screen's.
export function isGood(data, { from, to }, extent, pixel) {
  if (!data) return false;
  const covers = data.from <= Math.max(from, extent.from) && data.to >= Math.min(to, extent.to);
  return covers && data.pixel <= pixel * 1.5 && (data.pixel >= pixel / 8 || data.pixel <= 1);
}
