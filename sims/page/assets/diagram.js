// The diagram of one circuit, with its weights at a moment of learning.
"use strict";
// The circuit as the figure "wiring" draws it: pyramidal cells side by side, axons across their dendrites, a synapse where
// they cross. All sensory axons are one bundle here, and so are all instructive ones.
function places(diagram) {
  const k = diagram.Q[0].length, own = diagram.own.populations;
  const inner = [...Array.from({ length: diagram.Q[0][0].length }, (_, i) => ["interneurons", i]), ...own.flatMap(({ name, size }) => Array.from({ length: size }, (_, i) => [name, i]))];
  const pair = 2.2, soma = 1.6, low = soma + 2.4, top = low + pair * inner.length + 0.6;
  const middles = new Map(inner.map(([name, i], row) => [`${name} ${i}`, low + pair * (inner.length - 1 - row)]));
  return { k, inner, soma, top, sensory: 0, instructive: top - 0.9, x: j => j + 1, axon: j => j + 1.38, right: k + 1.1, middle: (name, i) => middles.get(`${name} ${i}`) };
}

// Where the axon of a source meets the dendrite of a target; null where they do not cross.
function crossing(place, source, i, target, j, drives) {
  const input = { sensory: place.sensory, instructive: place.instructive };
  if (target === "pyramidal" && source in input) return [place.x(j), input[source]];
  if (target === "pyramidal" && source !== "pyramidal") return [place.x(j), place.middle(source, i) + 0.5];
  if (source === "pyramidal" && target !== "pyramidal") return [place.axon(i), place.middle(target, j) - 0.5];
  return null;
}

function synapsesOf(diagram) {
  const place = places(diagram), found = [], { k } = place, l = diagram.Q[0][0].length;
  const add = (matrix, source, i, target, j, sign, at, label) => found.push({ matrix, sign, at, label, source, target, i, j, place: crossing(place, source, i, target, j) });
  for (let j = 0; j < k; j++) {
    add("Vx", "sensory", 0, "pyramidal", j, 0, t => diagram.Vx[t][j], `all sensory inputs to pyramidal cell ${j + 1}`);
    add("Vy", "instructive", 0, "pyramidal", j, 0, t => diagram.Vy[t][j], `all instructive inputs to pyramidal cell ${j + 1}`);
    for (let i = 0; i < l; i++) {
      add("R", "pyramidal", j, "interneurons", i, 1, t => diagram.R[t][i][j], `pyramidal cell ${j + 1} to interneuron ${i + 1}`);
      add("Q", "interneurons", i, "pyramidal", j, -1, t => diagram.Q[t][j][i], `interneuron ${i + 1} to pyramidal cell ${j + 1}`);
    }
  }
  for (const pathway of diagram.own.pathways)
    pathway.values[0].forEach((targets, i) => targets.forEach((_, j) =>
      add(pathway.weight, pathway.source, i, pathway.target, j, pathway.sign, t => pathway.values[t][i][j], `${pathway.source} ${i + 1} to ${pathway.target} ${j + 1}`)));
  return { place, synapses: found };
}

// Q and R share a scale, since R becomes Q transposed; each other pathway has one.
function scaleOf(matrix) { return matrix === "R" ? "Q" : matrix; }

// Full size is the largest weight at the end: on the way weights may overshoot, and would leave nothing of the rest.
function largestOf(diagram, synapses) {
  const largest = {}, last = diagram.seen.length - 1;
  for (const one of synapses) { const scale = scaleOf(one.matrix); largest[scale] = Math.max(largest[scale] || 1e-300, Math.abs(one.at(last)) || 0); }
  return largest;
}

function share(weight, largest) { return Math.min(1, (Math.abs(weight) || 0) / largest); }

