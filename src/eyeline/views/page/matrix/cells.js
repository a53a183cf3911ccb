// The cells of a matrix: weights between the shown units, or shares of what each row gives to the shown keys.

/** A table of cells: rows and columns are the shown units of an attention map, by their index among the shown units. */
export class Cells {
  /**
   * @param {AttentionMap} attention
   * @param {number[]} rows which query units are shown, in reading order
   * @param {number[]} columns which key units are shown, in reading order
   * @param {((row: number) => number) | null} total what a row's numbers are divided by; null for weights
   * @param {boolean} waiting whether the numbers of its heads aren't there yet
   */
  constructor(attention, rows, columns, total = null, waiting = false) {
    this.attention = attention;
    this.waiting = waiting;
    this.rows = rows;
    this.columns = columns;
    this.total = total;
    const whole = rows.length === attention.N && columns.length === attention.M;
    /** Whether each cell is one weight of the whole matrix. */
    this.whole = whole && attention.plain && total === null;
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
    const total = this.total ? this.total(row) : 1;
    return total > 0 ? this.attention.row(this.rows[row], key, key + 1)[0] / total : 0;
  }

  /** The numbers of a row on all columns. @param {number} row */
  row(row) {
    const given = this.attention.row(this.rows[row]);
    const total = this.total ? this.total(row) : 1;
    return this.columns.map((key) => (total > 0 ? given[key] / total : 0));
  }
}
