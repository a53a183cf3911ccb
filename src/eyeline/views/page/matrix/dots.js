// The numbers of a matrix, computed from queries and keys by the kernel: of cells, or of dots, the means of many.

const BAND = 1 << 19; // weights of a head that are computed at once
/** The least part of a row that is trusted as 1 − (what isn't shown): below, it has too few digits. */
const SURE = 0.05;

/** Runs steps to their end. @template T @param {Generator<void, T>} steps @returns {T} */
export const finished = (steps) => {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
};

/**
 * The index of each token's unit among some units, from `from` on; −1 where it is in none.
 * @type {(spans: Int32Array, first: number, last: number, from: number, to: number) => Int32Array}
 */
const placesOf = (spans, first, last, from, to) => {
  const places = new Int32Array(to - from).fill(-1);
  for (let unit = first; unit < last; unit++) {
    places.fill(unit - first, Math.max(spans[2 * unit] - from, 0), Math.max(spans[2 * unit + 1] - from, 0));
  }
  return places;
};

/** How many of the queries [top, bottom) × the keys [left, right) a causal mask leaves. @type {(top: number, bottom: number, left: number, right: number) => number} */
export const causalPairs = (top, bottom, left, right) => {
  const first = Math.max(top, left); // the first query that sees any of these keys
  const whole = Math.min(Math.max(right - 1, first), bottom); // the first that sees all
  const growing = Math.max(whole - first, 0);
  return (growing * (2 * (first - left + 1) + growing - 1)) / 2 + Math.max(bottom - whole, 0) * (right - left);
};

/** The numbers of a table of cells: the units that are shown, as rows and as columns. */
export class Dots {
  /**
   * @param {Weigher} weigher computes rectangles of weights
   * @param {DotTable} table
   */
  constructor(weigher, { heads, reduce, rows, columns, others = null, shares = false, sums = false }) {
    this.weigher = weigher;
    this.heads = heads;
    this.largest = reduce === "max" && heads.length > 1;
    this.rows = rows;
    this.columns = columns;
    this.others = others;
    this.shares = shares;
    this.sums = sums; // whether the shown part of a row has to be summed
    this.plain = single(rows) && single(columns); // cells are weights
    const [{ mask }] = heads;
    this.open = heads.every((head) => head.mask.kind === "all");
    this.causal = this.plain && heads.every((head) => head.mask.kind === "causal");
    this.oneMask = heads.every((head) => head.mask.kind === mask.kind && head.mask.values === mask.values);
  }

  /**
   * The means of 2^level × 2^level cells, hidden ones left out; NaN where all are hidden.
   * @param {Sides} sides in cells
   * @param {number} level
   * @returns {Generator<void, Float32Array<ArrayBuffer>>}
   */
  *means({ top, left, bottom, right }, level) {
    const width = Math.ceil((right - left) / 2 ** level);
    const high = Math.ceil((bottom - top) / 2 ** level);
    const sums = new Float64Array(high * width);
    const counts = this.open || this.causal ? null : new Float64Array(high * width);
    const step = Math.max(Math.floor(BAND / Math.max(this._tokens(this.columns, left, right), 1)), 1);
    for (let first = top; first < bottom; first += step) {
      const last = Math.min(first + step, bottom);
      if (!this.causal || this.rows[2 * (last - 1)] >= this.columns[2 * left]) {
        this._add(sums, counts, this._block(first, last, left, right), { top, left, first, last, right, level, width });
      }
      yield;
    }
    const means = new Float32Array(sums.length);
    const side = 2 ** level;
    for (let y = 0, at = 0; y < high; y++) {
      const [from, to] = [top + y * side, Math.min(top + (y + 1) * side, bottom)];
      for (let x = 0; x < width; x++, at++) {
        const [begin, end] = [left + x * side, Math.min(left + (x + 1) * side, right)];
        const count = counts ? counts[at] : this.open
          ? (to - from) * (end - begin)
          : causalPairs(this.rows[2 * from], this.rows[2 * to - 1], this.columns[2 * begin], this.columns[2 * end - 1]);
        means[at] = count ? sums[at] / count : NaN;
      }
    }
    return means;
  }

