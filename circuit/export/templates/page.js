"use strict";
const $ = (id) => document.getElementById(id);
const DATA = JSON.parse($("data").textContent);
const simulation = new Simulation(DATA);
const x = simulation.ports.find(({name}) => name === "x");
const theory = DATA.theory && new Theory(DATA.theory, x);
const WINDOW = 140;    // samples that stand side by side in the traces
const EACH = 1 / 24;   // seconds from one sample that is drawn to the next
const BUSY = 11;       // milliseconds of a frame that go to the simulation
const cells = DATA.cells.length;
const filters = DATA.matrices[DATA.filters[0]];
const firsts = DATA.cells.flatMap((name, j) => (/, cell 0$/.test(name) ? [j] : []));  // of several areas
const chosen = new Set((firsts.length ? firsts : [0, 1]).filter((j) => j < cells).slice(0, 2));
const DRAWN = {
  plateau: {title: "plateau", theory: "error", words: "Vy′(y − ỹ)"},
  a: {title: "distal current", words: ""},
  inhibition: {title: "inhibition", theory: "prediction", words: "Vy′ỹ"},
  z: {title: "output", theory: "output", words: "exact output"},
};
let running = false, owed = 0, last = 0, sinceTrace = 0, grain = 4, curves = [], wanted = true;

// -- what is kept -------------------------------------------------------------------------------------

// Rings of the last samples: for each lane what was measured and what theory expects, cell by cell.
let head = 0, filled = 0, exactFilters = null;
const rings = DATA.lanes.map(() => ({seen: new Float64Array(WINDOW * cells), expected: new Float64Array(WINDOW * cells)}));

function look(rows) {
  const predicted = theory && !simulation.cut && DATA.matrices.Vy ? theory.predict(rows.x) : null;
  const Vy = predicted && simulation.variable(DATA.matrices.Vy.key);
  DATA.lanes.forEach(({keys, name}, lane) => {
    const {seen, expected} = rings[lane], at = head * cells;
    let place = at;
    for (const key of keys) for (const value of simulation.variable(key)) seen[place++] = value;
    expected.fill(NaN, at, at + cells);
    const kind = DRAWN[name]?.theory;
    if (!kind || !theory || theory.k !== cells) return;
    for (let j = 0; j < cells; j++) {
      let sum = 0;
      if (kind === "output") {
        if (!exactFilters) { sum = NaN; }
        else for (let i = 0; i < rows.x.length; i++) sum += exactFilters[i * cells + j] * rows.x[i];
      } else if (!Vy) { sum = kind === "prediction" && simulation.cut ? 0 : NaN; }
      else for (let i = 0; i < theory.n; i++) {
        const guess = simulation.shuffled ? 0 : predicted[i];  // pairs that are broken predict nothing
        sum += Vy[i * cells + j] * (kind === "error" ? rows.y[i] - guess : guess);
      }
      expected[at + j] = sum;
    }
  });
  head = (head + 1) % WINDOW;
  filled = Math.min(filled + 1, WINDOW);
}

function measure() {
  const Vx = theory && simulation.variable(DATA.matrices.Vx.key);
  curves.push([simulation.seen, simulation.mismatch(), theory ? theory.excess(Vx) : NaN]);
  if (curves.length > 420) {
    curves = curves.filter((_, i) => i % 2 === 0);
    grain *= 2;
  }
}

function step(traced) {
  const finite = simulation.step(traced ? look : undefined);
  if (simulation.seen % grain === 0) measure();
  return finite;
}

// -- drawing ------------------------------------------------------------------------------------------

let colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["text", "quiet", "line", "theory", "z", "a", "inhibition", "plateau", "r", "card", "negative", "positive", "zero"])
    colours[name] = style.getPropertyValue(`--${name}`).trim();
}

// A canvas of so many pixels of the page, sharp on any screen.
function canvasOf(id, height) {
  const canvas = $(id), ratio = window.devicePixelRatio || 1;
  if (height) canvas.style.height = `${height}px`;
  const width = canvas.clientWidth, tall = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(tall * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(tall * ratio);
  }
  const to = canvas.getContext("2d");
  to.setTransform(ratio, 0, 0, ratio, 0, 0);
  to.clearRect(0, 0, width, tall);
  to.font = "12px system-ui, sans-serif";
  to.textBaseline = "middle";
  return {to, width, height: tall};
}

