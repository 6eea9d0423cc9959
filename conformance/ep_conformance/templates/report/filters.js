"use strict";
// Which cases are looked at. The address' fragment holds it, so that a view can be sent to somebody.
const PLAIN = { status: [], family: "", op: "", type: "", layout: "", text: "", sort: "", case: "" };
let view = { ...PLAIN };
let selected = { cases: new Int32Array(0), counts: {} };

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const next = { ...PLAIN };
  for (const key of Object.keys(PLAIN)) {
    if (given.has(key)) next[key] = key === "status" ? given.get(key).split(",").filter((word) => data.shown.includes(word)) : given.get(key);
  }
  return next;
}

function addressOf(next) {
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(next)) {
    if (value.length) words.set(key, Array.isArray(value) ? value.join(",") : value);
  }
  return `#${words.toString().replaceAll("%2C", ",").replaceAll("%2F", "/")}`;
}

/** Look at other cases; `where` is scrolled to. */
function go(change, where = null) {
  const kept = where === null ? view : { ...PLAIN, sort: view.sort };
  const next = { ...kept, ...change };
  history.replaceState(null, "", addressOf(next));
  show(next);
  if (where) byId(where).scrollIntoView({ block: "start" });
}

/** Choose the cases, and count what each other choice of one filter would give. */
function select() {
  const words = view.text.toLowerCase().split(/\s+/).filter((word) => word);
  const ids = words.length ? searched() : null;
  const texts = data.texts.map((text) => text.toLowerCase());
  const wanted = new Set(view.status.map((word) => data.shown.indexOf(word)));
  const keys = ["family", "op", "type", "layout"];
  const of = [family, op, element, layout];
  const chosen = keys.map((key) => (view[key] ? WORDS[key].indexOf(view[key]) : null));
  const counts = { status: new Map(), family: new Map(), op: new Map(), type: new Map(), layout: new Map() };
  const misses = Array.from({ length: AREAS }, (_, area) =>
    keys.reduce((bits, _key, index) => bits | (chosen[index] !== null && of[index](area) !== chosen[index] ? 2 << index : 0), 0));
  const found = [];
  const add = (key, value) => counts[key].set(value, (counts[key].get(value) ?? 0) + 1);
  for (let at = 0; at < data.count; at += 1) {
    const area = all.area[at];
    const missed = misses[area] | (wanted.size && !wanted.has(all.status[at]) ? 1 : 0);
    if (missed & (missed - 1)) continue;
    if (ids && !words.every((word) => ids[at].includes(word) || texts[all.reason[at]].includes(word))) continue;
    if (missed === 0) found.push(at);
    if (missed === 0 || missed === 1) add("status", all.status[at]);
    keys.forEach((key, index) => { if (missed === 0 || missed === 2 << index) add(key, of[index](area)); });
  }
  selected = { cases: Int32Array.from(found), counts };
}

function drawFilters() {
  const form = byId("filters");
  if (!form.firstChild) buildFilters(form);
  form.elements.text.value = view.text;
  for (const key of ["family", "op", "type", "layout"]) fillOptions(form.elements[key], key);
  const chips = [...selected.counts.status].sort(([a], [b]) => a - b).map(([status]) => status);
  for (const word of view.status) if (!chips.includes(data.shown.indexOf(word))) chips.push(data.shown.indexOf(word));
  form.querySelector(".chips").replaceChildren(...chips.map((status) => {
    const word = data.shown[status];
    const isOn = view.status.includes(word);
    const next = isOn ? view.status.filter((each) => each !== word) : [...view.status, word];
    return make("button", { type: "button", class: `chip is-${word}`, "aria-pressed": String(isOn), click: () => go({ status: next, case: "" }) },
      word, make("b", {}, said(selected.counts.status.get(status) ?? 0)));
  }));
  const isPlain = !view.status.length && ["family", "op", "type", "layout", "text"].every((key) => !view[key]);
  form.elements.clear.hidden = isPlain;
  const count = said(selected.cases.length);
  put("found", isPlain ? `${count} cases` : `${count} of ${said(data.count)} cases`);
  byId("filter-count").textContent = isPlain ? `${count} cases` : `${count} of ${said(data.count)}`;
}

function buildFilters(form) {
  const labels = { family: "family", op: "op", type: "element type", layout: "layout" };
  form.append(
    make("div", { class: "row" },
      make("label", { class: "grow" }, make("span", {}, "id or reason"), make("input", { type: "search", name: "text", spellcheck: "false", placeholder: "reduce sum -0.0 …" })),
      Object.entries(labels).map(([key, label]) => make("label", {}, make("span", {}, label), make("select", { name: key, change: (event) => {
        const cleared = key === "family" ? { op: "" } : {};
        go({ [key]: event.target.value, ...cleared, case: "" });
      } }))),
      make("button", { type: "button", name: "clear", class: "clear", click: () => go({ ...PLAIN, sort: view.sort }) }, "clear")),
    make("div", { class: "row" }, make("div", { class: "chips", role: "group", "aria-label": "Status" }), make("output", { id: "filter-count" })));
  let timer = 0;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.elements.text.addEventListener("input", (event) => {
    clearTimeout(timer);
    timer = setTimeout(() => go({ text: event.target.value, case: "" }), 120);
  });
}

function fillOptions(node, key) {
  const counts = selected.counts[key];
  const values = [...counts.keys()].filter((value) => WORDS[key][value] !== "");
  values.sort(key === "type" || key === "layout" || key === "family" ? (a, b) => a - b : (a, b) => (WORDS[key][a] < WORDS[key][b] ? -1 : 1));
  const words = values.map((value) => [WORDS[key][value], counts.get(value)]);
  if (view[key] && !words.some(([word]) => word === view[key])) words.push([view[key], 0]);
  node.replaceChildren(make("option", { value: "" }, "any"), ...words.map(([word, count]) => make("option", { value: word, selected: word === view[key] }, `${word} (${said(count)})`)));
  node.classList.toggle("set", view[key] !== "");
}