function drawDiagram(chart, diagram, step) {
  const { place, synapses } = synapsesOf(diagram), largest = largestOf(diagram, synapses), { k, soma, top, right } = place;
  const colour = matrix => COLOURS[{ Vx: "proximal", Vy: "distal", Q: "Q", R: "R" }[matrix] || "own"], left = 0.4, traces = [];
  const line = (x, y, color, width) => traces.push({ x, y, mode: "lines", hoverinfo: "skip", showlegend: false, line: { color, width } });
  line([left, right - 0.3], [place.sensory, place.sensory], colour("Vx"), 4);
  line([left, right - 0.3], [place.instructive, place.instructive], colour("Vy"), 4);
  for (const [name, i] of place.inner) {
    const height = place.middle(name, i);
    line([left + 0.4, right, right, left], [height - 0.5, height - 0.5, height + 0.5, height + 0.5], grid(), 1);
    line([left, right], [height + 0.5, height + 0.5], colour(name === "interneurons" ? "Q" : "own"), 1.2);
    line([left + 0.4, right], [height - 0.5, height - 0.5], ink(), 1);
  }
  const highest = place.inner.length ? place.middle(...place.inner[0]) : soma;
  for (let j = 0; j < k; j++) {
    line([place.x(j), place.x(j)], [-0.7, top], ink(), 2);
    line([place.x(j), place.axon(j), place.axon(j)], [soma, soma, highest], colour("R"), 1.2);
  }
  const full = k > 8 ? 15 : 22, range = n => Array.from({ length: n }, (_, i) => i);
  for (const one of synapses.filter(one => !one.place)) {  // between cells whose lines do not cross: straight from one to the other
    const where = (name, i) => name === "pyramidal" ? [place.x(i), soma] : name in { sensory: 1, instructive: 1 } ? [left, place[name]] : [right, place.middle(name, i)];
    const from = where(one.source, one.i), to = where(one.target, one.j);
    line([from[0], from[0] + 0.25, to[0] + 0.25, to[0]], [from[1], from[1], to[1], to[1]], colour(one.matrix), 0.5 + 4 * share(one.at(step), largest[scaleOf(one.matrix)]));
  }
  for (const matrix of new Set(synapses.map(one => one.matrix))) {
    const here = synapses.filter(one => one.matrix === matrix && one.place), onto = matrix === "R" || (here[0] && here[0].target !== "pyramidal");
    if (!here.length) continue;
    const { rule, synapses: count } = diagram.pathways[matrix], weights = here.map(one => one.at(step) ?? NaN);
    const lowers = here.map((one, i) => one.sign * weights[i] < 0), size = weights.map(weight => Math.max(4, full * Math.sqrt(share(weight, largest[scaleOf(matrix)]))));
    traces.push({ x: here.map((one, i) => one.place[0] - (one.sign === 0 ? 0 : lowers[i] && !onto ? 0.1 : onto ? 0 : 0.06)),
      y: here.map((one, i) => one.place[1] - (onto ? (lowers[i] ? 0.25 : 0.2) : 0)), mode: "markers", hoverinfo: "text", showlegend: false, name: matrix,
      text: here.map((one, i) => `<b>${safe(matrix)}</b>, ${safe(one.label)}<br>${one.sign === 0 ? "norm of its weights" : "weight"} ${weights[i].toPrecision(4)}`
        + (one.sign === 0 ? `<br>${Math.round(100 * diagram.raising[matrix][step][one.j])} % of them raise the target, the others lower it` : `<br>${lowers[i] ? "lowers" : "raises"} its target`) + `<br>${safe(count)} in the pathway<br>${safe(rule)}`),
      marker: { size, opacity: 1, symbol: here.map((one, i) => one.sign === 0 ? "diamond" : lowers[i] ? (onto ? "line-ew-open" : "line-ns-open") : onto ? "triangle-up" : "triangle-right"),
        color: colour(matrix), line: { color: colour(matrix), width: here.map((_, i) => lowers[i] ? 3 : 0) } } });
  }
  const cells = (x, y, symbol, size, names, numbers) => traces.push({ x, y, mode: "markers+text", hoverinfo: "text", showlegend: false, text: numbers, hovertext: names, textposition: "middle center",
    textfont: { size: 11, color: ink() }, marker: { symbol, size, opacity: 1, color: getComputedStyle(document.documentElement).getPropertyValue("--card").trim(), line: { color: ink(), width: 2 } } });
  const many = k > 8;
  cells(range(k).map(place.x), range(k).map(() => soma), "triangle-up", many ? 24 : 34, range(k).map(j => `pyramidal cell ${j + 1}: soma, output z; above it the apical dendrite with its plateau`), range(k).map(j => j + 1));
  cells(place.inner.map(() => right), place.inner.map(([name, i]) => place.middle(name, i)), "circle", many ? 18 : 24,
    place.inner.map(([name, i]) => name === "interneurons" ? `interneuron ${i + 1}, activity n` : `${safe(name)} ${i + 1}`), place.inner.map(([, i]) => i + 1));
  const note = (x, y, text, xanchor, color) => ({ x, y, text, showarrow: false, xanchor, font: { color: color || ink(), size: 12 } });
  const first = place.inner.length ? place.middle(...place.inner[0]) : soma, unit = Math.max((chart.clientWidth - 152) / (right - left), 10);  // pixels
  draw(chart, traces, {
    xaxis: { visible: false, range: [left - 96 / unit, right + 46 / unit], fixedrange: true }, yaxis: { visible: false, range: [-1.2, top + 0.5], fixedrange: true },
    annotations: [note(left, place.sensory, `sensory x,<br>${diagram.sizes.input} axons, V<sub>x</sub>`, "right", colour("Vx")), note(left, place.instructive, `instructive y,<br>${diagram.sizes.instruction} axons, V<sub>y</sub>`, "right", colour("Vy")),
      note(left, soma, "somata", "right"), note(left, first + 0.5, "Q", "right", colour("Q")), note(place.axon(0) + 0.06, soma + 0.75, "R", "left", colour("R")),
      note(right + 0.12, first + 1.2, "inter-<br>neurons", "center"), ...diagram.own.populations.map(({ name, size }) => note(right + 0.14, place.middle(name, size - 1) - 1, safe(name), "center"))],
    margin: { l: 5, r: 45, t: 10, b: 5 },
  });
}
