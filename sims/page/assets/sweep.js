// A sweep: the map of a number over two settings (or its curve over one), the table, the curves of chosen points.
"use strict";

const MEANT = {  // by the names in a run's summary, with units
  excess: "excess over the optimum", objective: "objective (units of y² for s = 0)", optimum: "optimum of the objective (units of y² for s = 0)", angle_max_deg: "largest angle (degrees)",
  r_minus_qt: "‖Q′ − R‖ (units of Q)", whitening_error: "deviation from whitening (no unit)", seconds: "time (s)", samples: "samples seen", ridge: "ridge (units of x²)",
  k: "k (pyramidal neurons)", s: "s (0 is RRMSE, 1 is CCA)", epochs: "epochs (passes over the data)", replay: "replay (per sample)", seed: "seed",
};
const isPercent = name => /(^|_)excess(_|$)/.test(name || "");
const meant = name => MEANT[name] || (/_us$/.test(name) ? `${name} (µs)` : /_ms$/.test(name) ? `${name} (ms)` : /_deg$/.test(name) ? `${name} (degrees)` : /correlation/.test(name) ? `${name} (no unit)` : name);
const said = (name, value) => isPercent(name) && typeof value === "number" ? `${Number((100 * value).toPrecision(3))} %` : short(value);

const MOST_LISTED = 1000;  // rows that a browser moves about without a pause