function number(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e4 || size < 1e-3 ? value.toExponential(0).replace("e+", "e").replace("e-", "e−") : String(Number(value.toPrecision(2)));
}

// A power of ten, as axes write it.
function tenTo(power) {
  const raised = String(power).replace(/./g, (sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]);
  return power < -3 || power > 3 ? `10${raised}` : String(Number((10 ** power).toPrecision(1)));
}

function line(to, at, count) {
  to.beginPath();
  let down = false;
  for (let t = 0; t < count; t++) {
    const [px, py] = at(t);
    if (!Number.isFinite(py)) { down = false; continue; }
    if (down) to.lineTo(px, py); else to.moveTo(px, py);
    down = true;
  }
  to.stroke();
}

const scales = new Map();  // of each lane of each cell, which follow the traces slowly
function drawTraces() {
  const shown = [...chosen].sort((a, b) => a - b), lanes = DATA.lanes.length;
  const gap = 22, left = 108, right = 44;
  // On a wide screen the lanes share the height that is left.
  const top = $("traces").getBoundingClientRect().top + window.scrollY, tall = window.innerHeight - top - 100;
  const fitting = window.innerWidth > 900 ? (tall / Math.max(shown.length, 1) - gap) / lanes : 44;
  const room = Math.max(34, Math.min(64, Math.floor(fitting)));
  const {to, width} = canvasOf("traces", Math.max(shown.length * (lanes * room + gap), 60));
  const first = (head - filled + WINDOW) % WINDOW, across = (width - left - right) / (WINDOW - 1);
  shown.forEach((cell, place) => {
    const above = place * (lanes * room + gap);
    to.fillStyle = colours.text;
    to.font = "600 12px system-ui, sans-serif";
    to.fillText(DATA.cells[cell], 0, above + 10);
    to.font = "12px system-ui, sans-serif";
    DATA.lanes.forEach(({name}, lane) => {
      const {seen, expected} = rings[lane], middle = above + gap + (lane + 0.5) * room;
      let most = 0;
      for (let t = 0; t < filled; t++)
        most = Math.max(most, Math.abs(seen[t * cells + cell]) || 0, Math.abs(expected[t * cells + cell]) || 0);
      const key = lane * cells + cell, before = scales.get(key) ?? most;
      const scale = Math.max(most, before * 0.985) || 1;
      scales.set(key, scale);
      const y = (value) => middle - (value / scale) * room * 0.45;
      to.strokeStyle = colours.line;
      to.lineWidth = 1;
      line(to, (t) => [left + t * (width - left - right), middle], 2);
      const from = WINDOW - filled;
      const point = (values) => (t) => [left + (from + t) * across, y(values[((first + t) % WINDOW) * cells + cell])];
      to.lineJoin = "round";
      to.globalAlpha = 0.75;
      to.strokeStyle = colours.theory;
      to.lineWidth = 4;
      line(to, point(expected), filled);
      to.globalAlpha = 1;
      to.strokeStyle = colours[name] ?? colours.r;
      to.lineWidth = 1.3;
      line(to, point(seen), filled);
      to.fillStyle = colours[name] ?? colours.r;
      to.fillText(DRAWN[name]?.title ?? name, 0, middle - (DRAWN[name]?.words ? 7 : 0));
      if (DRAWN[name]?.words && theory && theory.k === cells) {
        to.fillStyle = colours.quiet;
        to.font = "11px system-ui, sans-serif";
        to.fillText(DRAWN[name].words, 0, middle + 8);
        to.font = "12px system-ui, sans-serif";
      }
      // A bar of a round length gives the scale, in the units of the data.
      const power = 10 ** Math.floor(Math.log10(scale)), bar = [5, 2, 1].map((n) => n * power).find((n) => n <= scale);
      to.strokeStyle = colours.quiet;
      to.lineWidth = 1.5;
      to.beginPath();
      to.moveTo(width - right + 8, y(bar / 2));
      to.lineTo(width - right + 8, y(-bar / 2));
      to.stroke();
      to.fillStyle = colours.quiet;
      if (filled) to.fillText(number(bar), width - right + 13, middle);
    });
  });
  if (!filled) {
    to.fillStyle = colours.quiet;
    to.textAlign = "center";
    to.fillText("Press Start to present the first samples.", left + (width - left - right) / 2, 10);
    to.textAlign = "left";
  }
}

