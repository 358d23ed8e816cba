// The charts of one circuit: diagram, learning curve, plateaus, audit, symmetry, filters.
"use strict";
const TRACES = {  // name, colour (ink where there is none), dash
  plateau: ["plateau", null, "solid"],
  a: ["distal current a", "distal", "dash"],
  inhibition: ["inhibition Qn", "Q", "dot"],
  z: ["output z", "proximal", "dashdot"],
};

function drawLearning(chart, run) {
  const shown = points(run.seen, run.learning.objective);
  draw(chart, [
    { x: shown.map(p => p[0]), y: shown.map(p => p[1]), name: "circuit", line: { color: COLOURS.proximal } },
    { x: [shown[0][0], shown[shown.length - 1][0]], y: [run.learning.optimum, run.learning.optimum], name: "optimum",
      mode: "lines", line: { color: COLOURS.theory, dash: "dash" } },
  ], { xaxis: { type: "log", title: { text: "samples seen" } }, yaxis: { title: { text: run.s === 0 ? "objective (units of y²)" : run.s === 1 ? "objective (no unit)" : "objective" } } });
}

function drawSymmetry(chart, run) {
  const measured = points(run.seen, run.symmetry.measured), predicted = points(run.seen, run.symmetry.predicted).filter(p => p[1] !== null);
  const top = Math.log10(Math.max(...measured.map(p => p[1]), 1e-300));  // below 1e-18 of it rounding is all there is
  const traces = [{ x: measured.map(p => p[0]), y: measured.map(p => p[1]), name: "measured", mode: "markers", marker: { color: COLOURS.R }, showlegend: true }];
  if (predicted.length)
    traces.push({ x: predicted.map(p => p[0]), y: predicted.map(p => p[1]), name: "predicted, product of (1 − η)", mode: "lines",
      line: { color: COLOURS.theory, dash: "dash" } });
  draw(chart, traces, { xaxis: { type: "log", title: { text: "samples seen" } },
    yaxis: { type: "log", title: { text: "‖Q′ − R‖" }, exponentformat: "power", range: [top - 18, top + 0.5] } });
}

function drawTraces(chart, run, neuron) {
  const series = Object.entries(TRACES).filter(([name]) => run.traces[name]).map(([name, [label, colour, dash]]) => ({
    x: run.traces.samples, y: run.traces[name][neuron], name: label, mode: "lines",
    line: { color: COLOURS[colour] || ink(), dash, width: name === "plateau" ? 2 : 1.3 }, visible: name === "z" ? "legendonly" : true,
  }));
  const last = run.traces.samples.length - 1, first = Math.max(0, last - 60);
  draw(chart, series, {
    xaxis: { title: { text: "sample" }, rangeslider: { thickness: 0.1, bgcolor: "rgba(0,0,0,0)", bordercolor: grid(), borderwidth: 1 }, range: [run.traces.samples[first], run.traces.samples[last]] },
    yaxis: { title: { text: `neuron ${neuron + 1} (units of a)` } }, dragmode: "pan", uirevision: "kept",
  });
}

function drawAudit(chart, run, neuron) {
  const { error, plateau, correlation } = run.audit;
  const all = error[neuron].concat(plateau[neuron]), span = [Math.min(...all), Math.max(...all)];
  draw(chart, [
    { x: error[neuron], y: plateau[neuron], mode: "markers", name: `neuron ${neuron + 1}, correlation ${correlation[neuron].toFixed(4)}`,
      marker: { color: COLOURS.proximal, opacity: 0.6, size: 6 } },
    { x: span, y: span, mode: "lines", name: "equal", line: { color: COLOURS.theory, dash: "dash" } },
  ], { xaxis: { title: { text: "back-propagated error (units of a)" } }, yaxis: { title: { text: "plateau (units of a)" } } });
}

