"use strict";
// Making elements: properties, children; a string child is a text.
const byId = (id) => document.getElementById(id);

function make(name, properties = {}, ...children) {
  return filled(document.createElement(name), properties, children);
}

function draw(name, properties = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), properties, children);
}

function filled(node, properties, children) {
  for (const [key, value] of Object.entries(properties)) {
    if (typeof value === "function") node.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

function put(id, ...children) {
  byId(id).replaceChildren(...children.flat());
}

/** A choice of one of a few words. */
function choice(node, words, chosen, onChoice) {
  node.replaceChildren(...words.map((word) =>
    make("button", { type: "button", "aria-pressed": String(word === chosen), click: () => onChoice(word) }, word)));
}

/** A bar of a share, beside a number. */
function bar(share, kind = "") {
  const width = Math.max(0, Math.min(1, share)) * 100;
  return make("span", { class: `bar ${kind}`, "aria-hidden": "true" }, make("i", { style: `width: ${width.toFixed(1)}%` }));
}