// A curve against samples seen, with a logarithmic axis and labels by `write`.
function drawCurve(id, column, colour, write) {
  const {to, width, height} = canvasOf(id), left = 46, bottom = 20, top = 10, right = 12;
  const least = 1e-16;  // below it is rounding
  const known = curves.filter((row) => row[column] >= 0).map((row) => [row[0], Math.max(row[column], least)]);
  const values = known.map((row) => row[1]);
  const low = Math.floor(Math.log10(Math.min(...values, 0.1)) + 1e-9), high = Math.max(Math.ceil(Math.log10(Math.max(...values, 1e-3))), low + 1);
  const end = Math.max(simulation.seen, 100);
  const px = (seen) => left + (seen / end) * (width - left - right);
  const py = (value) => top + ((high - Math.log10(value)) / (high - low)) * (height - top - bottom);
  to.font = "11px system-ui, sans-serif";
  to.lineWidth = 1;
  const skip = Math.ceil((high - low + 1) / 5);
  for (let power = high; power >= low; power -= skip) {
    to.strokeStyle = colours.line;
    line(to, (t) => [left + t * (width - left - right), py(10 ** power)], 2);
    to.fillStyle = colours.quiet;
    to.textAlign = "right";
    to.fillText(write(power), left - 6, py(10 ** power));
  }
  to.fillStyle = colours.quiet;
  to.textAlign = "left";
  to.fillText("0", left - 2, height - 8);
  to.textAlign = "right";
  to.fillText(`${end.toLocaleString("en")} samples`, width - right, height - 8);
  to.textAlign = "left";
  to.strokeStyle = colour;
  to.lineWidth = 1.8;
  to.lineJoin = "round";
  line(to, (t) => [px(known[t][0]), py(known[t][1])], known.length);
  if (known.length) {
    const [seen, value] = known.at(-1);
    to.fillStyle = colour;
    to.beginPath();
    to.arc(px(seen), py(value), 3, 0, 7);
    to.fill();
  }
}

function mixed(from, to, part) {
  const parts = [from, to].map((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));
  return parts[0].map((value, i) => Math.round(value + (parts[1][i] - value) * part));
}

function drawFilters() {
  if (!filters) return;
  const Vx = simulation.variable(filters.key), count = filters.shape[1], m = Vx.length / count;
  const rows = [["learned", Vx], ...(exactFilters ? [["exact", exactFilters]] : [])];
  const [tall, wide] = DATA.pixels ?? [1, m], left = 52, gap = 8;
  const room = Math.min(($("filters").clientWidth - left - gap * (count - 1)) / count, DATA.pixels ? 92 * (wide / Math.max(tall, wide)) : Infinity);
  const size = DATA.pixels ? (room * tall) / wide : 46;
  const {to} = canvasOf("filters", rows.length * (size + gap) + 14);
  to.textAlign = "center";
  to.fillStyle = colours.quiet;
  to.font = "11px system-ui, sans-serif";
  for (let j = 0; j < count; j++) to.fillText(`cell ${j}`, left + j * (room + gap) + room / 2, 6);
  to.textAlign = "left";
  rows.forEach(([words, V], row) => {
    const top = 14 + row * (size + gap);
    to.fillStyle = colours.quiet;
    to.fillText(words, 0, top + size / 2);
    for (let j = 0; j < count; j++) {
      const at = left + j * (room + gap);
      let most = 0;
      for (let i = 0; i < m; i++) most = Math.max(most, Math.abs(V[i * count + j]));
      for (let i = 0; i < m; i++) {
        const value = most ? V[i * count + j] / most : 0;
        const tint = `rgb(${mixed(colours.zero, value < 0 ? colours.negative : colours.positive, Math.abs(value))})`;
        if (DATA.pixels) {
          const px = room / wide, py = size / tall;
          to.fillStyle = tint;
          to.fillRect(at + (i % wide) * px, top + Math.floor(i / wide) * py, px + 0.5, py + 0.5);
        } else {
          to.fillStyle = value < 0 ? colours.negative : colours.positive;
          to.fillRect(at + (i / m) * room, top + size / 2, Math.max(room / m - 0.5, 0.5), (-value * size) / 2);
        }
      }
      to.strokeStyle = colours.line;
      to.lineWidth = 1;
      if (DATA.pixels) to.strokeRect(at + 0.5, top + 0.5, room - 1, size - 1);
    }
  });
}