function drawFilters(chart, run) {
  const { learned, exact, pixels } = run.filters, count = learned.length, charts = [], more = { annotations: [] };
  if (pixels) {
    const rows = values => Array.from({ length: pixels[0] }, (_, r) => values.slice(r * pixels[1], (r + 1) * pixels[1]));
    [learned, exact].forEach((filters, row) => filters.forEach((values, column) => {
      const id = row * count + column + 1, suffix = id === 1 ? "" : String(id);
      const limit = Math.max(...values.map(Math.abs)), width = 1 / count;
      charts.push({ type: "heatmap", z: rows(values), colorscale: "RdBu", zmin: -limit, zmax: limit, showscale: false,
        xaxis: "x" + suffix, yaxis: "y" + suffix, hovertemplate: "row %{y}, column %{x}: %{z:.4g}<extra></extra>" });
      more["xaxis" + suffix] = { domain: [column * width + 0.01, (column + 1) * width - 0.01], anchor: "y" + suffix,
        visible: false };
      more["yaxis" + suffix] = { domain: row ? [0, 0.44] : [0.5, 0.94], anchor: "x" + suffix, autorange: "reversed",
        visible: false, scaleanchor: "x" + suffix };
      more.annotations.push({ text: `${row ? "exact" : "learned"} ${column + 1}`, showarrow: false, xref: "paper", yref: "paper",
        x: (column + 0.5) * width, y: row ? 0.45 : 0.95, xanchor: "center", yanchor: "bottom" });
    }));
    more.margin = { l: 5, r: 5, t: 34, b: 5 };
  } else {
    learned.forEach((values, i) => {
      charts.push({ y: exact[i], name: `exact ${i + 1}`, line: { color: COLOURS.theory, width: 4 }, legendgroup: i, visible: i < 2 || "legendonly" });
      charts.push({ y: values, name: `learned ${i + 1}`, line: { color: COLOURS.proximal, width: 1.5 }, legendgroup: i, visible: i < 2 || "legendonly" });
    });
    Object.assign(more, { xaxis: { title: { text: "input" } }, yaxis: { title: { text: "weight" } } });
  }
  draw(chart, charts, more);
}

// The circuit: inputs to the left, pyramidal cells with soma and distal dendrite, interneurons to the right.
function diagramEdges(run) {
  const k = run.diagram.Q[0].length, l = run.diagram.Q[0][0].length, edges = [];
  const rowOf = (i, n) => n === 1 ? 0.5 : 1 - i / (n - 1);
  const soma = j => [1, rowOf(j, k) - 0.06], tuft = j => [1, rowOf(j, k) + 0.06], cell = i => [2, rowOf(i, l)];
  for (let j = 0; j < k; j++) {
    edges.push({ matrix: "Vx", from: [0, 0.2], to: soma(j), at: d => d.Vx, of: (m, t) => m[t][j], label: `sensory input to pyramidal cell ${j + 1}`, sign: 1 });
    edges.push({ matrix: "Vy", from: [0, 0.8], to: tuft(j), at: d => d.Vy, of: (m, t) => m[t][j], label: `instructive input to pyramidal cell ${j + 1}`, sign: 1 });
    for (let i = 0; i < l; i++) {
      edges.push({ matrix: "R", from: soma(j), to: cell(i), at: d => d.R, of: (m, t) => m[t][i][j], label: `pyramidal cell ${j + 1} to interneuron ${i + 1}`, sign: 1 });
      edges.push({ matrix: "Q", from: cell(i), to: tuft(j), at: d => d.Q, of: (m, t) => m[t][j][i], label: `interneuron ${i + 1} to pyramidal cell ${j + 1}`, sign: -1 });
    }
  }
  // Parts of one's own: each further population is a column behind the interneurons.
  const own = run.diagram.own, columns = {};
  own.populations.forEach((population, c) => { columns[population.name] = i => [2.8 + 0.8 * c, rowOf(i, population.size)]; });
  const inputs = { sensory: () => [0, 0.2], instructive: () => [0, 0.8] };
  for (const pathway of own.pathways) {
    const from = { ...inputs, pyramidal: soma, interneurons: cell, ...columns }[pathway.source];
    const to = { pyramidal: pathway.drives === "z" ? soma : tuft, interneurons: cell, ...columns }[pathway.target];
    pathway.values[0].forEach((targets, i) => targets.forEach((_, j) => edges.push({
      matrix: pathway.weight, from: from(i), to: to(j), at: () => pathway.values, of: (m, t) => m[t][i][j],
      label: `${pathway.source} ${i + 1} to ${pathway.target} ${j + 1}`, sign: pathway.sign })));
  }
  return { edges, soma, tuft, cell, k, l, columns };
}

