{# The program of a circuit: as engines/templates/circuit.cpp and samples.cpp, in JavaScript. #}
"use strict";
const any = Boolean;  // conditions are those of one run, not of several side by side
const _pow = (x, y) => (y === 2 ? x * x : Math.pow(x, y));
const _mod = (x, y) => { const r = x % y; return r !== 0 && r < 0 !== y < 0 ? r + y : r; };
const _floordiv = (x, y) => Math.floor((x - _mod(x, y)) / y + 0.5);
const _clip = (x, low, high) => { const y = x < low ? low : x; return y > high ? high : y; };

// Draws that depend on their place alone (SplitMix64), in halves of 32 bits.
let _high = 0, _low = 0;
function _multiply(high, low) {
  const a = _low & 0xffff, b = _low >>> 16, c = low & 0xffff, d = low >>> 16;
  const ac = a * c, middle = b * c + (ac >>> 16), cross = a * d + (middle & 0xffff);
  const carried = b * d + Math.floor(middle / 65536) + Math.floor(cross / 65536);
  _high = (carried + Math.imul(_high, low) + Math.imul(_low, high)) | 0;
  _low = (((cross & 0xffff) << 16) | (ac & 0xffff)) >>> 0;
}
function _shift(bits) {
  const low = ((_low >>> bits) | (_high << (32 - bits))) >>> 0;
  _low = (_low ^ low) >>> 0;
  _high = _high ^ (_high >>> bits);
}
function _uniform_draw(...words) {
  _high = _low = 0;
  for (const given of words) {
    const word = Math.trunc(given), low = _low + 0x7f4a7c15 + (word >>> 0);
    _high = (_high + 0x9e3779b9 + (Math.floor(word / 4294967296) | 0) + Math.floor(low / 4294967296)) | 0;
    _low = low >>> 0;
    _shift(30); _multiply(0xbf58476d, 0x1ce4e5b9);
    _shift(27); _multiply(0x94d049bb, 0x133111eb);
    _shift(31);
  }
  return ((_high >>> 0) * 1048576 + (_low >>> 12) + 0.5) * {{ 2.0 ** -52 }};
}
function _gaussian_draw(seed, stream, moment, index) {
  const radius = Math.sqrt(-2 * Math.log(_uniform_draw(seed, stream, moment, 2 * index)));
  return radius * Math.cos(2 * Math.PI * _uniform_draw(seed, stream, moment, 2 * index + 1));
}
function _log_factorial(n) {
  if (n > 100) return (n + 0.5) * Math.log(n) - n + Math.log(2 * Math.PI) / 2 + (1 - 1 / (30 * n * n)) / (12 * n);
  let product = 1;
  for (let i = 2; i <= n; i++) product *= i;
  return Math.log(product);
}
function _poisson_draw(mean, seed, stream, moment, index) {
  if (!(mean > 0)) return mean * 0;
  if (mean > {{ largest_mean }})
    return Math.floor(mean + Math.sqrt(mean) * _gaussian_draw(seed, stream, moment, index) + 0.5);
  const mode = Math.floor(mean);
  let low = mode, high = mode, u = _uniform_draw(seed, stream, moment, index);
  let above = Math.exp(mode * Math.log(mean) - mean - _log_factorial(mode)), below = above;
  u -= above;
  while (u > 0 && above + below > 1e-18) {
    high += 1;
    above *= mean / high;
    u -= above;
    if (u <= 0) return high;
    if (low > 0) {
      below *= low / mean;
      low -= 1;
      u -= below;
      if (u <= 0) return low;
    }
  }
  return mode;
}

// Return a circuit with a memory of its own. `factors` multiplies what is broadcast by its name.
function newCircuit(factors = {}) {
  const _circuit = {};
{% for array in circuit.arrays %}
  (_circuit.{{ array.part }} ??= {}).{{ array.name }} = new Float64Array({{ array.size }});
{% endfor %}
{% for port in ports %}
  {{ port.active }} = {begin: 0, end: 0};
{% endfor %}

{% for step in steps %}
  function {{ step.name }}({% for name in step.pointers %}_at_{{ name }}{{ ", " if not loop.last }}{% endfor %}) {
{% for line in step.once %}
    {{ line }}
{% endfor %}
{% if step.sources is none %}
    for (let _i = 0; _i < {{ step.cells }}; _i++) {
{% for line in step.each %}
      {{ line }}
{% endfor %}
    }
{% else %}
{% if step.total is not none %}
    const _total = {{ step.total }};
    _total.fill(0);
{% endif %}
{% if step.grouped %}
    for (let _j = 0; _j < {{ step.cells }}; _j++) {
      const _end = Math.trunc({{ step.sources[1] }});
      for (let _i = Math.trunc({{ step.sources[0] }}); _i < _end; _i++) {
{% else %}
    const _end = {{ step.sources[1] }};
    for (let _i = {{ step.sources[0] }}; _i < _end; _i++) {
      for (let _j = 0; _j < {{ step.cells }}; _j++) {
        const _synapse = _i * {{ step.cells }} + _j;
{% endif %}
{% for line in step.each %}
        {{ line }}
{% endfor %}
{% if step.total is not none %}
        _total[_j] += _added;
{% endif %}
      }
    }
{% endif %}
  }
{% endfor %}

{% for name, steps in blocks %}
  function {{ name }}() {
{% for step, rates in steps %}
    {{ "if (%s) "|format(step.due|join(" && ")) if step.due }}{{ step.name }}({{ step.pointers.values()|join(", ") }});
{% for key in rates %}
    _circuit.{{ key }}[0] *= factors["{{ key }}"] ?? 1;
{% endfor %}
{% endfor %}
  }
{% endfor %}

  // Show the rows of a sample, by port, or else one input of the first port alone.
  function show(rows, input, tick) {
{% for port in ports %}
{% if not port.moves %}
    if (tick === 0)
{% endif %}
    {
      if (rows) {{ port.array }}.set(rows["{{ port.name }}"]);
      else {{ port.array }}.fill(0{{ ", %s.begin, %s.end"|format(port.active, port.active) if not port.moves }});
      {{ port.active }}.begin = rows ? 0 : {{ "input" if loop.first else 0 }};
      {{ port.active }}.end = rows ? {{ port.size }} : {{ "input + 1" if loop.first else 0 }};
{% if loop.first %}
      if (!rows) {{ port.array }}[input] = 1;
{% endif %}
    }
{% endfor %}
{% if "clock.elapsed" in circuit.by_key %}
    _circuit.clock.elapsed[0] = tick;
{% endif %}
  }

  // Present a sample and then single inputs; `look` is called in between. Return whether all is finite.
  function present(rows, inputs, look) {
    _circuit.clock.sample[0] += 1;
    for (let tick = 0; tick < {{ circuit.timing.duration }}; tick++) {
      show(rows, 0, tick);
      _circuit.clock.moment[0] = _circuit.clock.sample[0] * {{ circuit.timing.duration }} + tick;
      if (tick === 0) sample_onset();
      sample_tick();
    }
    sample_end();
    look?.();
    for (const input of inputs) {
      for (let tick = 0; tick < {{ circuit.timing.replay_duration }}; tick++) {
        show(null, input, tick);
        if (tick === 0) replay_onset();
        replay_tick();
      }
      replay_end();
    }
    let total = 0;
{% for one in circuit.watched %}
    for (const value of _circuit.{{ one.key }}) total += value;
{% endfor %}
    return Number.isFinite(total);
  }

  return {memory: _circuit, present};
}
