// Charts of an experiment's own curves: views to choose between, lines for every run and their mean.
"use strict";

function signless(view) { return view.series.every(line => line.y.every(value => value === null || value > 0)); }

function startCurves(place, charts) {
  for (const chart of charts) {
    const section = document.createElement("section"), heading = document.createElement("h3");
    const hint = document.createElement("p"), controls = document.createElement("div"), drawn = document.createElement("div");
    heading.textContent = chart.title;
    hint.className = "hint";
    hint.textContent = chart.hint;
    hint.hidden = !chart.hint;
    controls.className = "controls";
    drawn.className = "chart";
    drawn.dataset.chart = "curves";
    section.append(heading, hint, controls, drawn);
    place.append(section);
    startViews(controls, drawn, chart);
  }
}

function startViews(controls, drawn, chart) {
  const state = { view: 0, x: 0, choose: {}, single: true, logX: false, logY: false };
  const redraw = () => drawView(drawn, chart.views[state.view], state);
  const laid = () => {
    const view = chart.views[state.view];
    Object.assign(state, { x: 0, logX: view.log.includes("x"), logY: view.log.includes("y") });
    controls.replaceChildren();
    if (chart.views.length > 1)
      choice(controls, "show", chart.views.map((one, i) => [i, one.name]), state.view, value => { state.view = Number(value); laid(); redraw(); controls.querySelector("select").focus(); });
    if (view.x.length > 1) choice(controls, "against", view.x.map((name, i) => [i, name]), 0, value => { state.x = Number(value); redraw(); });
    for (const [name, options] of Object.entries(view.choose)) {
      if (!options.includes(state.choose[name])) state.choose[name] = options[0];
      choice(controls, name, options.map(one => [one, one]), state.choose[name], value => { state.choose[name] = value; redraw(); });
    }
    const numbers = view.series.every(line => line.x.every(x => x.every(value => typeof value === "number")));
    if (numbers) tick(controls, "log x", state.logX, value => { state.logX = value; redraw(); });
    if (signless(view)) tick(controls, "log y", state.logY, value => { state.logY = value; redraw(); });
    else state.logY = false;  // what is negative has no logarithm
    if (view.series.some(line => line.repeat !== null)) tick(controls, "single runs", state.single, value => { state.single = value; redraw(); });
  };
  laid();
  drawings.push(redraw);
}

function drawView(drawn, view, state) {
  const groups = [...new Set(view.series.map(line => line.group))];
  const shown = view.series.filter(line => Object.keys(view.choose).every(name => line.choose[name] === state.choose[name]))
    .filter(line => state.single || line.repeat === null);
  const traces = shown.map(line => {
    const x = line.x[Math.min(state.x, line.x.length - 1)], i = groups.indexOf(line.group);
    const several = new Set(shown.filter(other => other.repeat === null && !other.theory && other.quantity === line.quantity).map(other => other.line)).size > 1;
    const { color, dash } = line.quantity && !several ? { color: COLOURS[line.quantity], dash: line.theory ? "dash" : "solid" } : look(i);
    const thin = line.repeat !== null, marked = !thin && !line.theory && line.y.length <= 40;
    const words = x.some(value => typeof value === "string");  // between which there is nothing
    return {
      x, y: line.y, name: safe(thin ? `${line.line}, ${line.repeat}` : line.line), legendgroup: line.line, showlegend: !thin,
      mode: words && !line.theory ? "markers" : marked ? "lines+markers" : "lines", opacity: thin ? 0.4 : 1, hoverlabel: { namelength: -1 },
      // Theory lies on what is measured, if it is right: in ink, so that both are seen.
      line: line.theory ? { color: ink(), dash: DASHES[1 + i % (DASHES.length - 1)], width: 1.5 } : { color, dash, width: thin ? 1 : 2 },
      marker: { color, symbol: SYMBOLS[i % SYMBOLS.length], size: thin ? 5 : 8 }, meta: line.theory ? 2 : thin ? 0 : 1,
    };
  });
  traces.sort((a, b) => a.meta - b.meta);  // means above single runs, theory above means
  drawn.setAttribute("aria-label", `${view.label} against ${view.x[state.x]}; arrow keys point`);
  const power = { exponentformat: "power" };
  drawn.dataset.follow = "yes";
  draw(drawn, traces, {
    dragmode: view.window ? "pan" : "zoom", uirevision: `${view.name} ${state.x} ${state.logX} ${state.logY}`,  // choosing keeps what is in sight
    xaxis: { type: state.logX ? "log" : undefined, ...(view.window && !state.logX ? { range: [0, view.window] } : {}), title: { text: safe(view.x[state.x]) }, ...power },
    yaxis: { type: state.logY ? "log" : "linear", title: { text: safe(view.label) }, ...(view.percent ? PERCENT : power) },
  });
  if (view.window) drawn.fit();
}