function drawDiagram(chart, run, step) {
  const { edges, soma, tuft, cell, k, l, columns } = diagramEdges(run), diagram = run.diagram, last = diagram.seen.length - 1;
  const largest = {};
  for (const edge of edges)
    for (let t = 0; t <= last; t++) largest[edge.matrix] = Math.max(largest[edge.matrix] || 1e-300, Math.abs(edge.of(edge.at(diagram), t)));
  const traces = edges.map(edge => {
    const weight = edge.of(edge.at(diagram), step) ?? NaN, adds = edge.sign * weight >= 0, { rule, synapses } = diagram.pathways[edge.matrix];
    const several = edge.matrix[0] === "V", steps = 12, x = [], y = [];
    for (let i = 0; i <= steps; i++) {  // points along the line, so that it can be pointed at anywhere
      x.push(edge.from[0] + (edge.to[0] - edge.from[0]) * i / steps);
      y.push(edge.from[1] + (edge.to[1] - edge.from[1]) * i / steps);
    }
    return { x, y, mode: "lines", hoverinfo: "text", showlegend: false,
      text: `<b>${edge.matrix}</b>, ${edge.label}<br>${several ? "norm of its weights" : "weight"} ${weight.toPrecision(4)}<br>${synapses} in the pathway<br>${rule}`,
      line: { width: 0.5 + 7 * (Math.abs(weight) || 0) / largest[edge.matrix], color: adds ? COLOURS.proximal : COLOURS.distal } };
  });
  const cells = (places, symbol, size, names) => ({ x: places.map(p => p[0]), y: places.map(p => p[1]), mode: "markers", hoverinfo: "text", showlegend: false,
    text: names, marker: { symbol, size, color: grid(), line: { color: ink(), width: 2 } } });
  const range = n => Array.from({ length: n }, (_, i) => i);
  traces.push(cells([[0, 0.2], [0, 0.8]], "square", 26, [`sensory input x, ${diagram.sizes.input} fibres`, `instructive input y, ${diagram.sizes.instruction} fibres`]));
  traces.push(cells(range(k).map(soma), "triangle-up", 22, range(k).map(j => `pyramidal cell ${j + 1}: soma, output z`)));
  traces.push(cells(range(k).map(tuft), "diamond-wide", 14, range(k).map(j => `pyramidal cell ${j + 1}: distal dendrite, plateau`)));
  traces.push(cells(range(l).map(cell), "circle", 22, range(l).map(i => `interneuron ${i + 1}, activity n`)));
  for (const { name, size, meaning } of diagram.own.populations)
    traces.push(cells(range(size).map(columns[name]), "circle", 22, range(size).map(i => `${name} ${i + 1}${meaning ? ": " + meaning : ""}`)));
  const note = (x, y, text) => ({ x, y, text, showarrow: false, font: { color: ink() } });
  draw(chart, traces, {
    xaxis: { visible: false, range: [-0.35, 2.35 + 0.8 * diagram.own.populations.length], fixedrange: true }, yaxis: { visible: false, range: [-0.22, 1.3], fixedrange: true },
    annotations: [note(0, 0.06, "sensory x"), note(0, 0.94, "instructive y"), note(1, 1.24, "pyramidal cells"), note(2, 1.24, "interneurons"),
      ...diagram.own.populations.map((population, c) => note(2.8 + 0.8 * c, 1.24, population.name))],
    margin: { l: 5, r: 5, t: 34, b: 5 },
  });
}

