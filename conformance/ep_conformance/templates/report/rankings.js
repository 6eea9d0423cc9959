"use strict";
// Tables of the extreme: nearest to the bound, leaning most, slowest.
const SHORT = { nearest: 12, leaning: 12, slowest: 20 };
const longer = new Set();

/** The worst case of each op by a column, worst first. */
function worstByOp(column) {
  const worst = new Map();
  for (const at of selected.cases) {
    if (!(column[at] > 0)) continue;
    const area = all.area[at];
    const key = family(area) * data.ops.length + op(area);
    if (!worst.has(key) || column[at] > column[worst.get(key)]) worst.set(key, at);
  }
  return [...worst.values()].sort((a, b) => column[b] - column[a]);
}

function ranking(id, title, heads, cases, row) {
  const isLong = longer.has(id);
  const shownCases = isLong ? cases : cases.slice(0, SHORT[id]);
  const table = make("table", { class: "ranking" }, make("caption", {}, title),
    make("thead", {}, make("tr", {}, heads.map(([head, kind]) => make("th", { scope: "col", class: kind }, head)))),
    make("tbody", {}, shownCases.map((at) => make("tr", {}, row(at)))));
  const more = cases.length > SHORT[id] ? make("button", { type: "button", class: "link more", click: () => {
    if (!longer.delete(id)) longer.add(id);
    drawRankings();
  } }, isLong ? "fewer" : `all ${said(cases.length)}`) : null;
  put(id, cases.length ? make("div", { class: "wide" }, table) : [], more ?? []);
}

const caseLink = (at, text) => make("a", { class: "id", href: addressOf({ ...view, case: idOf(at) }), click: (event) => { event.preventDefault(); openCase(at); } }, text);

function under(at) {
  const area = all.area[at];
  const words = isCell(area) ? [data.dtypes[dtypes(area)], data.layouts[layout(area)], data.names[all.name[at]]] : [data.names[all.name[at]]];
  return words.join("/");
}

function drawRankings() {
  const number = (text) => make("td", { class: "number" }, text);
  const kind = (value) => (value > 1 ? "over" : "");
  ranking("nearest", "Worst case of each op", [["op"], ["case"], ["margin", "number"], [""], ["error, ulp", "number"], ["bound", "number"], ["operands"]], worstByOp(all.margin), (at) => {
    const [margin, error] = [all.margin[at], all.error[at]];
    const bound = margin < INFINITE && error > 0 ? figure(error / margin) : "";
    return [make("td", {}, opName(all.area[at])), make("td", { class: "whole" }, caseLink(at, under(at))), number(figure(margin)), make("td", {}, bar(margin, kind(margin))),
      number(figure(error)), number(bound), make("td", { class: "operands" }, data.texts[all.at[at]])];
  });
  ranking("leaning", "Worst case of each op", [["op"], ["case"], ["bias", "number"], [""], ["variance", "number"], [""], ["margin", "number"]], worstByOp(all.bias), (at) =>
    [make("td", {}, opName(all.area[at])), make("td", { class: "whole" }, caseLink(at, under(at))), number(figure(all.bias[at])), make("td", {}, bar(all.bias[at], kind(all.bias[at]))),
      number(figure(all.variance[at])), make("td", {}, Number.isNaN(all.variance[at]) ? "" : bar(all.variance[at], kind(all.variance[at]))), number(figure(all.margin[at]))]);
  const slow = [...selected.cases].filter((at) => all.micros[at] > 0).sort((a, b) => all.micros[b] - all.micros[a]).slice(0, 60);
  const most = slow.length ? all.micros[slow[0]] : 1;
  ranking("slowest", "Slowest cases", [["case"], ["time", "number"], [""]], slow, (at) =>
    [make("td", {}, caseLink(at, idOf(at).replace("primitives/", ""))), number(duration(all.micros[at], most)), make("td", {}, bar(all.micros[at] / most))]);
  drawShares();
}

function drawShares() {
  const time = new Map();
  for (const at of selected.cases) {
    const key = family(all.area[at]);
    const [micros, count] = time.get(key) ?? [0, 0];
    time.set(key, [micros + all.micros[at], count + 1]);
  }
  const rows = [...time].sort(([, a], [, b]) => b[0] - a[0]);
  const most = Math.max(1, ...rows.map(([, [micros]]) => micros));
  put("shares", make("table", { class: "ranking" }, make("caption", {}, "Time of a family, in all workers"),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "family"), make("th", { scope: "col", class: "number" }, "cases"), make("th", { scope: "col", class: "number" }, "time"), make("th", { scope: "col" }, ""))),
    make("tbody", {}, rows.map(([key, [micros, count]]) => make("tr", {}, make("td", {}, data.families[key]),
      make("td", { class: "number" }, said(count)), make("td", { class: "number" }, duration(micros, most)), make("td", {}, bar(micros / most)))))));
}
