// Fills every article of the page with its charts, and draws them again in other colours or for paper.
"use strict";

function startCircuit(article, run) {
  const find = name => article.querySelector(name), chart = name => find(`[data-chart=${name}]`);
  const slider = find("[data-slider]"), seen = find("[data-seen]"), neurons = [...article.querySelectorAll("[data-neuron]")], when = find("[data-stage]");
  let neuron = 0, stage = null;
  const equal = run.symmetry.measured.every(distance => distance === 0);
  find("[data-equal]").hidden = !equal;
  chart("symmetry").hidden = equal;
  slider.max = run.diagram.seen.length - 1;
  slider.value = slider.max;
  const { synapses } = synapsesOf(run), largest = largestOf(run, synapses);
  find("[data-scale]").textContent = "A synapse of full size has " + Object.entries(largest).map(([matrix, value]) =>
    `weight ${short(Number(value.toPrecision(3)))} in ${matrix === "Q" ? "Q and R" : matrix}${matrix === "Vx" || matrix === "Vy" ? " (norm over all inputs)" : ""}`).join(", ") + ", the largest at the end; area shows strength, and what is stronger on the way is drawn no larger.";
  const drawn = {
    diagram() { seen.textContent = run.diagram.seen[slider.value].toLocaleString("en"); drawDiagram(chart("diagram"), run, Number(slider.value)); },
    symmetry() { if (!equal) drawSymmetry(chart("symmetry"), run); },
    learning() { if (run.learning) drawLearning(chart("learning"), run); },
    traces() { if (run.traces) drawTraces(chart("traces"), run, neuron, stage); },
    audit() { if (run.audit) drawAudit(chart("audit"), run, neuron); },
    filters() { if (run.filters) drawFilters(chart("filters"), run); },
  };
  for (const select of neurons) {  // beside plateaus and beside their audit: the same neuron
    for (let j = 0; j < run.diagram.Vx[0].length; j++) select.add(new Option(String(j + 1), j));
    select.addEventListener("change", () => { neuron = Number(select.value); neurons.forEach(one => { one.value = neuron; }); drawn.traces(); drawn.audit(); });
  }
  if (run.traces) {
    const titles = Object.keys(run.traces.stages);
    stage = titles[titles.length - 1];
    for (const title of titles) when.add(new Option(title, title, false, title === stage));
    when.addEventListener("change", () => { stage = when.value; drawn.traces(); });
  }
  for (const name of ["learning", "traces", "audit", "filters"]) if (!run[name]) find(`[data-section=${name}]`).hidden = true;
  slider.addEventListener("input", drawn.diagram);
  slider.addEventListener("change", drawn.diagram);
  drawings.push(() => Object.values(drawn).forEach(one => one()));
}

// Several folders in shared axes: the learning of their circuits, and every chart that more than one of them has.
function together(gathered, names) {
  const view = (label, percent, course) => ({
    name: label, label, x: ["samples seen"], log: "xy", window: 0, percent, choose: {},
    series: gathered.flatMap(({ circuit }, i) => circuit && course(circuit) ? [{ choose: {}, line: names[i], group: names[i], theory: false, repeat: null,
      ...positive(circuit.seen, course(circuit)) }] : []),
  });
  const positive = (x, y) => { const kept = x.map((value, i) => [value, y[i]]).filter(([a, b]) => a > 0 && b > 0); return { x: [kept.map(p => p[0])], y: kept.map(p => p[1]) }; };
  const learning = [view("excess over the optimum", true, circuit => circuit.learning && circuit.learning.excess),
    view("‖Q′ − R‖", false, circuit => circuit.symmetry.measured)].filter(one => one.series.length > 1);
  const charts = learning.length ? [{ title: "All circuits together", hint: "One line for each folder.", views: learning }] : [];
  const titles = new Set(gathered.flatMap(({ curves }) => (curves || []).map(chart => chart.title)));
  for (const title of titles) {
    const owners = gathered.map(({ curves }) => (curves || []).find(chart => chart.title === title));
    if (owners.filter(Boolean).length < 2) continue;
    const views = owners.find(Boolean).views.map(one => {
      const same = owners.map(chart => chart && chart.views.find(other => other.name === one.name));
      const choose = {};
      for (const other of same.filter(Boolean)) for (const [name, options] of Object.entries(other.choose)) choose[name] = [...new Set([...(choose[name] || []), ...options])];
      return { ...one, choose, series: same.flatMap((other, i) => other ? other.series.map(line => ({ ...line, line: [names[i], line.line].filter(Boolean).join(": "), group: [names[i], line.group].filter(Boolean).join(": ") })) : []) };
    });
    charts.push({ title: `${title}, all folders together`, hint: owners.find(Boolean).hint, views });
  }
  return charts;
}

const gathered = JSON.parse(document.getElementById("data").textContent);
document.querySelectorAll("article").forEach((article, i) => {
  if (gathered[i].circuit) startCircuit(article, gathered[i].circuit);
  if (gathered[i].curves) startCurves(article.querySelector("[data-curves]"), gathered[i].curves);
  if (gathered[i].sweep) startSweep(article, gathered[i].sweep, gathered[i].base);
});

document.querySelectorAll("nav.sections").forEach((nav, part) => nav.closest("article").querySelectorAll("section").forEach((section, i) => {
  if (section.hidden) return;
  const link = document.createElement("a");
  section.id = `part-${part}-${i}`;
  link.href = `#${section.id}`;
  link.textContent = section.querySelector("h3").textContent;
  nav.append(link);
}));

if (gathered.length > 1) startCurves(document.querySelector("[data-together]"), together(gathered, [...document.querySelectorAll("article > h2")].map(one => one.textContent)));

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