function draw() {
  if (theory && DATA.matrices.Vx && simulation.finite) exactFilters = theory.aligned(simulation.variable(DATA.matrices.Vx.key));
  drawTraces();
  if (!$("mismatch-card").hidden) drawCurve("mismatch", 1, colours.r, tenTo);
  if (!$("excess-card").hidden) drawCurve("excess", 2, colours.z, (power) => `${tenTo(power + 2)} %`);
  drawFilters();
  $("seen").textContent = simulation.seen.toLocaleString("en");
  for (const {output, keys} of sliders) output.textContent = rateInWords(keys);
}

// -- time ---------------------------------------------------------------------------------------------

const speed = () => Math.round(10 ** (4.3 * Number($("speed").value)));

function frame(now) {
  if (running) {
    const passed = Math.min((now - last) / 1000, 0.1), until = performance.now() + BUSY;
    last = now;
    owed = Math.min(owed + passed * speed(), speed());
    sinceTrace += passed;
    while (owed >= 1 && running) {
      const traced = sinceTrace >= EACH;
      if (traced) sinceTrace = speed() * EACH < 1 ? 0 : sinceTrace - EACH;
      owed -= 1;
      if (!step(traced)) stopDiverged();
      if (performance.now() > until) { owed = Math.min(owed, 1); break; }
    }
    wanted = true;
  }
  if (wanted) draw();
  wanted = false;
  requestAnimationFrame(frame);
}

function say(words, alarm = false) {
  $("message").textContent = words;
  $("message").classList.toggle("alarm", alarm);
}

function run(wants) {
  running = wants && simulation.finite;
  last = performance.now();
  $("start").textContent = running ? "Stop" : "Start";
  if (!running) publish();
}

function stopDiverged() {
  run(false);
  say(`Activity grew beyond all bounds at sample ${simulation.seen.toLocaleString("en")}. Lower the rates or let the interneurons speak, and begin anew.`, true);
}

// All weights as JSON in the page, where other programs find them.
function publish() {
  $("weights").textContent = JSON.stringify(simulation.weights());
}

function beginAnew() {
  simulation.reset();
  curves = [];
  grain = Math.max(4, Math.ceil(((x?.values.length ?? 0) * 4) / 1e6));
  head = filled = owed = 0;
  scales.clear();
  exactFilters = null;
  measure();
  tell();
  wanted = true;
}

// Present the samples that the address asks for, such as #samples=2000.
function obeyAddress() {
  const asked = /^#samples=(\d+)$/.exec(location.hash);
  if (!asked) return;
  run(false);
  for (const button of ["silence", "cut", "shuffle"]) press($(button), false);
  simulation.cut = false;
  simulation.silence(false);
  simulation.shuffle(false);
  for (const slider of sliders) turn(slider, 0);
  beginAnew();
  const count = Number(asked[1]);
  while (simulation.seen < count && step(count - simulation.seen <= WINDOW));
  if (simulation.finite) measure(); else stopDiverged();
  publish();
}

// -- controls -----------------------------------------------------------------------------------------

function press(button, down) {
  button.setAttribute("aria-pressed", String(down));
}
function toggle(id, act) {
  $(id).addEventListener("click", () => {
    const down = $(id).getAttribute("aria-pressed") !== "true";
    press($(id), down);
    act(down);
    tell();
    wanted = true;
  });
}
function tell() {
  const now = [
    simulation.silenced && "Interneurons are silent: the plateau is the whole distal current, and nothing keeps cells from learning the same filter.",
    simulation.cut && "The instruction is cut: y is zero, and the distal current with it.",
    simulation.shuffled && "Y is shuffled: x predicts nothing, so the error is the whole distal current. Excess is still that of the true pairs.",
  ].filter(Boolean);
  say(now.join(" "));
}