  /**
   * What units that aren't shown take of the rows [top, bottom).
   * @param {number} top
   * @param {number} bottom
   * @returns {Generator<void, Float32Array<ArrayBuffer>>}
   */
  *aside(top, bottom) {
    const found = new Float32Array(bottom - top);
    const [rows, others] = [this.rows, this.others];
    if (!others?.length) return found;
    const part = this._of(others);
    const width = others.length / 2;
    const step = Math.max(Math.floor(BAND / Math.max(width, 1)), 1);
    for (let first = top; first < bottom; first += step) {
      const last = Math.min(first + step, bottom);
      const { weights } = part._block(first, last, 0, width);
      for (let row = first, at = 0; row < last; row++) {
        let sum = 0;
        for (const end = at + width; at < end; at++) sum += weights[at];
        found[row - top] = sum;
      }
      yield;
    }
    return found;
  }

  /**
   * Cells of the rows [top, bottom) × columns [left, right), and where they are open; null where all are, or the mask
   * is causal.
   * @param {number} top
   * @param {number} bottom
   * @param {number} left
   * @param {number} right
   */
  _block(top, bottom, left, right) {
    const { rows, columns, heads } = this;
    const size = (bottom - top) * (right - left);
    const [a, b, c, d] = [rows[2 * top], rows[2 * bottom - 1], columns[2 * left], columns[2 * right - 1]];
    const { plain } = this;
    if (plain && heads.length === 1 && !this.shares) {
      const weights = this.weigher(heads[0], [a, b], [c, d]);
      return { weights, open: this._opened(top, bottom, left, right) };
    }
    const weights = new Float32Array(size);
    const own = this.largest || !plain ? new Float32Array(size) : weights;
    const rowOf = placesOf(rows, top, bottom, a, b);
    const columnOf = placesOf(columns, left, right, c, d);
    for (const head of heads) {
      const found = this.weigher(head, [a, b], [c, d]);
      if (plain) {
        if (this.largest) for (let at = 0; at < size; at++) weights[at] = Math.max(weights[at], found[at]);
        else for (let at = 0; at < size; at++) weights[at] += found[at];
        continue;
      }
      own.fill(0);
      for (let token = a, at = 0; token < b; token++) {
        const row = rowOf[token - a];
        if (row < 0) {
          at += d - c;
          continue;
        }
        const share = 1 / (rows[2 * (top + row) + 1] - rows[2 * (top + row)]);
        const line = row * (right - left);
        for (let key = 0; key < columnOf.length; key++, at++) {
          const column = columnOf[key];
          if (column >= 0) own[line + column] += share * found[at];
        }
      }
      if (this.largest) for (let at = 0; at < size; at++) weights[at] = Math.max(weights[at], own[at]);
      else for (let at = 0; at < size; at++) weights[at] += own[at];
    }
    if (!this.largest && heads.length > 1) for (let at = 0; at < size; at++) weights[at] /= heads.length;
    if (this.shares) this._share(weights, top, bottom, right - left);
    return { weights, open: this._opened(top, bottom, left, right) };
  }

  /**
   * Divide rows by what the shown units take.
   * @param {Float32Array} weights
   * @param {number} top
   * @param {number} bottom
   * @param {number} width
   */
  _share(weights, top, bottom, width) {
    const totals = this._totals(top, bottom);
    for (let row = top, at = 0; row < bottom; row++) {
      const total = totals[row - top] || 1;
      for (const end = at + width; at < end; at++) weights[at] /= total;
    }
  }

  /**
   * What the shown units take of the rows [top, bottom).
   * @param {number} top
   * @param {number} bottom
   */
  _totals(top, bottom) {
    const totals = new Float64Array(bottom - top);
    const aside = finished(this.aside(top, bottom));
    const whole = this._of(this.columns);
    const width = this.columns.length / 2;
    for (let row = top; row < bottom; row++) {
      const left = this._looking(row) - aside[row - top];
      if (!this.sums && !this.largest && left >= SURE) totals[row - top] = left;
      else for (const weight of whole._block(row, row + 1, 0, width).weights) totals[row - top] += weight;
    }
    return totals;
  }

