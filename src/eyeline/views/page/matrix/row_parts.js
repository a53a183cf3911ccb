// What the units that aren't shown take of each row: the grey column, and what is left for the shown ones.

const MANY = 4096; // rows that are asked for at once

/** The parts of rows that go to the shown and to the other key units. */
export class RowParts {
  /**
   * @param {AttentionMap} attention
   * @param {number[]} rows the shown query units
   * @param {number[]} columns the shown key units
   */
  constructor(attention, rows, columns) {
    const kept = new Set(columns);
    this.attention = attention;
    this.rows = rows;
    this.columns = columns;
    /** The key units that aren't shown. */
    this.others = attention.keys.filter((unit) => !kept.has(unit.index)).map((unit) => unit.index);
    /** What these take of each row; NaN until it is known. */
    this.aside = new Float64Array(rows.length).fill(this.others.length ? NaN : 0);
    this.asking = false;
    this.failed = false; // then it is asked for no more
  }

  /**
   * Ask for what isn't known yet of the rows [top, bottom); returns whether all is known. `arrived` is called once more is.
   * @param {number} top
   * @param {number} bottom
   * @param {(top: number, bottom: number) => Promise<Float32Array>} ask
   * @param {() => void} arrived
   */
  request(top, bottom, ask, arrived) {
    const missing = this.aside.subarray(top, bottom).findIndex(Number.isNaN);
    if (missing < 0 || this.failed) return true;
    if (this.asking) return false;
    const first = top + missing;
    this.asking = true;
    ask(first, Math.min(first + MANY, bottom))
      .then(
        (numbers) => this.aside.set(numbers, first),
        () => {
          this.failed = true;
        },
      )
      .finally(() => {
        this.asking = false;
        arrived();
      });
    return false;
  }

  /** What the units that aren't shown take of a row. @param {number} row */
  asideOf(row) {
    if (Number.isNaN(this.aside[row])) {
      const given = this.attention.row(this.rows[row]);
      this.aside[row] = this.others.reduce((sum, key) => sum + given[key], 0);
    }
    return this.aside[row];
  }

  /** What the shown units take of a row. @param {number} row */
  shown(row) {
    const given = this.attention.row(this.rows[row]);
    return this.columns.reduce((sum, key) => sum + given[key], 0);
  }
}
