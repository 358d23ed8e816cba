// Fills every article of the page with its charts, and draws them again in other colours or for paper.
"use strict";

function startCircuit(article, run) {
  const find = name => article.querySelector(name), chart = name => find(`[data-chart=${name}]`);
  const slider = find("[data-slider]"), seen = find("[data-seen]"), neurons = [...article.querySelectorAll("[data-neuron]")];
  let neuron = 0;
  const equal = run.symmetry.measured.every(distance => distance === 0);
  find("[data-equal]").hidden = !equal;
  chart("symmetry").hidden = equal;
  slider.max = run.diagram.seen.length - 1;
  slider.value = slider.max;
  const drawn = {
    diagram() { seen.textContent = run.diagram.seen[slider.value].toLocaleString("en"); drawDiagram(chart("diagram"), run, Number(slider.value)); },
    symmetry() { if (!equal) drawSymmetry(chart("symmetry"), run); },
    learning() { if (run.learning) drawLearning(chart("learning"), run); },
    traces() { if (run.traces) drawTraces(chart("traces"), run, neuron); },
    audit() { if (run.audit) drawAudit(chart("audit"), run, neuron); },
    filters() { if (run.filters) drawFilters(chart("filters"), run); },
  };
  for (const select of neurons) {  // beside plateaus and beside their audit: the same neuron
    for (let j = 0; j < run.diagram.Vx[0].length; j++) select.add(new Option(String(j + 1), j));
    select.addEventListener("input", () => { neuron = Number(select.value); neurons.forEach(one => { one.value = neuron; }); drawn.traces(); drawn.audit(); });
  }
  for (const name of ["learning", "traces", "audit", "filters"]) if (!run[name]) find(`[data-section=${name}]`).hidden = true;
  slider.addEventListener("input", drawn.diagram);
  drawings.push(() => Object.values(drawn).forEach(one => one()));
}

const gathered = JSON.parse(document.getElementById("data").textContent);
document.querySelectorAll("article").forEach((article, i) => {
  if (gathered[i].circuit) startCircuit(article, gathered[i].circuit);
  if (gathered[i].curves) startCurves(article.querySelector("[data-curves]"), gathered[i].curves);
  if (gathered[i].sweep) startSweep(article, gathered[i].sweep, gathered[i].base);
});

function drawAll() {
  COLOURS = dark.matches && !onPaper() ? ON_DARK : ON_LIGHT;
  drawings.forEach(one => one());
}

// Paper is light and narrower than most screens, and has no closed lists.
function print(printing) {
  document.documentElement.classList.toggle("paper", printing);
  if (printing) document.querySelectorAll("details").forEach(one => { one.open = true; });
  drawAll();
  if (!printing) document.querySelectorAll(".js-plotly-plot").forEach(chart => Plotly.Plots.resize(chart));
}
dark.addEventListener("change", drawAll);
window.addEventListener("beforeprint", () => print(true));
window.addEventListener("afterprint", () => print(false));
drawAll();