  /** The same rows' weights on other columns. @param {Int32Array} columns */
  _of(columns) {
    const { heads, rows } = this;
    return new Dots(this.weigher, { heads, reduce: this.largest ? "max" : "mean", rows, columns });
  }

  /** The whole of a row: 1, unless tokens of it may look nowhere. @param {number} row */
  _looking(row) {
    const [first, last] = [this.rows[2 * row], this.rows[2 * row + 1]];
    let count = 0;
    for (const { lse } of this.heads) for (let token = first; token < last; token++) if (lse[token] > -Infinity) count += 1;
    return count / this.heads.length / (last - first);
  }

  /**
   * Where cells of a block are open: a query token may look at a key token in some head; null where that is known
   * without.
   * @param {number} top
   * @param {number} bottom
   * @param {number} left
   * @param {number} right
   */
  _opened(top, bottom, left, right) {
    if (this.open || this.causal) return null;
    const { rows, columns } = this;
    const [c, d] = [columns[2 * left], columns[2 * right - 1]];
    const columnOf = placesOf(columns, left, right, c, d);
    const width = right - left;
    const open = new Uint8Array((bottom - top) * width);
    for (const { mask, M } of this.oneMask ? this.heads.slice(0, 1) : this.heads) {
      for (let row = top; row < bottom; row++) {
        const line = (row - top) * width;
        for (let token = rows[2 * row]; token < rows[2 * row + 1]; token++) {
          for (const [first, last] of seenBy(mask, token, M)) {
            for (let key = Math.max(first, c); key < Math.min(last, d); key++) {
              const column = columnOf[key - c];
              if (column >= 0) open[line + column] = 1;
            }
          }
        }
      }
    }
    return open;
  }

  /**
   * Add a block's cells to the dots that they are in.
   * @param {Float64Array} sums
   * @param {Float64Array | null} counts
   * @param {{ weights: Float32Array, open: Uint8Array | null }} block
   * @param {{ top: number, left: number, first: number, last: number, right: number, level: number, width: number }} place
   */
  _add(sums, counts, { weights, open }, { top, left, first, last, right, level, width }) {
    const [many, side] = [right - left, 2 ** level];
    for (let row = first, at = 0; row < last; row++) {
      const line = ((row - top) >> level) * width;
      for (let from = 0, dot = line; from < many; from += side, dot++) {
        let sum = 0;
        for (const end = at + Math.min(side, many - from); at < end; at++) sum += weights[at];
        sums[dot] += sum;
      }
      if (!open || !counts) continue;
      for (let column = 0, cell = at - many; column < many; column++, cell++) counts[line + (column >> level)] += open[cell];
    }
  }

  /**
   * The number of tokens from the first of some units to the last.
   * @param {Int32Array} spans
   * @param {number} first
   * @param {number} last
   */
  _tokens(spans, first, last) {
    return spans[2 * last - 1] - spans[2 * first];
  }
}

/** Whether units are the tokens of one range, one each. @type {(spans: Int32Array) => boolean} */
const single = (spans) => {
  for (let at = 0; at < spans.length; at += 2) {
    if (spans[at + 1] - spans[at] !== 1 || spans[at] !== spans[0] + at / 2) return false;
  }
  return true;
};

/** The ranges of keys [first, last) that a query may look at. @type {(mask: HeadMask, query: number, M: number) => [first: number, last: number][]} */
export const seenBy = ({ kind, values, shape }, query, M) => {
  if (kind === "all") return [[0, M]];
  if (kind === "causal") return [[0, query + 1]];
  if (!values || !shape) return [];
  /** @type {[first: number, last: number][]} */
  const found = [];
  if (kind === "bits") {
    for (let key = 0, at = query * M; key < M; key++, at++) if (values[at] === 1) found.push([key, key + 1]);
    return found;
  }
  const [rows, count] = shape;
  for (let at = (rows === 1 ? 0 : query) * count * 2, end = at + count * 2; at < end; at += 2) {
    found.push([values[at], values[at + 1]]);
  }
  return found;
};
