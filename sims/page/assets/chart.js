// What all charts share: colours, axes, the keyboard. ON_LIGHT and ON_DARK, one colour per quantity, are the figures' own
// and stand before this; they are lighter on a dark screen, where the others would be faint.
"use strict";
const DASHES = ["solid", "dash", "dot", "dashdot", "longdash"];
const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "cross", "x", "star"];
let COLOURS = ON_LIGHT;
const CONFIG = { responsive: true, displaylogo: false, showSendToCloud: false, modeBarButtonsToRemove: ["lasso2d", "select2d"] };
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const drawings = [];  // functions that draw again all there is, in the colours of the moment

function onPaper() { return document.documentElement.classList.contains("paper"); }
function ink() { return getComputedStyle(document.documentElement).getPropertyValue("--ink").trim(); }
function grid() { return getComputedStyle(document.documentElement).getPropertyValue("--line").trim(); }

// Plotly reads a little HTML in names and labels: what comes from a file is to be shown, not read.
function safe(text) { return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;"); }

function short(value) {
  if (typeof value !== "number") return value === null || value === undefined ? "" : String(value);
  return Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(4)));
}

// Lines of many kinds: colours first, then dashes too.
function look(i) {
  const several = ["proximal", "distal", "Q", "R", "own", "plateau"].map(name => COLOURS[name]);
  return { color: several[i % several.length], dash: DASHES[Math.floor(i / several.length) % DASHES.length] };
}

const PERCENT = { tickformat: "~p", exponentformat: undefined };  // d3's: 0.012 becomes 1.2%, with as many digits as it takes

function layout(more, width) {
  const narrow = width < 450, axis = { gridcolor: grid(), zerolinecolor: grid(), linecolor: ink(), automargin: true, nticks: narrow ? 5 : 8 };
  const base = {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: ink(), size: 13 },
    margin: { l: 60, r: 15, t: 34, b: 50 }, modebar: { bgcolor: "rgba(0,0,0,0)", color: COLOURS.theory, activecolor: ink() },
    legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom", x: 0 }, hovermode: "closest",
  };
  const merged = Object.assign(base, more);
  for (const name of Object.keys(merged)) if (/^[xy]axis/.test(name)) {
    merged[name] = Object.assign({}, axis, merged[name]);
    if (name[0] === "x" && narrow) merged[name].tickangle = merged[name].type === "category" || (merged[name].ticktext || []).some(text => text.length > 3) ? 60 : 0;
  }
  return merged;
}

function draw(chart, traces, more) {
  // On a phone names stand one below the other, and the chart is to keep its height.
  const named = traces.filter(trace => trace.showlegend !== false && trace.name).length;
  chart.style.height = chart.clientWidth < 450 && named > 2 ? `${340 + 24 * (named - 2)}px` : "";
  if (more.yaxis && more.yaxis.type === "log" && more.yaxis.tickformat === PERCENT.tickformat) {
    // Ticks at 1, 2 and 5 of each decade where there are few, else one for each decade: others would overlap.
    const known = traces.flatMap(trace => trace.y || []).filter(value => value > 0);
    const decades = known.length ? Math.log10(known.reduce((a, b) => Math.max(a, b)) / known.reduce((a, b) => Math.min(a, b))) : 0;
    more = { ...more, yaxis: { ...more.yaxis, dtick: decades < 4 ? "D2" : 1 } };
  }
  // Categories come from files too: Plotly would make links of what they say.
  const shown = values => Array.isArray(values) ? values.map(value => typeof value === "string" ? safe(value) : value) : values;
  traces = traces.map(trace => ({ ...trace, x: shown(trace.x), y: shown(trace.y) }));
  const width = onPaper() ? chart.clientWidth : undefined;  // to be there at once: no time to wait for the chart to fit itself
  Plotly.react(chart, traces, layout({ ...more, width }, chart.clientWidth), CONFIG);
  if (!chart.dataset.reached) { reach(chart); follow(chart); }
}

// Where the horizontal axis shows a part only, the vertical one has room for what is in that part, and for no more.
function follow(chart) {
  const fit = () => {
    const { xaxis, yaxis } = chart._fullLayout;
    if (!xaxis || !yaxis || xaxis.autorange || chart.dataset.follow !== "yes") return;
    const seen = chart.data.filter((_, i) => chart._fullData[i].visible === true).flatMap(trace => trace.x.map((x, i) => [x, trace.y[i]]))
      .filter(([x, y]) => typeof x === "number" && typeof y === "number" && x >= xaxis.range[0] && x <= xaxis.range[1]).map(point => point[1]);
    if (!seen.length) return;
    const low = seen.reduce((a, b) => Math.min(a, b)), high = seen.reduce((a, b) => Math.max(a, b)), margin = 0.06 * (high - low) || 1;
    if (yaxis.type === "linear") Plotly.relayout(chart, { "yaxis.range": [low - margin, high + margin] });
  };
  chart.on("plotly_relayout", change => { if (Object.keys(change).some(name => name.startsWith("xaxis."))) fit(); });
  chart.on("plotly_restyle", fit);
  chart.fit = fit;
}

// What the mouse can do, the keyboard can: arrows point at one point after another, Enter clicks it.
function reach(chart) {
  chart.dataset.reached = "yes";
  chart.tabIndex = 0;
  chart.setAttribute("role", "application");
  chart.setAttribute("aria-roledescription", "chart");
  let trace = 0, point = -1;
  const told = document.createElement("p");
  told.className = "told";
  told.setAttribute("aria-live", "polite");
  chart.after(told);
  const pointed = i => chart.data[i] && chart._fullData[i].visible === true && chart.data[i].hoverinfo !== "skip" && (chart.data[i].y || []).length > 0;
  chart.addEventListener("keydown", event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], turn = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.target !== chart) return;  // the buttons above the chart, which zoom, have keys of their own
    if (event.key === "Enter" && point >= 0) chart.emit("plotly_click", { points: [{ data: chart.data[trace], pointIndex: point }] });
    else if (step || turn) {
      const count = chart.data.length;
      if (turn || !pointed(trace))
        for (let i = 0; i < count; i++) { trace = (trace + (turn || 1) + count) % count; if (pointed(trace)) break; }
      if (!pointed(trace)) return;
      const last = chart.data[trace].y.length - 1;
      point = step ? Math.min(last, Math.max(0, point + step)) : Math.min(last, Math.max(0, point));
      const full = chart._fullData[trace];
      Plotly.Fx.hover(chart, [{ curveNumber: trace, pointNumber: point }], [full.xaxis + full.yaxis]);
      const text = Array.isArray(full.text) ? full.text[point] : full.text;
      told.textContent = text ? text.replace(/<[^>]*>/g, " ") : `${full.name}: ${short(full.x[point])}, ${short(full.y[point])}`;
    } else return;
    event.preventDefault();
  });
}

// A control with its label, put into `place`.
function choice(place, label, options, chosen, changed) {
  const wrap = document.createElement("label"), select = document.createElement("select");
  wrap.append(label + " ", select);
  for (const [value, text] of options) select.add(new Option(text, value, false, String(value) === String(chosen)));
  select.addEventListener("change", () => changed(select.value));
  place.append(wrap);
  return select;
}

function tick(place, label, checked, changed) {
  const wrap = document.createElement("label"), box = document.createElement("input");
  box.type = "checkbox";
  box.checked = checked;
  box.addEventListener("change", () => changed(box.checked));
  wrap.append(box, " " + label);
  place.append(wrap);
  return box;
}
