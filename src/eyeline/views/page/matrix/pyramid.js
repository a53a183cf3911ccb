// The stored means of a long text's weights: its matrix shows them before the numbers of its heads are decoded.

import { causalPairs, seenBy } from "./open_pairs.js";

// A mean is most · 2^((code − LARGEST) / STEPS), and 0 for the code 0, as pyramid.py writes it.
const STEPS = 128;
const LARGEST = 4095;

const POWERS = Float64Array.from({ length: LARGEST + 1 }, (_, code) => (code ? 2 ** ((code - LARGEST) / STEPS) : 0));

/** The means of some heads of one layer, over squares of weights. */
export class Pyramid {
  /**
   * @param {StoredMeans} stored
   * @param {number[]} heads
   * @param {"mean" | "max"} reduce of the heads
   * @param {{ N: number, M: number, mask: HeadMask }[]} shapes of the heads
   */
  constructor({ side, shape: [, R, C], codes, most }, heads, reduce, shapes) {
    this.side = side;
    this.level = Math.log2(side);
    this.rows = R;
    this.columns = C;
    const [{ N, M, mask }] = shapes;
    this.N = N;
    this.M = M;
    this.mask = mask;
    /** Whether a dot's mean follows from these: how many of its pairs are open is known, and no maximum was taken. */
    this.exact = (reduce === "mean" || heads.length === 1) && shapes.every((one) => one.mask.kind === mask.kind) &&
      (mask.kind === "all" || mask.kind === "causal");
    /** The mean of each square, in which hidden pairs are 0. */
    this.means = new Float32Array(R * C);
    for (const head of heads) {
      const [from, scale] = [head * R * C, most[head] / (reduce === "mean" ? heads.length : 1)];
      const table = Float32Array.from(POWERS, (power) => scale * power);
      for (let at = 0; at < R * C; at++) {
        const mean = table[codes[from + at]];
        if (reduce === "max") this.means[at] = Math.max(this.means[at], mean);
        else this.means[at] += mean;
      }
    }
  }

  /**
   * The means of a tile's dots, of whole squares each: hidden pairs left out, NaN where all are hidden.
   * @param {Tile} tile
   */
  tile({ level, top, left, rows, columns }) {
    const { side, N, M, mask } = this;
    const many = 2 ** (level - this.level); // squares of a dot's side
    const [y0, x0] = [top / side, left / side];
    const found = new Float32Array(rows * columns);
    for (let y = 0, at = 0; y < rows; y++) {
      const [first, last] = [y0 + y * many, Math.min(y0 + (y + 1) * many, this.rows)];
      for (let x = 0; x < columns; x++, at++) {
        const [begin, end] = [x0 + x * many, Math.min(x0 + (x + 1) * many, this.columns)];
        const [a, b, c, d] = [first * side, Math.min(last * side, N), begin * side, Math.min(end * side, M)];
        const open = mask.kind === "causal" ? causalPairs(a, b, c, d) : (b - a) * (d - c);
        if (!open) {
          found[at] = NaN;
          continue;
        }
        let sum = 0;
        for (let row = first; row < last; row++) {
          const high = Math.min((row + 1) * side, N) - row * side;
          for (let column = begin; column < end; column++) {
            const wide = Math.min((column + 1) * side, M) - column * side;
            sum += this.means[row * this.columns + column] * high * wide;
          }
        }
        found[at] = sum / open;
      }
    }
    return found;
  }

  /** The means with NaN where all pairs of a square are hidden. */
  get shown() {
    const { side, rows, columns, N, M, mask } = this;
    if (mask.kind === "all" || (mask.kind !== "causal" && !mask.values)) return this.means.slice();
    const shown = new Float32Array(rows * columns).fill(NaN);
    for (let query = 0; query < N; query++) {
      const line = Math.floor(query / side) * columns;
      for (const [first, last] of seenBy(mask, query, M)) {
        if (first >= last) continue;
        const [from, to] = [line + Math.floor(first / side), line + Math.ceil(last / side)];
        shown.set(this.means.subarray(from, to), from);
      }
    }
    return shown;
  }
}
