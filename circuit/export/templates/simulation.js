"use strict";
// The circuit of the page with its data: presents samples in the embedded order, and measures.

function decode(text, type) {
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return new type(bytes.buffer);
}

function unpack(packed) {
  const types = {Float64Array, Uint8Array, Uint16Array};
  const values = decode(packed.base64, types[packed.type]);
  if (!packed.table) return values;
  const table = decode(packed.table, Float64Array);
  return Float64Array.from(values, (place) => table[place]);
}

class Simulation {
  constructor(data) {
    this.data = data;
    this.start = Object.fromEntries(Object.entries(data.state).map(([key, values]) => [key, unpack(values)]));
    this.order = unpack(data.order);
    this.inputs = unpack(data.inputs);
    this.ports = Object.entries(data.ports).map(([name, port]) => {
      const values = unpack(port.values), mean = unpack(port.mean), m = mean.length;
      for (let i = 0; i < values.length; i++) values[i] = port.gain * (values[i] - mean[i % m]);
      return {name, values, m, silent: new Float64Array(m)};
    });
    this.samples = this.ports[0].values.length / this.ports[0].m;
    this.factors = {};
    this.shuffled = null;
    this.cut = false;
    this.reset();
  }

  // Begin anew, with the initial weights and at the begin of the order.
  reset() {
    this.circuit = newCircuit(this.factors);
    for (const [key, values] of Object.entries(this.start)) this.variable(key).set(values);
    this.seen = 0;
    this.finite = true;
    this.silence(this.silenced);
  }

  variable(key) {
    const [part, name] = key.split(".");
    return this.circuit.memory[part][name];
  }

  // Let the interneurons fall silent, or speak again.
  silence(wanted) {
    this.silenced = Boolean(wanted);
    for (const key of this.data.silenceable) this.variable(key).fill(wanted ? 0 : 1);
  }

  // Pair each x with the y of another sample, or with its own again.
  shuffle(wanted) {
    this.shuffled = null;
    if (!wanted) return;
    const pairs = Uint32Array.from({length: this.samples}, (_, i) => i);
    let state = 1;
    for (let i = pairs.length - 1; i > 0; i--) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      const other = Math.floor((state / 4294967296) * (i + 1));
      [pairs[i], pairs[other]] = [pairs[other], pairs[i]];
    }
    this.shuffled = pairs;
  }

  // The rows of the next sample, by port.
  rows() {
    const row = this.order[this.seen % this.order.length], rows = {};
    for (const {name, values, m, silent} of this.ports) {
      const at = this.shuffled && name === "y" ? this.shuffled[row] : row;
      rows[name] = this.cut && name === "y" ? silent : values.subarray(at * m, (at + 1) * m);
    }
    return rows;
  }

  // Present the next sample; `look` is given its rows while its activity stands.
  step(look) {
    const rows = this.rows(), turn = this.seen % this.order.length, replays = this.data.replays;
    const inputs = this.inputs.subarray(turn * replays, (turn + 1) * replays);
    this.finite = this.circuit.present(rows, inputs, look && (() => look(rows)));
    this.seen++;
    return this.finite;
  }

  // All weights as matrices by name, each a list of rows.
  weights() {
    const out = {};
    for (const [name, {key, shape, turned}] of Object.entries(this.data.matrices)) {
      const flat = this.variable(key), [rows, columns] = shape;
      out[name] = Array.from({length: rows}, (_, i) =>
        Array.from({length: columns}, (_, j) => flat[turned ? j * rows + i : i * columns + j]));
    }
    return out;
  }

  // ||R - Q'|| / ||Q||, over all areas; NaN where there are no such matrices.
  mismatch() {
    let apart = 0, size = 0;
    for (const [out, back] of this.data.loops) {
      const R = this.data.matrices[out], Q = this.data.matrices[back];
      // Flat values are ordered source by source: what one matrix has in rows the other has in columns.
      const r = this.variable(R.key), q = this.variable(Q.key), [k, l] = Q.shape;
      for (let i = 0; i < k; i++) {
        for (let j = 0; j < l; j++) {
          const a = q[Q.turned ? j * k + i : i * l + j], b = r[R.turned ? i * l + j : j * k + i];
          apart += (b - a) ** 2;
          size += a * a;
        }
      }
    }
    return Math.sqrt(apart / size);
  }
}

// Exact theory of the data, and scores of weights Vx (m by k, row by row).
class Theory {
  constructor(given, x) {
    this.k = given.k;
    this.x = x;
    this.ridge = given.ridge;
    this.optimum = given.optimum;
    this.eigenvalues = unpack(given.eigenvalues);
    this.every = this.eigenvalues.length;
    this.filters = unpack(given.filters);
    this.covaried = unpack(given.covaried);
    this.readout = unpack(given.readout);
    this.n = this.readout.length / this.every;
    this.prediction = new Float64Array(this.n);
    this.hidden = new Float64Array(this.every);
  }

