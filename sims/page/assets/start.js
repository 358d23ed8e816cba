// Fills every article of the page with its charts, and draws them again in other colours or for paper.
"use strict";

function startDiagram(article, diagram) {
  const find = name => article.querySelector(name), chart = find("[data-chart=diagram]"), slider = find("[data-slider]"), seen = find("[data-seen]");
  slider.max = diagram.seen.length - 1;
  slider.value = slider.max;
  const largest = largestOf(diagram, synapsesOf(diagram).synapses);
  find("[data-scale]").textContent = "A synapse of full size has " + Object.entries(largest).map(([matrix, value]) =>
    `weight ${short(Number(value.toPrecision(3)))} in ${matrix === "Q" ? "Q and R" : matrix}${matrix === "Vx" || matrix === "Vy" ? " (norm over all inputs)" : ""}`).join(", ") + ", the largest at the end; area shows strength, and what is stronger on the way is drawn no larger.";
  const redraw = () => { seen.textContent = diagram.seen[slider.value].toLocaleString("en"); drawDiagram(chart, diagram, Number(slider.value)); };
  slider.addEventListener("input", redraw);
  slider.addEventListener("change", redraw);
  drawings.push(redraw);
}

// Several folders in shared axes: every chart that more than one of them has.
function together(gathered, names) {
  const charts = [];
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
  if (gathered[i].diagram) startDiagram(article, gathered[i].diagram);
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
