// What all charts share: colours, axes, the keyboard. Colours are Okabe and Ito's, told apart by colour-blind readers,
// darker on paper and lighter on a dark screen where theirs would be faint.
"use strict";
const ON_LIGHT = { proximal: "#0072B2", distal: "#D55E00", Q: "#00855F", R: "#B8578C", amber: "#8A6100", slate: "#444444", violet: "#6A5ACD", theory: "#767676" };
const ON_DARK = { proximal: "#56B4E9", distal: "#E8803A", Q: "#2FB894", R: "#E39CC6", amber: "#E6B400", slate: "#DDDDDD", violet: "#A79BF0", theory: "#969696" };
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
  const several = Object.values(COLOURS).slice(0, -1);
  return { color: several[i % several.length], dash: DASHES[Math.floor(i / several.length) % DASHES.length] };
}

function layout(more) {
  const axis = { gridcolor: grid(), zerolinecolor: grid(), linecolor: ink(), automargin: true, nticks: 8 };
  const base = {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: ink(), size: 13 },
    margin: { l: 60, r: 15, t: 34, b: 50 }, modebar: { bgcolor: "rgba(0,0,0,0)", color: COLOURS.theory, activecolor: ink() },
    legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom", x: 0 }, hovermode: "closest",
  };
  const merged = Object.assign(base, more);
  for (const name of Object.keys(merged)) if (/^[xy]axis/.test(name)) merged[name] = Object.assign({}, axis, merged[name]);
  return merged;
}

function draw(chart, traces, more) {
  // On a phone names stand one below the other, and the chart is to keep its height.
  const named = traces.filter(trace => trace.showlegend !== false && trace.name).length;
  chart.style.height = chart.clientWidth < 450 && named > 2 ? `${340 + 24 * (named - 2)}px` : "";
  const width = onPaper() ? chart.clientWidth : undefined;  // to be there at once: no time to wait for the chart to fit itself
  Plotly.react(chart, traces, layout({ ...more, width }), CONFIG);
  if (!chart.dataset.reached) reach(chart);
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

function points(x, y) { return x.map((value, i) => [value, y[i]]).filter(([value]) => value > 0); }

// A control with its label, put into `place`.
function choice(place, label, options, chosen, changed) {
  const wrap = document.createElement("label"), select = document.createElement("select");
  wrap.append(label + " ", select);
  for (const [value, text] of options) select.add(new Option(text, value, false, String(value) === String(chosen)));
  select.addEventListener("input", () => changed(select.value));
  place.append(wrap);
  return select;
}

function tick(place, label, checked, changed) {
  const wrap = document.createElement("label"), box = document.createElement("input");
  box.type = "checkbox";
  box.checked = checked;
  box.addEventListener("input", () => changed(box.checked));
  wrap.append(box, " " + label);
  place.append(wrap);
  return box;
}
