// Readouts of a forward pass: where the kernel puts what it finds, and what that means.

import { RECORDS } from "./records.js";

const LN2 = Math.LN2;
const HALF = 2 ** 32;

/** The bin of each of some tokens, for `count` bins. @type {(tokens: number, count: number) => Int32Array} */
const binsOf = (tokens, count) => {
  const bins = new Int32Array(tokens);
  for (let bin = 0; bin < count; bin++) {
    bins.fill(bin, Math.floor((bin * tokens) / count), Math.floor(((bin + 1) * tokens) / count));
  }
  return bins;
};

/** The sizes of the bins. @type {(tokens: number, count: number) => number[]} */
const sizesOf = (tokens, count) =>
  Array.from({ length: count }, (_, bin) => Math.floor(((bin + 1) * tokens) / count) - Math.floor((bin * tokens) / count));

/** The keys of each block in the order of their groups, and these groups: (M, 2). @type {(groups: Int32Array, block: number) => Int32Array} */
const inOrder = (groups, block) => {
  const found = new Int32Array(2 * groups.length);
  for (let from = 0; from < groups.length; from += block) {
    const keys = Array.from({ length: Math.min(block, groups.length - from) }, (_, at) => from + at);
    keys.sort((one, other) => groups[one] - groups[other] || one - other);
    keys.forEach((key, at) => found.set([key, groups[key]], 2 * (from + at)));
  }
  return found;
};

/** Whole numbers of 64 bits as bytes. @type {(numbers: number[]) => Uint8Array} */
const wholes = (numbers) => {
  const view = new DataView(new ArrayBuffer(8 * numbers.length));
  numbers.forEach((number, at) => {
    view.setUint32(8 * at, number >>> 0, true);
    view.setInt32(8 * at + 4, Math.floor(number / HALF), true);
  });
  return new Uint8Array(view.buffer);
};

/** The readouts of one call. */
export class CallReadouts {
  /**
   * @param {ForwardCall} call
   * @param {Readouts} ask
   * @param {Float32Array | null} lse
   */
  constructor(call, ask, lse) {
    const { N, M, call: { H, factors = [], firstQuery = 0, firstKey = 0 } } = call;
    this.call = call;
    this.ask = ask;
    this.given = lse !== null;
    /** @type {Record<string, number>} Where results are. */
    this.at = {};
    const largest = factors.reduce((most, { by }) => most * by.reduce((top, one) => Math.max(top, Math.abs(one)), 1), 1);
    // Fixed point: 1 is this many units, so that no sum over all queries overflows; a given lse may make rows sum to 2.
    this.unit = 2 ** (61 - (Math.floor(Math.log2(Math.max(N, 1))) + 1) - Math.ceil(Math.log2(largest)) - Number(this.given));
    /** @type {Record<string, number>} */
    const fields = { asked: 1, units: call.copied(wholes(Array.from({ length: H }, () => this.unit))) };
    if (lse) Object.assign(fields, call.totals(lse));
    /** @type {(name: string, bytes: number) => void} */
    const room = (name, bytes) => {
      this.at[name] = fields[name] = call.take(bytes);
      call.kernel.memory.bytes(this.at[name], bytes).fill(0);
    };
    if (ask.entropy) room("row_log_weights", 4 * H * N);
    if (ask.entropy && factors.length) room("row_weights", 4 * H * N);
    if (ask.distance) room("row_distances", 4 * H * N);
    fields.distance_offset = firstQuery - firstKey + call.span.top - call.span.left;
    if (ask.largest) {
      fields.select = ask.largest;
      room("selected_weights", 4 * H * N * ask.largest);
      room("selected_keys", 8 * H * N * ask.largest);
    }
    if (ask.groups) {
      fields.bins = ask.groups.count;
      fields.binned_keys = call.copied(inOrder(ask.groups.of, RECORDS.sizes.KEY_BLOCK));
      room("row_bins", 4 * H * N * ask.groups.count);
    }
    if (ask.offsets) {
      fields.offset_ranges = Math.max(ask.offsets.length - 1, 0);
      fields.offset_edges = call.copied(wholes(ask.offsets.map((edge) => edge + fields.distance_offset)));
      room("row_offsets", 4 * H * N * fields.offset_ranges);
    }
    if (ask.received) {
      room("column_sums", 8 * H * M);
      room("column_spoiled", H * M);
    }
    if (ask.receivedMost) room("column_maxima", 4 * H * M);
    if (ask.grid) {
      const { rows, columns, mean, most } = ask.grid;
      fields.grid_rows = rows;
      fields.grid_columns = columns;
      fields.grid_row_places = call.copied(binsOf(N, rows));
      fields.grid_column_places = call.copied(binsOf(M, columns));
      if (mean) {
        room("grid_sums", 8 * H * rows * columns);
        room("grid_spoiled", H * rows * columns);
      }
      if (most) room("grid_maxima", 4 * H * rows * columns);
    }
    call.record.set(Object.fromEntries(Object.entries(fields).map(([name, value]) => [`primitives.${name}`, value])));
    /** What the workspace needs room for. */
    this.sizes = {
      select: ask.largest ?? 0,
      bins: ask.groups?.count ?? 0,
      ranges: fields.offset_ranges ?? 0,
      grid_columns: ask.grid?.columns ?? 0,
      grid_sums: Number(Boolean(ask.grid?.mean)),
      grid_maxima: Number(Boolean(ask.grid?.most)),
      column_sums: Number(Boolean(ask.received)),
      column_maxima: Number(Boolean(ask.receivedMost)),
    };
  }

