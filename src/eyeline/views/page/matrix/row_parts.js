// What the units that aren't shown take of each row: the grey column, and what is left for the shown ones.

import { isDistribution, isReweighted, work } from "../weights/attention_map.js";
import { Cells } from "./cells.js";

const SURE = 0.05; // below this, 1 − (what isn't shown) has too few digits, and the row is summed instead
const EXACT = 5e7; // products of the whole table up to which all rows are summed
const SLICE = 2e6; // products between two checks of the clock

/** The parts of rows that go to the shown and to the other key units. */
export class RowParts {
  /**
   * @param {AttentionMap} attention
   * @param {number[]} rows the shown query units
   * @param {number[]} columns the shown key units
   */
  constructor(attention, rows, columns) {
    const kept = new Set(columns);
    const others = attention.keys.filter((unit) => !kept.has(unit.index)).map((unit) => unit.index);
    this.attention = attention;
    this.rows = rows;
    this.columns = columns;
    /** @type {Cells | null} The columns of the units that aren't shown. */
    this.others = others.length ? new Cells(attention, rows, others) : null;
    this.aside = new Float64Array(rows.length).fill(this.others ? NaN : 0);
    this.totals = new Float64Array(rows.length).fill(NaN);
    this.summed = work(attention) <= EXACT || !isDistribution(attention) || isReweighted(attention);
  }

  /**
   * Compute what isn't shown for rows [top, bottom), until a time; returns whether it is done.
   * @param {number} top
   * @param {number} bottom
   * @param {number} until
   */
  work(top, bottom, until = Infinity) {
    const { others, aside } = this;
    if (!others) return true;
    const width = others.columns.length;
    const step = Math.max(Math.floor(SLICE / (width * others.effort)), 1);
    for (let first = top; first < bottom; first += step) {
      const last = Math.min(first + step, bottom);
      if (!aside.subarray(first, last).some(Number.isNaN)) continue;
      if (performance.now() >= until) return false;
      const block = others.block(first, last, 0, width);
      for (let row = first; row < last; row++) {
        aside[row] = 0;
        for (const weight of block.subarray((row - first) * width, (row - first + 1) * width)) {
          if (weight > 0) aside[row] += weight; // a hidden pair is NaN
        }
      }
    }
    return true;
  }

  /** What the shown units take of a row. @param {number} row */
  shown(row) {
    if (Number.isNaN(this.totals[row])) this.totals[row] = this._total(row);
    return this.totals[row];
  }

  /** @param {number} row */
  _total(row) {
    if (!this.summed) {
      this.work(row, row + 1);
      const left = this._looking(row) - this.aside[row];
      if (left >= SURE) return left;
    }
    const given = this.attention.row(this.rows[row]);
    return this.columns.reduce((sum, key) => sum + given[key], 0);
  }

  /** The whole of a row: 1, unless tokens of it may look nowhere. @param {number} row */
  _looking(row) {
    const { heads, queries } = this.attention;
    const { first, last } = queries[this.rows[row]];
    let count = 0;
    for (const head of heads) for (let token = first; token < last; token++) if (head.base(token) > -Infinity) count += 1;
    return count / heads.length / (last - first);
  }
}
