"use strict";
// The table of all chosen cases. Only the rows in sight exist, so that 100,000 cost no more than 30.
const ROW = 28;
const COLUMNS = [["status", "status"], ["id", "case"], ["margin", "margin"], ["error", "ulp"], ["time", "time"]];
const table = { order: new Int32Array(0), at: -1 };

function sorted() {
  const cases = selected.cases.slice();
  const [key, isDown] = view.sort.startsWith("-") ? [view.sort.slice(1), true] : [view.sort, false];
  const by = (column) => (a, b) => (Number.isNaN(column[a]) ? 1 : 0) - (Number.isNaN(column[b]) ? 1 : 0) || column[b] - column[a] || a - b;
  if (key === "margin") cases.sort(by(all.margin));
  else if (key === "error") cases.sort(by(all.error));
  else if (key === "time") cases.sort((a, b) => all.micros[b] - all.micros[a] || a - b);
  else if (key === "id") { const ids = searched(); cases.sort((a, b) => (ids[a] < ids[b] ? -1 : 1)); }
  else if (key === "status") cases.sort((a, b) => all.status[a] - all.status[b] || a - b);
  else cases.sort((a, b) => CALM.has(all.status[a]) - CALM.has(all.status[b]) || a - b);
  return isDown ? cases.reverse() : cases;
}

function buildTable() {
  const heads = COLUMNS.map(([key, word]) => make("button", { type: "button", role: "columnheader", class: `column-${key}`, "data-sort": key, click: () => go({ sort: view.sort === key ? `-${key}` : view.sort === `-${key}` ? "" : key }) }, word));
  const body = make("div", { class: "rows", id: "rows", role: "rowgroup", tabindex: "0", "aria-label": "Cases; arrow keys choose one", scroll: drawRows, keydown: moveInTable },
    make("div", { class: "height", id: "height", role: "presentation" }));
  byId("table").setAttribute("role", "grid");
  put("table", make("div", { class: "heads", role: "row" }, heads), body);
}

function drawTable() {
  if (!byId("rows")) buildTable();
  table.order = sorted();
  table.at = view.case ? table.order.findIndex((at) => idOf(at) === view.case) : -1;
  byId("table").setAttribute("aria-rowcount", table.order.length);
  byId("height").style.height = `${table.order.length * ROW}px`;
  for (const head of byId("table").querySelectorAll("[data-sort]")) {
    const key = head.dataset.sort;
    head.setAttribute("aria-sort", view.sort === key ? "descending" : view.sort === `-${key}` ? "ascending" : "none");
  }
  byId("rows").scrollTop = table.at >= 0 ? Math.max(0, (table.at - 4) * ROW) : 0;
  drawRows();
  drawDetail();
}

function drawRows() {
  const rows = byId("rows");
  const first = Math.max(0, Math.floor(rows.scrollTop / ROW) - 8);
  const last = Math.min(table.order.length, first + Math.ceil(rows.clientHeight / ROW) + 16);
  const made = [];
  for (let index = first; index < last; index += 1) made.push(tableRow(index));
  if (!table.order.length) made.push(make("p", { class: "note empty" }, "No case is left; clear a filter."));
  byId("height").replaceChildren(...made);
  if (table.at >= 0) rows.setAttribute("aria-activedescendant", "chosen");
  else rows.removeAttribute("aria-activedescendant");
}

function tableRow(index) {
  const at = table.order[index];
  const word = data.shown[all.status[at]];
  const isChosen = index === table.at;
  const margin = all.margin[at];
  const cells = [
    make("span", { role: "gridcell", class: "column-status" }, make("span", { class: `status is-${word}` }, word)),
    make("span", { role: "gridcell", class: "column-id" }, idWords(idOf(at))),
    make("span", { role: "gridcell", class: "column-margin" }, figure(margin), Number.isNaN(margin) ? null : bar(margin, margin > 1 ? "over" : "")),
    make("span", { role: "gridcell", class: "column-error" }, figure(all.error[at])),
    make("span", { role: "gridcell", class: "column-time" }, all.micros[at] ? duration(all.micros[at]) : ""),
  ];
  return make("div", { class: "case-row", role: "row", id: isChosen ? "chosen" : null, "aria-rowindex": index + 1, "aria-selected": String(isChosen), style: `top: ${index * ROW}px`, click: () => choose(index) }, cells);
}