function startSweep(article, sweep, base) {
  const find = name => article.querySelector(`[data-sweep=${name}]`);
  const count = sweep.status.length, every = Array.from({ length: count }, (_, i) => i);
  const levelsOf = name => {
    const found = [...new Set(sweep.settings[name])];
    return found.every(value => typeof value === "number") ? found.sort((a, b) => a - b) : found;
  };
  const axes = [...sweep.varied, ...(levelsOf("seed").length > 1 || sweep.varied.length === 0 ? ["seed"] : [])];
  const numeric = Object.keys(sweep.numbers).filter(name => sweep.numbers[name].some(value => typeof value === "number"));
  const curveNames = [...new Set(sweep.curves.flatMap(one => Object.keys(one || {})))];
  const at = (name, i) => { const value = (sweep.numbers[name] || [])[i]; return typeof value === "number" ? value : null; };
  const lowest = (name, of) => of.filter(i => at(name, i) !== null).reduce((best, i) => best === null || at(name, i) < at(name, best) ? i : best, null);
  const best = sweep.problem.every(name => levelsOf(name).length === 1) ? lowest(sweep.measure, every) : null;
  const state = {
    number: numeric.includes(sweep.measure) ? sweep.measure : numeric[0], x: axes[0], y: sweep.varied.length > 1 ? sweep.varied[1] : "",
    log: false, chosen: [lowest(sweep.measure, every)].filter(i => i !== null), curve: curveNames.includes(sweep.measure) ? sweep.measure : curveNames[0], logCurve: true,
    sort: null, down: false,
  };
  state.log = spread(every.map(i => at(state.number, i)));
  const label = i => [...sweep.varied, "seed"].map(name => `${name} ${short(sweep.settings[name][i])}`).join(", ");

  function spread(values) {
    const known = values.filter(value => value !== null);
    return known.length > 1 && Math.min(...known) > 0 && Math.max(...known) / Math.min(...known) > 30;
  }

  // How far the middle value lies from the mean, in parts of the range: small for values that are evenly spread.
  function even(levels) {
    const mean = levels.reduce((sum, value) => sum + value, 0) / levels.length;
    return Math.abs(levels[Math.floor(levels.length / 2)] - mean) / (levels[levels.length - 1] - levels[0]);
  }

  function cells() {
    const found = new Map();
    for (const i of every) {
      const key = JSON.stringify([sweep.settings[state.x][i], state.y ? sweep.settings[state.y][i] : null]);
      if (!found.has(key)) found.set(key, { x: sweep.settings[state.x][i], y: state.y ? sweep.settings[state.y][i] : null, points: [] });
      found.get(key).points.push(i);
    }
    for (const cell of found.values()) {
      const values = cell.points.map(i => at(state.number, i)).filter(value => value !== null);
      cell.mean = values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
      cell.failed = cell.points.filter(i => sweep.status[i] === "failed").length;
      cell.text = [`${state.x} ${short(cell.x)}`, ...(state.y ? [`${state.y} ${short(cell.y)}`] : []),
        cell.mean === null ? "no number" : `${state.number} ${said(state.number, cell.mean)}${values.length > 1 ? `, mean of ${values.length}` : ""}`,
        ...(cell.failed ? [`${cell.failed} failed`] : [])].map(safe).join("<br>");
    }
    return [...found.values()];
  }

  function drawMap() {
    const chart = find("map"), all = cells(), done = all.filter(cell => cell.mean !== null), lost = all.filter(cell => cell.mean === null);
    // The star compares points that solve the same problem, and no others.
    const same = sweep.problem.every(name => levelsOf(name).length === 1);
    const top = !same ? null : done.reduce((low, cell) => low === null || cell.mean < low.mean ? cell : low, null);
    const xs = levelsOf(state.x), ys = state.y ? levelsOf(state.y) : [];
    const words = values => !values.every(value => typeof value === "number");
    // Where every point has values of its own there is no grid to fill: points in their colours instead of cells.
    const scattered = Boolean(state.y) && !words(xs) && !words(ys) && all.length < 0.5 * xs.length * ys.length;
    const placed = state.y && !scattered;
    const x = cell => placed ? xs.indexOf(cell.x) : words(xs) ? short(cell.x) : cell.x;
    const y = cell => state.y ? (placed ? ys.indexOf(cell.y) : cell.y) : cell.mean;
    const shade = value => state.log ? Math.log10(value) : value;
    const bar = { title: { text: safe(meant(state.number)), side: "right" }, thickness: 14 };
    if (isPercent(state.number)) bar.tickformat = PERCENT.tickformat;
    const range = done.map(cell => shade(cell.mean)).filter(Number.isFinite);
    if (state.log && range.length) {
      const low = Math.min(...range), high = Math.max(...range), n = 5;
      bar.tickvals = Array.from({ length: n }, (_, i) => low + (high - low) * i / (n - 1));
      bar.ticktext = bar.tickvals.map(value => said(state.number, Number((10 ** value).toPrecision(2))));
    }
    const traces = [];
    if (placed) {
      const z = ys.map(() => xs.map(() => null));
      for (const cell of done) z[y(cell)][x(cell)] = shade(cell.mean);
      traces.push({ type: "heatmap", z, colorscale: "Viridis", colorbar: bar, hoverinfo: "skip", xgap: 2, ygap: 2 });
    }
    if (!state.y && all.some(cell => cell.points.length > 1)) {
      const single = every.filter(i => at(state.number, i) !== null);
      traces.push({ x: single.map(i => words(xs) ? short(sweep.settings[state.x][i]) : sweep.settings[state.x][i]), y: single.map(i => at(state.number, i)), mode: "markers",
        name: "single points", text: single.map(i => safe(`${label(i)}: ${state.number} ${said(state.number, at(state.number, i))}`)), hoverinfo: "text",
        customdata: single.map(i => [i]), marker: { color: COLOURS.theory, size: 6, opacity: 0.7 } });
    }
    const seen = done.slice().sort((a, b) => xs.indexOf(a.x) - xs.indexOf(b.x));
    const marker = placed ? { size: 16, opacity: 0 } : scattered
      ? { size: 13, color: seen.map(cell => shade(cell.mean)), colorscale: "Viridis", colorbar: bar, line: { color: ink(), width: 1 } } : { color: COLOURS.proximal, size: 9 };
    traces.push({ x: seen.map(x), y: seen.map(y), mode: state.y ? "markers" : "lines+markers", name: "mean", text: seen.map(cell => cell.text), hoverinfo: "text",
      customdata: seen.map(cell => cell.points), marker, line: { color: COLOURS.proximal }, showlegend: !state.y });
    if (lost.length && state.y)
      traces.push({ x: lost.map(x), y: lost.map(y), mode: "markers", name: "failed", text: lost.map(cell => cell.text), hoverinfo: "text",
        customdata: lost.map(cell => cell.points), marker: { symbol: "x", size: 12, color: COLOURS.distal }, showlegend: true });
    if (top)
      traces.push({ x: [x(top)], y: [y(top)], mode: "markers", name: top.points.length > 1 ? `lowest mean, of ${top.points.length} points` : "lowest point", hoverinfo: "skip", showlegend: true,
        marker: { symbol: "star", size: 20, color: COLOURS.distal, line: { color: "#ffffff", width: 1.5 } } });
    const named = (name, levels, indexed) => ({ title: { text: safe(meant(name)) }, ...(indexed
      ? { tickvals: levels.map((_, i) => i), ticktext: levels.map(value => safe(short(value))), showgrid: false, zeroline: false }
      : words(levels) ? { type: "category" } : { type: spread(levels) && even(levels.map(Math.log)) < even(levels) ? "log" : "linear", ...(levels.length <= 12 && levels.every(level => String(level).length < 7) ? { tickvals: levels } : {}) }) });
    draw(chart, traces, {
      xaxis: named(state.x, xs, placed),
      yaxis: state.y ? named(state.y, ys, placed) : { title: { text: safe(meant(state.number)) }, type: state.log ? "log" : "linear", ...(isPercent(state.number) ? PERCENT : { exponentformat: "power" }) },
      hoverdistance: placed ? -1 : 20,
    });
    if (!chart.dataset.clicked) {
      chart.dataset.clicked = "yes";
      chart.on("plotly_click", event => {
        const hit = event.points[0], points = hit.data.customdata && hit.data.customdata[hit.pointIndex];
        if (points) toggle(points);
      });
    }
    const rest = axes.filter(name => name !== state.x && name !== state.y);
    find("mean").textContent = rest.length ? `Each ${state.y ? "cell" : "large mark"} is the mean over ${rest.join(" and ")}${same ? ", and the star is the lowest mean; the star in the table is the lowest single point" : ""}.` : "";
  }

  function drawCurves() {
    const chart = find("curves"), shown = state.chosen.filter(i => (sweep.curves[i] || {})[state.curve]);
    find("chosen").textContent = state.chosen.length === 0 ? "No point is chosen."
      : state.chosen.length === 1 ? "1 point is chosen." : `${state.chosen.length} points are chosen.`;
    const without = state.chosen.length - shown.length;
    if (without) find("chosen").textContent += ` ${without} of them without a curve.`;
    find("clear").disabled = state.chosen.length === 0;
    draw(chart, shown.map((i, place) => {
      const [samples, y] = sweep.curves[i][state.curve];
      return { x: sweep.samples[samples], y, name: safe(label(i)), mode: "lines", line: look(place), hoverlabel: { namelength: -1 }, showlegend: true };
    }), { xaxis: { type: "log", title: { text: "samples seen" }, exponentformat: "power" },
      yaxis: { type: state.logCurve ? "log" : "linear", title: { text: safe(meant(state.curve || "")) }, ...(isPercent(state.curve) ? PERCENT : { exponentformat: "power" }) } });
  }

  // What differs first: settings that vary, how it ended, the measure; what is the same everywhere last.
  const set = name => [name, i => sweep.settings[name][i]], number = name => [name, i => sweep.numbers[name][i]];
  const fixed = Object.keys(sweep.settings).filter(name => !axes.includes(name)), rest = Object.keys(sweep.numbers).filter(name => name !== sweep.measure);
  const columns = [
    ...axes.map(set), ["status", i => sweep.status[i]], ...(sweep.measure in sweep.numbers ? [number(sweep.measure)] : []),
    ...(sweep.folder.some(Boolean) ? [["run", i => sweep.folder[i]]] : []), ...(sweep.reason.some(Boolean) ? [["reason", i => sweep.reason[i]]] : []),
    ...rest.map(number), ...fixed.map(set),
  ];
  const table = find("table"), rows = new Map();
  const constant = new Set(columns.filter(([name, value]) => !axes.includes(name) && new Set(every.filter(i => sweep.status[i] === "done").map(value)).size === 1 && name !== "status" && name !== "reason").map(([name]) => name));

  function layHead() {
    const head = table.createTHead().insertRow();
    for (const [name] of columns) {
      const cell = document.createElement("th"), button = document.createElement("button");
      cell.scope = "col";
      cell.classList.toggle("constant", constant.has(name));
      button.type = "button";
      button.textContent = name;
      button.addEventListener("click", () => { state.down = state.sort === name && !state.down; state.sort = name; sortTable(); });
      cell.append(button);
      head.append(cell);
    }
  }

  function rowOf(i) {
    if (rows.has(i)) return rows.get(i);
    const row = document.createElement("tr"), failed = sweep.status[i] === "failed";
    row.dataset.point = i;
    row.tabIndex = -1;
    row.className = failed ? "failed" : i === best ? "best" : "";
    row.setAttribute("aria-selected", String(state.chosen.includes(i)));
    for (const [name, value] of columns) {
      if (failed && rest.includes(name)) continue;  // it has none: the reason has their place
      const cell = row.insertCell();
      if (failed && name === "reason") cell.colSpan = 1 + rest.length;
      if (name === "run" && value(i) && base !== null) {
        const link = document.createElement("a");
        link.href = encodeURI(base === "." ? value(i) + "/" : `${base}/${value(i)}/`);
        link.textContent = "folder";
        cell.append(link);
      } else cell.textContent = said(name, value(i)) + (i === best && name === "status" ? " ★" : "");
      cell.classList.toggle("number", typeof value(i) === "number");
      cell.classList.toggle("constant", constant.has(name));
    }
    rows.set(i, row);
    return row;
  }

  function layRows(order) {
    const listed = order.slice(0, MOST_LISTED).map(rowOf);
    table.tBodies[0].replaceChildren(...listed);
    if (!listed.some(row => row.tabIndex === 0)) listed[0].tabIndex = 0;
    find("listed").textContent = order.length > MOST_LISTED ? `The first ${MOST_LISTED.toLocaleString("en")} of ${order.length.toLocaleString("en")} are listed: sort to see others.` : "";
  }

  function layTable() {
    const body = table.createTBody();
    layHead();
    layRows(every);
    body.addEventListener("click", event => { const row = event.target.closest("tr"); if (row && !event.target.closest("a")) { focusRow(row); toggle([Number(row.dataset.point)]); } });
    body.addEventListener("keydown", event => {
      const row = event.target.closest("tr");
      if (event.target.closest("a")) return;
      const to = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling, Home: body.firstElementChild, End: body.lastElementChild }[event.key];
      if (event.key === "Enter" || event.key === " ") toggle([Number(row.dataset.point)]);
      else if (to) focusRow(to);
      else return;
      event.preventDefault();
    });
  }

  function focusRow(row) {
    for (const other of table.tBodies[0].querySelectorAll("tr[tabindex='0']")) other.tabIndex = -1;
    row.tabIndex = 0;
    row.focus();
  }

  function sortTable() {
    const value = columns.find(([name]) => name === state.sort)[1], way = state.down ? -1 : 1;
    const rank = one => one === null || one === undefined || one === "" ? 2 : typeof one === "number" ? 0 : 1;  // what is missing comes last, both ways
    const order = every.slice().sort((i, j) => {
      const a = value(i), b = value(j);
      if (rank(a) !== rank(b)) return rank(a) - rank(b);
      return way * (rank(a) === 0 ? a - b : rank(a) === 1 ? String(a).localeCompare(String(b)) : 0) || i - j;
    });
    layRows(order);
    [...table.tHead.rows[0].cells].forEach((cell, place) => cell.setAttribute("aria-sort", columns[place][0] !== state.sort ? "none" : state.down ? "descending" : "ascending"));
  }

  // Points that are not all chosen become so; points that are, no longer.
  function toggle(points) {
    const all = points.every(i => state.chosen.includes(i));
    state.chosen = all ? state.chosen.filter(i => !points.includes(i)) : [...new Set([...state.chosen, ...points])];
    mark();
  }

  function mark() {
    for (const [i, row] of rows) row.setAttribute("aria-selected", String(state.chosen.includes(i)));
    if (curveNames.length) drawCurves();
  }

  const controls = find("controls"), named = names => names.map(name => [name, name]);
  if (numeric.length) {
    let logged = null;
    choice(controls, "number", named(numeric), state.number, value => { state.number = value; logged.checked = state.log = spread(every.map(i => at(value, i))); drawMap(); });
    if (axes.length > 1) {
      const across = choice(controls, "across", named(axes), state.x, value => { if (value === state.y) { state.y = up.value = state.x; } state.x = value; drawMap(); });
      const up = choice(controls, "up", [["", "the number"], ...named(axes)], state.y, value => { if (value === state.x && value) { state.x = across.value = axes.find(name => name !== value); } state.y = value; drawMap(); });
    }
    logged = tick(controls, "log scale", state.log, value => { state.log = value; drawMap(); });
  }
  const curveControls = find("curve-controls");
  find("curves").closest("section").hidden = curveNames.length === 0;
  if (curveNames.length) {
    let logged = null;
    const signless = name => sweep.curves.every(one => !one || !one[name] || one[name][1].every(value => value === null || value >= 0));
    if (curveNames.length > 1) choice(curveControls, "curve", named(curveNames), state.curve, value => { state.curve = value; logged.checked = state.logCurve = signless(value); drawCurves(); });
    state.logCurve = signless(state.curve);
    logged = tick(curveControls, "log y", state.logCurve, value => { state.logCurve = value; drawCurves(); });
  }
  find("clear").addEventListener("click", () => { state.chosen = []; mark(); });
  layTable();
  const all = () => { if (numeric.length) drawMap(); mark(); };
  drawings.push(all);
}
