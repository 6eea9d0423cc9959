"use strict";
// Family x element type, or layout; a family opens into its ops. A place filters the cases below.
const matrix = { columns: "element type", open: new Set() };
const ROW_BITS = { family: (area) => family(area), op: (area) => op(area) };

/** What the cases of each place showed, by row and column. */
function tallies(rowOf, within) {
  const column = matrix.columns === "layout" ? layout : element;
  const found = new Map();
  for (let at = 0; at < data.count; at += 1) {
    const area = all.area[at];
    if (!isCell(area) || (within !== null && family(area) !== within)) continue;
    const row = rowOf(area);
    if (!found.has(row)) found.set(row, new Map([[-1, tally()]]));
    const places = found.get(row);
    const key = column(area);
    if (!places.has(key)) places.set(key, tally());
    see(places.get(key), at);
    see(places.get(-1), at);
  }
  return found;
}

const tally = () => ({ count: 0, byStatus: new Map(), worst: NaN, bad: 0 });

function see(place, at) {
  const status = all.status[at];
  place.count += 1;
  place.byStatus.set(status, (place.byStatus.get(status) ?? 0) + 1);
  if (!CALM.has(status)) place.bad += 1;
  if (!(place.worst >= all.margin[at]) && !Number.isNaN(all.margin[at])) place.worst = all.margin[at];
}

/** What a place is shown as: the worst that fails or is waived, else what passes, else the rest. */
function face(place) {
  const present = [...place.byStatus.keys()].sort((a, b) => a - b);
  const waived = data.shown.indexOf("waived");
  return data.shown[present.find((status) => status <= waived || status === PASS) ?? present[0]];
}

function placeWords(place) {
  const counts = [...place.byStatus].sort(([a], [b]) => a - b).map(([status, n]) => `${said(n)} ${data.shown[status]}`);
  return counts.join(", ") + (Number.isNaN(place.worst) ? "" : `; worst margin ${figure(place.worst)}`);
}

function placeButton(place, title, filter) {
  const kind = face(place);
  const passes = place.byStatus.get(PASS) ?? 0;
  const shownCount = kind === "pass" ? said(passes) : said(place.byStatus.get(data.shown.indexOf(kind)));
  const words = `${title}: ${placeWords(place)}`;
  const marks = { pass: "", unsupported: "–", waived: "w ", notice: "n ", new: "+", missing: "? " };
  const text = kind === "unsupported" ? marks.unsupported : (marks[kind] ?? "✕ ") + shownCount;
  const margin = Number.isNaN(place.worst) ? null
    : make("i", { class: "near", style: `width: ${(Math.min(1, place.worst) * 100).toFixed(1)}%` });
  return make("button", {
    type: "button", tabindex: "-1", class: `place is-${kind}`, title: words, "aria-label": words, click: () => go(filter, "cases"),
  }, text, margin);
}

function matrixRow(name, places, columns, filter, opener) {
  const key = matrix.columns === "layout" ? "layout" : "type";
  const cells = columns.map((column) => {
    const place = places.get(column);
    const word = WORDS[key][column];
    return make("td", { role: "gridcell" }, place ? placeButton(place, `${name}, ${word}`, { ...filter, [key]: word }) : "");
  });
  const whole = places.get(-1);
  return make("tr", { class: opener ? "family" : "op" },
    make("th", { scope: "row" }, opener ?? make("span", {}, name)), cells,
    make("td", { role: "gridcell", class: "whole" }, placeButton(whole, `${name}, all`, filter)));
}

function drawMatrix() {
  const found = tallies(ROW_BITS.family, null);
  byId("matrix").hidden = data.count === 0;
  choice(byId("matrix-switch"), ["element type", "layout"], matrix.columns, (word) => { matrix.columns = word; drawMatrix(); });
  const used = new Set([...found.values()].flatMap((places) => [...places.keys()]));
  used.delete(-1);
  const columns = [...used].sort((a, b) => a - b);
  const words = matrix.columns === "layout" ? data.layouts : data.elements;
  const head = make("tr", {}, make("th", { scope: "col" }, "family"),
    columns.map((column) => make("th", { scope: "col" }, make("span", {}, words[column]))), make("th", { scope: "col" }, make("span", {}, "all")));
  const body = make("tbody");
  for (const [row, places] of found) {
    const name = data.families[row];
    const isOpen = matrix.open.has(row);
    const ops = isOpen ? tallies(ROW_BITS.op, row) : new Map();
    const opener = make("button", {
      type: "button", class: "opener", "aria-expanded": String(isOpen), click: () => toggleFamily(row),
    }, name);
    body.append(matrixRow(name, places, columns, { family: name }, opener));
    for (const [word, each] of ops) {
      body.append(matrixRow(data.ops[word], each, columns, { family: name, op: data.ops[word] }, null));
    }
  }
  byId("matrix-table").replaceChildren(make("thead", {}, head), body);
  byId("matrix-table").hidden = found.size === 0;
  byId("matrix-switch").hidden = found.size === 0;
  const first = byId("matrix-table").querySelector("button.place");
  if (first) first.tabIndex = 0;
  drawLegend(found.size > 0);
  drawAreas();
}

function toggleFamily(row) {
  if (!matrix.open.delete(row)) matrix.open.add(row);
  drawMatrix();
  [...byId("matrix-table").querySelectorAll(".opener")].find((node) => node.textContent === data.families[row])?.focus();
}

function drawLegend(isThere) {
  put("matrix-legend", isThere ? [
    "A number is how many cases passed, and the line under it their worst margin: full width is the bound. ",
    make("b", { class: "bad" }, "✕"), " cases that fail, ? that have no verdict, w waived, n notices, – unsupported. A place shows its cases, a family its ops.",
  ] : "No case of a cell was run.");
}

/** The cases that are of no cell: the runtime's by area, and vendors'. */
function drawAreas() {
  const found = new Map();
  for (let at = 0; at < data.count; at += 1) {
    const area = all.area[at];
    if (isCell(area)) continue;
    if (!found.has(area)) found.set(area, tally());
    see(found.get(area), at);
  }
  put("areas", [...found].map(([area, place]) => {
    const name = opName(area);
    const filter = { family: data.families[family(area)], op: data.ops[op(area)] };
    const button = placeButton(place, name, filter);
    button.tabIndex = 0;
    return make("span", { class: "area" }, make("span", {}, name), button);
  }));
}

/** Arrows move within the matrix, which is one stop of the Tab key. */
function moveInMatrix(event) {
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const step = steps[event.key];
  const from = event.target.closest("button.place");
  if (!step || !from) return;
  event.preventDefault();
  const rows = [...byId("matrix-table").tBodies[0].rows];
  let [row, cell] = [rows.indexOf(from.closest("tr")), from.closest("td").cellIndex];
  for (;;) {
    [row, cell] = [row + step[0], cell + step[1]];
    const to = rows[row]?.cells[cell];
    if (!to) return;
    const button = to.querySelector("button.place");
    if (button) {
      from.tabIndex = -1;
      button.tabIndex = 0;
      button.focus();
      return;
    }
  }
}