/** An id whose first word, the same of nearly all, is written faintly. */
function idWords(id) {
  const [first, ...rest] = id.split("/");
  return [make("span", { class: "prefix" }, `${first}/`), rest.join("/")];
}

function choose(index) {
  if (!table.order.length) return;
  table.at = Math.max(0, Math.min(table.order.length - 1, index));
  view = { ...view, case: idOf(table.order[table.at]) };
  history.replaceState(null, "", addressOf(view));
  const rows = byId("rows");
  const top = table.at * ROW;
  if (top < rows.scrollTop) rows.scrollTop = top;
  else if (top + ROW > rows.scrollTop + rows.clientHeight) rows.scrollTop = top + ROW - rows.clientHeight;
  drawRows();
  drawDetail();
}

/** Show a case wherever it was named: among the chosen ones, or, where a filter hides it, among all. */
function openCase(at) {
  const isThere = selected.cases.includes(at);
  go({ ...(isThere ? view : PLAIN), case: idOf(at) }, "cases");
}

function moveInTable(event) {
  const page = Math.max(1, Math.floor(byId("rows").clientHeight / ROW) - 1);
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
  if (event.key === "Enter") byId("detail").focus();
  if (!(event.key in steps)) return;
  event.preventDefault();
  choose(table.at < 0 ? 0 : table.at + steps[event.key]);
}

const quoted = (text) => (/^[\w./:+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

function drawDetail() {
  const at = table.at >= 0 ? table.order[table.at] : -1;
  if (at < 0) {
    put("detail", make("p", { class: "note" }, "Choose a case to read all that is known of it."));
    return;
  }
  const id = idOf(at);
  const word = data.shown[all.status[at]];
  const more = all.more.get(at) ?? {};
  const facts = [["margin", figure(all.margin[at])], ["error", figure(all.error[at]) && `${figure(all.error[at])} ulp`], ["operands", data.texts[all.at[at]]],
    ["bias", figure(all.bias[at])], ["variance", figure(all.variance[at])], ["evidence", ["none", "attested", "native"][all.attested[at]]], ["degraded", data.texts[all.degraded[at]]],
    ["time", all.micros[at] ? duration(all.micros[at]) : ""]];
  const commands = [`ep-conformance explain ${quoted(id)}`, `ep-conformance run --provider ${quoted(data.provider)} --filter ${quoted(id)}`];
  if (more.replay) commands.push(`ep-conformance replay ${quoted(more.replay)}`);
  put("detail",
    make("p", {}, make("span", { class: `status is-${word}` }, word)), make("h3", { class: "id" }, id),
    data.texts[all.reason[at]] ? make("pre", { class: "reason" }, data.texts[all.reason[at]]) : [],
    more.first ? make("p", { class: "note" }, "First try: ", make("b", {}, more.first.status), more.first.reason ? make("pre", { class: "reason" }, more.first.reason) : "") : [],
    more.waiver ? waiverWords(more.waiver) : [],
    make("dl", {}, facts.filter(([, value]) => value).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])),
    make("pre", { class: "commands" }, commands.join("\n")));
}

function waiverWords(waiver) {
  const isLink = /^https?:\/\//.test(waiver.link);
  return make("p", { class: "note" }, "Waived until ", make("b", {}, waiver.expires), ` by ${waiver.owner}: ${waiver.reason} `,
    isLink ? make("a", { href: waiver.link, rel: "noreferrer" }, waiver.link) : waiver.link);
}
