"use strict";
// Where everything begins: the address says what is looked at, and each change of it draws anew.
function show(next) {
  view = next;
  select();
  drawFilters();
  byId("margins").hidden = !drawHistograms("histograms", all.margin);
  const isBiased = drawHistograms("biases", all.bias);
  const isSpread = drawHistograms("variances", all.variance);
  byId("sums").hidden = !isBiased && !isSpread;
  drawRankings();
  drawTable();
}

function follow() {
  const next = readAddress();
  const isView = Object.keys(PLAIN).some((key) => next[key].length);
  const anchor = location.hash.length > 1 && !isView ? byId(decodeURIComponent(location.hash.slice(1))) : null;
  if (anchor) return;
  show(next);
  if (isView) byId("cases").scrollIntoView({ block: "start" });
}

byId("explore").hidden = data.count === 0;
drawMatrix();
byId("matrix-table").addEventListener("keydown", moveInMatrix);
show(readAddress());
if (Object.keys(PLAIN).some((key) => view[key].length)) byId("cases").scrollIntoView({ block: "start" });
window.addEventListener("hashchange", follow);
window.addEventListener("resize", drawRows);
document.documentElement.dataset.ready = "yes";
