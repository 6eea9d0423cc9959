"use strict";
// Small multiples: one histogram a family, all on one scale, so that they can be compared at a glance.
const PLOT = { width: 216, height: 74, foot: 14, from: -3, to: 0, bins: 6, beyond: 3 };
const BINS = (PLOT.to - PLOT.from) * PLOT.bins;

/** How many values lie in each bin, less those without error; the last bins lie beyond the bound. */
function binned(values) {
  const bins = new Array(BINS + PLOT.beyond).fill(0);
  for (const value of values) {
    if (value === 0) continue;
    const place = Math.floor((Math.log10(Math.min(value, INFINITE)) - PLOT.from) * PLOT.bins + 1e-9);
    const inside = value <= 1 ? Math.min(place, BINS - 1) : Math.max(place, BINS);
    bins[Math.max(0, Math.min(bins.length - 1, inside))] += 1;
  }
  return bins;
}

function histogram(values, words) {
  const bins = binned(values);
  const most = Math.max(1, ...bins);
  const step = PLOT.width / bins.length;
  const floor = PLOT.height - PLOT.foot;
  const bars = bins.map((count, index) => {
    if (!count) return null;
    const height = Math.max(1.5, (count / most) * (floor - 4));
    const low = 10 ** (PLOT.from + index / PLOT.bins);
    const high = 10 ** (PLOT.from + (index + 1) / PLOT.bins);
    const range = index === 0 ? `up to ${figure(high)}` : index === bins.length - 1 ? `above ${figure(low)}` : `${figure(low)} to ${figure(high)}`;
    return draw("rect", { x: (index * step + 0.5).toFixed(2), y: (floor - height).toFixed(2), width: (step - 1).toFixed(2), height: height.toFixed(2), class: index < BINS ? "in" : "out" },
      draw("title", {}, `${range}: ${said(count)} cases`));
  });
  const ticks = [0.001, 0.01, 0.1, 1].map((value, index) => draw("text", { x: (index * PLOT.bins * step + (index ? 0 : 1)).toFixed(2), y: PLOT.height - 2, "text-anchor": index ? "middle" : "start" }, String(value)));
  const bound = (BINS * step).toFixed(2);
  return draw("svg", { viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, role: "img", "aria-label": words },
    draw("line", { x1: 0, x2: PLOT.width, y1: floor, y2: floor, class: "axis" }),
    draw("line", { x1: bound, x2: bound, y1: 0, y2: floor + 3, class: "bound" }), bars, ticks);
}

function drawHistograms(target, column) {
  const byFamily = new Map();
  for (const at of selected.cases) {
    const value = column[at];
    if (Number.isNaN(value)) continue;
    const key = family(all.area[at]);
    if (!byFamily.has(key)) byFamily.set(key, []);
    byFamily.get(key).push(value);
  }
  put(target, [...byFamily].map(([key, values]) => {
    const name = data.families[key];
    const worst = values.reduce((a, b) => Math.max(a, b), 0);
    const exact = values.filter((value) => value === 0).length;
    const words = `${said(values.length)} cases${exact ? `, ${said(exact)} without error` : ""}`;
    return make("figure", { class: worst > 1 ? "over" : "" },
      make("figcaption", {}, make("button", { type: "button", class: "link", click: () => go({ family: name, op: "", case: "" }) }, name), make("b", {}, figure(worst))),
      histogram(values, `${name}: ${words}, worst ${figure(worst)}`), make("p", {}, words));
  }));
  return byFamily.size > 0;
}