  // The best linear prediction of y from a sample of x.
  predict(row) {
    const {hidden, prediction, filters, readout, every, n} = this;
    hidden.fill(0);
    for (let i = 0; i < row.length; i++) for (let j = 0; j < every; j++) hidden[j] += filters[i * every + j] * row[i];
    for (let i = 0; i < n; i++) {
      prediction[i] = 0;
      for (let j = 0; j < every; j++) prediction[i] += readout[i * every + j] * hidden[j];
    }
    return prediction;
  }

  // Vx'(Cxx + ridge I)Vx, k by k.
  gram(Vx) {
    const {k, ridge} = this, {values, m} = this.x, rows = values.length / m;
    const gram = new Float64Array(k * k), z = new Float64Array(k);
    for (let t = 0; t < rows; t++) {
      z.fill(0);
      for (let i = 0; i < m; i++) {
        const value = values[t * m + i];
        if (value !== 0) for (let j = 0; j < k; j++) z[j] += value * Vx[i * k + j];
      }
      for (let i = 0; i < k; i++) for (let j = 0; j <= i; j++) gram[i * k + j] += z[i] * z[j] / rows;
    }
    for (let i = 0; i < k; i++) {
      for (let j = 0; j <= i; j++) {
        for (let row = 0; row < m; row++) gram[i * k + j] += ridge * Vx[row * k + i] * Vx[row * k + j];
        gram[j * k + i] = gram[i * k + j];
      }
    }
    return gram;
  }

  // V'(Cxx + ridge I)Vx for all directions V of the exact solution, every by k.
  overlap(Vx) {
    const {k, every, covaried} = this, out = new Float64Array(every * k);
    for (let i = 0; i * k < Vx.length; i++)
      for (let a = 0; a < every; a++) for (let j = 0; j < k; j++) out[a * k + j] += covaried[i * every + a] * Vx[i * k + j];
    return out;
  }

  // (objective - optimum) / |optimum|: with L L' = Vx'Cxx Vx, the objective is -|L^-1 Vx'C sqrt(eigenvalues)|^2.
  excess(Vx) {
    const {k, every, eigenvalues} = this, L = this.gram(Vx), overlap = this.overlap(Vx);
    for (let i = 0; i < k; i++) {
      for (let j = 0; j <= i; j++) {
        let left = L[i * k + j];
        for (let p = 0; p < j; p++) left -= L[i * k + p] * L[j * k + p];
        if (i === j && !(left > 0)) return NaN;
        L[i * k + j] = i === j ? Math.sqrt(left) : left / L[j * k + j];
      }
    }
    let explained = 0;
    for (let a = 0; a < every; a++) {
      const solved = new Float64Array(k);
      for (let i = 0; i < k; i++) {
        let left = overlap[a * k + i];
        for (let p = 0; p < i; p++) left -= L[i * k + p] * solved[p];
        solved[i] = left / L[i * k + i];
        explained += eigenvalues[a] * solved[i] ** 2;
      }
    }
    return (-explained - this.optimum) / -this.optimum;
  }

  // The exact filters, m by k, in the rotation nearest to Vx: no other difference of the two counts.
  aligned(Vx) {
    const {k, every, filters} = this, turn = polar(this.overlap(Vx).slice(0, k * k), k);
    const m = Vx.length / k, out = new Float64Array(m * k);
    if (turn) for (let i = 0; i < m; i++) for (let a = 0; a < k; a++) for (let j = 0; j < k; j++)
      out[i * k + j] += filters[i * every + a] * turn[a * k + j];
    return out;
  }
}

// The rotation nearest to a square matrix, by Newton's iteration; null where it has none.
function polar(matrix, k) {
  let at = matrix;
  for (let round = 0; round < 60; round++) {
    const inverse = inverted(at, k);
    if (!inverse) return null;
    const size = (values) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
    const scale = Math.sqrt(size(inverse) / size(at)), next = new Float64Array(k * k);
    let moved = 0;
    for (let i = 0; i < k; i++) for (let j = 0; j < k; j++) {
      next[i * k + j] = (scale * at[i * k + j] + inverse[j * k + i] / scale) / 2;
      moved = Math.max(moved, Math.abs(next[i * k + j] - at[i * k + j]));
    }
    at = next;
    if (moved < 1e-12) break;
  }
  return at;
}

// The inverse of a square matrix by Gauss and Jordan; null where it has none.
function inverted(matrix, k) {
  const left = matrix.slice(), right = new Float64Array(k * k);
  for (let i = 0; i < k; i++) right[i * k + i] = 1;
  for (let column = 0; column < k; column++) {
    let best = column;
    for (let row = column + 1; row < k; row++)
      if (Math.abs(left[row * k + column]) > Math.abs(left[best * k + column])) best = row;
    const pivot = left[best * k + column];
    if (!(Math.abs(pivot) > 1e-200)) return null;
    for (const values of [left, right]) for (let j = 0; j < k; j++) {
      const kept = values[best * k + j];
      values[best * k + j] = values[column * k + j];
      values[column * k + j] = kept / pivot;
    }
    for (let row = 0; row < k; row++) {
      const factor = left[row * k + column];
      if (row !== column) for (const values of [left, right])
        for (let j = 0; j < k; j++) values[row * k + j] -= factor * values[column * k + j];
    }
  }
  return right;
}
