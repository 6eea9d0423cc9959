"use strict";
// The columns of columns.py, and what is read from them. All texts go into the page as text nodes, never as HTML.
const data = JSON.parse(document.getElementById("data").textContent);

const all = {
  status: unrun(data.status),
  attested: unrun(data.attested),
  area: unrun(data.area),
  name: data.name,
  micros: data.micros,
  margin: scatter(data.margin, NaN),
  error: scatter(data.error, NaN),
  bias: scatter(data.bias, NaN),
  variance: scatter(data.variance, NaN),
  at: scatter(data.at, 0),
  reason: scatter(data.reason, 0),
  degraded: scatter(data.degraded, 0),
  more: new Map(data.more[0].map((at, index) => [at, data.more[1][index]])),
};
const AREAS = data.areas.length / 4;
const WORDS = { family: data.families, op: data.ops, type: data.elements, layout: data.layouts };
const PASS = data.shown.indexOf("pass");
const CALM = new Set(["pass", "unsupported", "new", "notice", "waived"].map((word) => data.shown.indexOf(word)));
const INFINITE = 1e300;

function unrun(pairs) {
  const out = new Int32Array(data.count);
  let at = 0;
  for (let index = 0; index < pairs.length; index += 2) {
    out.fill(pairs[index], at, (at += pairs[index + 1]));
  }
  return out;
}

function scatter([places, values], usual) {
  const out = new Float64Array(data.count).fill(usual);
  places.forEach((place, index) => { out[place] = values[index]; });
  return out;
}

const family = (area) => data.areas[4 * area];
const op = (area) => data.areas[4 * area + 1];
const dtypes = (area) => data.areas[4 * area + 2];
const layout = (area) => data.areas[4 * area + 3];
const element = (area) => data.element[dtypes(area)];
const isCell = (area) => data.layouts[layout(area)] !== "";

/** The id of a case, as Place.id in place.py makes it. */
function idOf(at) {
  const area = all.area[at];
  const [first, second] = [data.families[family(area)], data.ops[op(area)]];
  if (isCell(area)) {
    return `primitives/${first}/${second}/${data.dtypes[dtypes(area)]}/${data.layouts[layout(area)]}/${data.names[all.name[at]]}`;
  }
  return [first, second, data.names[all.name[at]]].filter((part) => part).join("/");
}

let identities = null;
/** Ids in small letters, made when they are first searched. */
function searched() {
  identities ??= Array.from({ length: data.count }, (_, at) => idOf(at).toLowerCase());
  return identities;
}

/** A family and op as one reads them: "reduce/sum", "copy". */
function opName(area) {
  const word = data.ops[op(area)];
  return word && word !== "-" ? `${data.families[family(area)]}/${word}` : data.families[family(area)];
}

const counted = new Intl.NumberFormat("en-US");
const said = (number) => counted.format(number);

/** A margin, error or bias in three digits; what is less than 1 never reads as 1. */
function figure(number) {
  if (Number.isNaN(number)) return "";
  if (number >= INFINITE) return "∞";
  if (number === 0) return "0";
  if (number < 1 && number >= 0.9995) return "> 0.999";
  return number >= 1000 || number < 0.001 ? number.toExponential(1) : number.toPrecision(3);
}

/** A time; a column of times has the unit of its longest. */
function duration(micros, longest = micros) {
  if (longest >= 1e6) return `${(micros / 1e6).toFixed(longest >= 1e7 ? 1 : 2)} s`;
  return longest >= 1000 ? `${(micros / 1000).toFixed(1)} ms` : `${micros.toFixed(0)} µs`;
}
