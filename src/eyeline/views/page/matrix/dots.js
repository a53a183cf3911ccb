// The numbers of a matrix, computed from queries and keys by the kernel: of cells, or of dots, the means of many.

import { causalPairs, looking, placesOf, runs, seenBy, single } from "./open_pairs.js";

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

/** The numbers of a table of cells: the units that are shown, as rows and as columns. */
export class Dots {
  /**
   * @param {Weigher} weigher computes weights
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
    this.known = this.open || this.causal; // whether it is known without looking how many cells of a dot are open
    /** Whether the kernel can make means itself. */
    this.gridded = weigher.grid !== undefined && this.plain && this.known && !this.largest && !shares && !heads.some((head) => head.factors);
    this.oneMask = heads.every((head) => head.mask.kind === mask.kind && head.mask.values === mask.values);
  }

  /**
   * The means of 2^level × 2^level cells, hidden ones left out; NaN where all are hidden.
   * @param {Sides} sides in cells
   * @param {number} level
   * @returns {Generator<void, Float32Array<ArrayBuffer>>}
   */
  *means(sides, level) {
    const { top, left, bottom, right } = sides;
    const side = 2 ** level;
    const whole = (bottom - top) % side === 0 && (right - left) % side === 0; // no dot is cut off at the end
    if (level && whole && this.gridded) return yield* this._grid(sides, side);
    const [high, width] = [Math.ceil((bottom - top) / side), Math.ceil((right - left) / side)];
    const sums = new Float64Array(high * width);
    const counts = this.known ? null : new Float64Array(high * width);
    const step = Math.max(Math.floor(BAND / Math.max(this.columns[2 * right - 1] - this.columns[2 * left], 1)), 1);
    for (let first = top; first < bottom; first += step) {
      const last = Math.min(first + step, bottom);
      if (!this.causal || this.rows[2 * (last - 1)] >= this.columns[2 * left]) {
        this._add(sums, counts, this._block(first, last, left, right), { top, left, first, last, right, level, width });
      }
      yield;
    }
    return this._means(sums, counts, sides, side);
  }

  /**
   * The same of one token for each unit: means that the kernel makes itself.
   * @param {Sides} sides
   * @param {number} side
   * @returns {Generator<void, Float32Array<ArrayBuffer>>}
   */
  *_grid(sides, side) {
    const { rows, columns, heads, weigher } = this;
    const [a, b] = [rows[2 * sides.top], rows[2 * sides.bottom - 1]];
    const [c, d] = [columns[2 * sides.left], columns[2 * sides.right - 1]];
    const [high, width] = [(b - a) / side, (d - c) / side];
    const sums = new Float64Array(high * width);
    for (const head of this.causal && b <= c ? [] : heads) {
      const means = yield* /** @type {Required<Weigher>} */ (weigher).grid(head, [a, b], [c, d], high, width);
      for (let at = 0; at < sums.length; at++) sums[at] += (means[at] * side * side) / heads.length;
    }
    return this._means(sums, null, sides, side);
  }

  /**
   * Sums of dots' cells, divided by how many are open.
   * @param {Float64Array} sums
   * @param {Float64Array | null} counts null where these are known
   * @param {Sides} sides
   * @param {number} side
   */
  _means(sums, counts, { top, left, bottom, right }, side) {
    const { rows, columns } = this;
    const means = new Float32Array(sums.length);
    const width = Math.ceil((right - left) / side);
    for (let at = 0; at < means.length; at++) {
      const [from, begin] = [top + Math.floor(at / width) * side, left + (at % width) * side];
      const [to, end] = [Math.min(from + side, bottom), Math.min(begin + side, right)];
      const count = counts ? counts[at] : this.causal
        ? causalPairs(rows[2 * from], rows[2 * to - 1], columns[2 * begin], columns[2 * end - 1])
        : (to - from) * (end - begin);
      means[at] = count ? sums[at] / count : NaN;
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
    for (const part of this.others ? runs(this.others).map((run) => this._of(run)) : []) {
      const width = part.columns.length / 2;
      const step = Math.max(Math.floor(BAND / width), 1);
      for (let first = top; first < bottom; first += step) {
        const last = Math.min(first + step, bottom);
        const { weights } = part._block(first, last, 0, width);
        for (let at = 0; at < weights.length; at++) found[first - top + Math.floor(at / width)] += weights[at];
        yield;
      }
    }
    return found;
  }

  /**
   * What each column takes of some rows in the mean; rows with fewer than three visible columns say little, and don't
   * count.
   * @param {TokenRange[]} places the rows, as [first, last)
   * @returns {Generator<void, Float32Array<ArrayBuffer>>}
   */
  *received(places) {
    const width = this.columns.length / 2;
    const sums = new Float32Array(width);
    let count = 0;
    for (const [first, last] of places) {
      const { weights } = this._block(first, last, 0, width);
      for (let from = 0; from < weights.length; from += width) {
        const row = weights.subarray(from, from + width);
        if (row.reduce((seen, weight) => seen + Number(weight > 0), 0) < 3) continue;
        count += 1;
        for (let at = 0; at < width; at++) sums[at] += row[at];
      }
      yield;
    }
    return sums.map((sum) => sum / Math.max(count, 1));
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
      const weights = this.weigher.weights(heads[0], [a, b], [c, d]);
      return { weights, open: this._opened(top, bottom, left, right) };
    }
    const [weights, own] = [new Float32Array(size), new Float32Array(plain ? 0 : size)];
    const rowOf = placesOf(rows, top, bottom, a, b);
    const columnOf = placesOf(columns, left, right, c, d);
    for (const head of heads) {
      const found = this.weigher.weights(head, [a, b], [c, d]);
      if (plain) {
        this._join(weights, found);
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
      this._join(weights, own);
    }
    if (!this.largest && heads.length > 1) for (let at = 0; at < size; at++) weights[at] /= heads.length;
    if (this.shares) this._share(weights, top, bottom, right - left);
    return { weights, open: this._opened(top, bottom, left, right) };
  }

  /**
   * Join a head's cells with those of the heads before it.
   * @param {Float32Array} all
   * @param {Float32Array} own
   */
  _join(all, own) {
    const count = all.length;
    if (this.largest) for (let at = 0; at < count; at++) all[at] = Math.max(all[at], own[at]);
    else for (let at = 0; at < count; at++) all[at] += own[at];
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
      const left = looking(this.heads, [this.rows[2 * row], this.rows[2 * row + 1]]) - aside[row - top];
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

  /**
   * Where cells of a block are open: a query token may look at a key token in some head; null where that is known
   * without.
   * @param {number} top
   * @param {number} bottom
   * @param {number} left
   * @param {number} right
   */
  _opened(top, bottom, left, right) {
    if (this.known) return null;
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
}
