// The numbers of the shown units, computed in blocks: weights, or shares of what each row gives to the shown keys.

import { isDistribution } from "../weights/attention_map.js";

const FAINT = -46; // exp of less is under 1e-20, which no picture shows

/**
 * The index of each token's unit among the shown units; −1 if it isn't shown.
 * @type {(units: Unit[], shown: number[]) => Int32Array}
 */
const placesOf = (units, shown) => {
  const places = new Int32Array(units.length ? units[units.length - 1].last : 0).fill(-1);
  shown.forEach((at, place) => places.fill(place, units[at].first, units[at].last));
  return places;
};

/**
 * The tokens of the shown units [first, last).
 * @type {(units: Unit[], shown: number[], first: number, last: number) => Int32Array}
 */
const tokensOf = (units, shown, first, last) => {
  const tokens = [];
  for (let place = first; place < last; place++) {
    const { first: from, last: to } = units[shown[place]];
    for (let token = from; token < to; token++) tokens.push(token);
  }
  return Int32Array.from(tokens);
};

/** A table of cells: rows and columns are the shown units of an attention map, by their index among the shown units. */
export class Cells {
  /**
   * @param {AttentionMap} attention
   * @param {number[]} rows which query units are shown, in reading order
   * @param {number[]} columns which key units are shown, in reading order
   * @param {((row: number) => number) | null} total what a row's numbers are divided by; null for weights
   */
  constructor(attention, rows, columns, total = null) {
    this.attention = attention;
    this.rows = rows;
    this.columns = columns;
    this.total = total;
    this.rowOf = placesOf(attention.queries, rows);
    this.columnOf = placesOf(attention.keys, columns);
    this.full = attention.heads.every(
      ({ mask: { kind, values } }) => kind === "all" || (kind === "bits" && !values?.includes(0)),
    );
    const [{ D, N, M }] = attention.heads;
    // The approximate number of products per cell.
    this.effort = (attention.heads.length * D * N * M) / Math.max(attention.N * attention.M, 1);
  }

  /**
   * Whether the query unit at a row may look at the key unit at a column.
   * @param {number} row
   * @param {number} column
   */
  allowed(row, column) {
    return this.attention.allowed(this.rows[row], this.columns[column]);
  }

  /**
   * The number of one cell.
   * @param {number} row
   * @param {number} column
   */
  weight(row, column) {
    const key = this.columns[column];
    return this._divided(this.attention.row(this.rows[row], key, key + 1)[0], row);
  }

  /** The numbers of a row on all columns. @param {number} row */
  row(row) {
    const given = this.attention.row(this.rows[row]);
    return this.columns.map((key) => this._divided(given[key], row));
  }

  /**
   * @param {number} weight
   * @param {number} row
   */
  _divided(weight, row) {
    const total = this.total ? this.total(row) : 1;
    return total > 0 ? weight / total : 0;
  }

  /**
   * Numbers of rows [top, bottom) on columns [left, right), row by row; NaN where a query may not look.
   * @param {number} top
   * @param {number} bottom
   * @param {number} left
   * @param {number} right
   */
  block(top, bottom, left, right) {
    const { attention } = this;
    const queries = tokensOf(attention.queries, this.rows, top, bottom);
    const keys = tokensOf(attention.keys, this.columns, left, right);
    const size = (bottom - top) * (right - left);
    const place = { top, left, width: right - left, open: this.full ? null : new Uint8Array(size) };
    const result = new Float64Array(size);
    const largest = !isDistribution(attention);
    const own = largest ? new Float64Array(size) : result;
    for (const head of attention.heads) {
      this._add(head, queries, keys, own, place);
      if (!largest) continue;
      for (let at = 0; at < size; at++) if (own[at] > result[at]) result[at] = own[at];
      own.fill(0);
    }
    if (!largest) for (let at = 0; at < size; at++) result[at] /= attention.heads.length;
    if (this.total) this._share(result, top, bottom, right - left);
    if (place.open) for (let at = 0; at < size; at++) if (!place.open[at]) result[at] = NaN;
    return result;
  }

  /**
   * Divide rows by their totals.
   * @param {Float64Array} result
   * @param {number} top
   * @param {number} bottom
   * @param {number} width
   */
  _share(result, top, bottom, width) {
    for (let row = top, at = 0; row < bottom; row++) {
      const total = this.total?.(row) || 1;
      for (const end = at + width; at < end; at++) result[at] /= total;
    }
  }

  /**
   * Add a head's weights between tokens to the cells that contain them: two queries and four keys at a time.
   * @param {Head} head
   * @param {Int32Array} queries
   * @param {Int32Array} keys
   * @param {Float64Array} into
   * @param {{ top: number, left: number, width: number, open: Uint8Array | null }} place
   */
  _add(head, queries, keys, into, { top, left, width, open }) {
    const { q, k, lse, D, scale } = head;
    const { attention, rows } = this;
    const many = keys.length;
    const causal = head.mask.kind === "causal";
    const partial = !causal && head.mask.kind !== "all";
    const columns = Int32Array.from(keys, (token) => this.columnOf[token] - left);
    const scores = new Float64Array(8);
    for (let at = 0; at < queries.length; at += 2) {
      const pair = [queries[at], queries[Math.min(at + 1, queries.length - 1)]];
      const real = Math.min(2, queries.length - at);
      for (let from = 0; from < many; from += 4) {
        if (causal && keys[from] > pair[1]) break;
        // Written out: destructuring lists would cost more here than the products.
        let a = pair[0] * D;
        let b = pair[1] * D;
        let c = keys[from] * D;
        let d = keys[Math.min(from + 1, many - 1)] * D;
        let e = keys[Math.min(from + 2, many - 1)] * D;
        let f = keys[Math.min(from + 3, many - 1)] * D;
        let s0 = 0;
        let s1 = 0;
        let s2 = 0;
        let s3 = 0;
        let t0 = 0;
        let t1 = 0;
        let t2 = 0;
        let t3 = 0;
        for (const end = a + D; a < end; a++, b++, c++, d++, e++, f++) {
          const x = q[a];
          const y = q[b];
          const k0 = k[c];
          const k1 = k[d];
          const k2 = k[e];
          const k3 = k[f];
          s0 += x * k0;
          s1 += x * k1;
          s2 += x * k2;
          s3 += x * k3;
          t0 += y * k0;
          t1 += y * k1;
          t2 += y * k2;
          t3 += y * k3;
        }
        scores[0] = s0;
        scores[1] = s1;
        scores[2] = s2;
        scores[3] = s3;
        scores[4] = t0;
        scores[5] = t1;
        scores[6] = t2;
        scores[7] = t3;
        const count = Math.min(4, many - from);
        for (let which = 0; which < real; which++) {
          const query = pair[which];
          const row = this.rowOf[query];
          const unit = attention.queries[rows[row]];
          const base = lse[query];
          const share = 1 / (unit.last - unit.first);
          if (base === -Infinity) continue;
          const line = (row - top) * width;
          for (let next = 0; next < count; next++) {
            const key = keys[from + next];
            if (causal ? key > query : partial && !head.allowed(query, key)) continue;
            const cell = line + columns[from + next];
            if (open) open[cell] = 1;
            const power = scale * scores[which * 4 + next] - base;
            if (power > FAINT) into[cell] += share * Math.exp(power);
          }
        }
      }
    }
  }
}