const sliders = [];
const WORDS = {proximal: "proximal rate", distal: "distal rate", interneurons: "interneuron rates"};
function rateInWords(keys) {
  const factor = simulation.factors[keys[0]] ?? 1, value = simulation.variable(keys[0])[0];
  const now = simulation.seen ? number(value) : "";
  return `×${factor < 0.995 || factor >= 1.005 ? number(factor) : 1}${now && ` = ${now}`}`;
}
function turn({input, keys}, power) {
  input.value = power;
  for (const key of keys) simulation.factors[key] = 10 ** power;
}
const order = ({of}) => (Object.keys(WORDS).indexOf(of) + 1) || 9;
for (const {key, of} of [...DATA.rates].sort((one, other) => order(one) - order(other))) {
  const known = sliders.find((slider) => slider.of === of);
  if (known) { known.keys.push(key); continue; }
  const label = document.createElement("label"), span = document.createElement("span");
  const output = document.createElement("output"), input = document.createElement("input");
  label.className = "slider";
  span.append(`${WORDS[of] ?? of} `, output);
  Object.assign(input, {type: "range", min: -1, max: 1, step: 0.05, value: 0});
  label.append(span, input);
  $("rates").append(label);
  const slider = {of, input, output, keys: [key]};
  input.addEventListener("input", () => { turn(slider, Number(input.value)); wanted = true; });
  sliders.push(slider);
}

for (let j = 0; cells > 1 && j < Math.min(cells, 24); j++) {
  const chip = document.createElement("button");
  chip.textContent = cells > 12 ? DATA.cells[j].match(/\d+/g).join(".") : DATA.cells[j];
  press(chip, chosen.has(j));
  chip.addEventListener("click", () => {
    if (chosen.has(j)) chosen.delete(j); else chosen.add(j);
    press(chip, chosen.has(j));
    wanted = true;
  });
  $("cells").append(chip);
}

const drawnTheory = theory && theory.k === cells && DATA.lanes.some(({name}) => DRAWN[name]?.theory);
$("traces-note").textContent = "Coloured: the cells, 24 samples of every second. " + (drawnTheory
  ? "Broad grey: theory, with ỹ the best linear prediction of y from x. The plateau becomes the back-propagated error Vy′(y − ỹ), the inhibition the prediction Vy′ỹ, and the output that of the exact filters. "
  : "") + `Bars on the right: scale, in ${DATA.lanes.some(({unit}) => unit !== "1") ? "SI units" : "the units of the data"}.`;
$("filters-note").textContent = `Proximal weights ${DATA.filters[0]} of each cell${theory ? ", above the exact solution in the rotation nearest to them" : ""}: orange raises the output, blue lowers it; each is scaled to its largest weight.`;
$("mismatch-card").hidden = !DATA.loops.length;
if (simulation.mismatch() === 0) $("mismatch-note").textContent = "‖R − Q′‖ / ‖Q‖. Two separate pathways, to and from the interneurons, begin as each other’s transpose and stay so.";
$("excess-card").hidden = !theory;
$("filters-card").hidden = !filters;
// One card alone is as wide as the column; where there is none, the traces are.
const halves = [...document.querySelectorAll(".half")].filter((card) => !card.hidden);
if (halves.length === 1) halves[0].classList.remove("half");
document.querySelector("main").classList.toggle("alone", !halves.length && !filters);
$("silence").hidden = !DATA.silenceable.length;
$("cut").hidden = $("shuffle").hidden = !DATA.ports.y;

$("start").addEventListener("click", () => run(!running));
$("reset").addEventListener("click", beginAnew);
$("speed").addEventListener("input", tellSpeed);
function tellSpeed() { $("speed-value").textContent = `${speed().toLocaleString("en")} samples/s`; }
toggle("silence", (down) => simulation.silence(down));
toggle("cut", (down) => { simulation.cut = down; });
toggle("shuffle", (down) => simulation.shuffle(down));
window.addEventListener("hashchange", () => { obeyAddress(); wanted = true; });
window.addEventListener("resize", () => { wanted = true; });
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); wanted = true; });

readColours();
tellSpeed();
beginAnew();
obeyAddress();
requestAnimationFrame(frame);