  /** @param {string} name @param {number} count */
  _floats(name, count) {
    return this.call.kernel.memory.floats(this.at[name], count).slice();
  }

  /** Sums in fixed point. @param {string} name @param {string} spoiled @param {number} count */
  _sums(name, spoiled, count) {
    const memory = this.call.kernel.memory;
    const [words, bad] = [memory.ints(this.at[name], 2 * count), memory.bytes(this.at[spoiled], count)];
    const found = new Float32Array(count);
    for (let at = 0; at < count; at++) {
      found[at] = bad[at] ? NaN : (words[2 * at + 1] * HALF + (words[2 * at] >>> 0)) / this.unit;
    }
    return found;
  }

  /** (H, count, N) turned to (H, N, count). @param {string} name @param {number} count */
  _turned(name, count) {
    const { N, call: { H } } = this.call;
    const [found, turned] = [this._floats(name, H * N * count), new Float32Array(H * N * count)];
    for (let head = 0; head < H; head++) {
      for (let which = 0; which < count; which++) {
        for (let i = 0; i < N; i++) turned[(head * N + i) * count + which] = found[(head * count + which) * N + i];
      }
    }
    return turned;
  }

  /** Whether weights of a row, (H, N), are multiplied by another number than 1. @param {number} row */
  _isWeighed(row) {
    const { N, M, span: { top, left }, call: { N: all, M: keys, factors = [] } } = this.call;
    const [head, i] = [Math.floor(row / N), top + (row % N)];
    return factors.some(({ by, columns }) => {
      const first = left + (columns.length === keys ? 0 : head * keys);
      return by[by.length === all ? i : head * all + i] !== 1 && columns.subarray(first, first + M).includes(1);
    });
  }

  /**
   * The results.
   * @param {Float32Array} logSums each row's binary logarithm of its sum, (H, N)
   * @returns {Partial<Attended>}
   */
  results(logSums) {
    const { ask, at, call: { N, M, call: { H } } } = this;
    /** @type {Partial<Attended>} */
    const found = {};
    if (ask.entropy) {
      const logs = this._floats("row_log_weights", H * N);
      const weights = at.row_weights ? this._floats("row_weights", H * N) : null; // mean nothing but where there are factors
      found.entropy = logs.map((sum, row) => {
        const whole = weights && this._isWeighed(row) ? weights[row] : 1;
        const rest = this.given || !(logSums[row] > -Infinity) ? 0 : logSums[row] * whole;
        return -(sum - rest) * LN2 + 0;
      });
    }
    if (ask.distance) found.distance = this._floats("row_distances", H * N);
    if (ask.largest) {
      found.weights = this._floats("selected_weights", H * N * ask.largest);
      const words = this.call.kernel.memory.ints(at.selected_keys, 2 * H * N * ask.largest);
      found.keys = new Int32Array(words.length / 2);
      for (let which = 0; which < found.keys.length; which++) found.keys[which] = words[2 * which];
    }
    if (ask.groups) found.groups = this._turned("row_bins", ask.groups.count);
    if (ask.offsets) found.offsets = this._turned("row_offsets", this.sizes.ranges);
    if (ask.received) found.received = this._sums("column_sums", "column_spoiled", H * M);
    if (ask.receivedMost) found.receivedMost = this._floats("column_maxima", H * M);
    if (ask.grid) {
      const { rows, columns, mean, most } = ask.grid;
      const cells = H * rows * columns;
      if (most) found.gridMost = this._floats("grid_maxima", cells);
      if (mean) {
        const [down, across] = [sizesOf(N, rows), sizesOf(M, columns)];
        found.gridMean = this._sums("grid_sums", "grid_spoiled", cells).map(
          (sum, cell) => sum / (down[Math.floor(cell / columns) % rows] * across[cell % columns]));
      }
    }
    return found;
  }
}
