// What a row of a matrix says as a whole: the keys with the largest numbers, and the row's entropy.

import { isDistribution, isReweighted } from "../weights/attention_map.js";

const LARGEST = 5; // keys that are named

/** @typedef {{ row: number, largest: { column: number, number: number }[], entropy: number | null }} RowReading */

/**
 * The largest numbers of a row, the first of equal ones first; hidden pairs and zeros don't count.
 * @type {(numbers: ArrayLike<number>, count?: number) => { column: number, number: number }[]}
 */
export const largestOf = (numbers, count = LARGEST) => {
  /** @type {{ column: number, number: number }[]} */
  const found = [];
  let least = 0;
  for (let column = 0; column < numbers.length; column++) {
    const number = numbers[column];
    if (!(number > least)) continue;
    let place = found.length;
    while (place > 0 && found[place - 1].number < number) place -= 1;
    found.splice(place, 0, { column, number });
    if (found.length > count) found.pop();
    if (found.length === count) least = found[count - 1].number;
  }
  return found;
};

/** −Σ w·ln w, in nats. @type {(weights: ArrayLike<number>) => number} */
export const entropyOf = (weights) => {
  let sum = 0;
  for (let at = 0; at < weights.length; at++) if (weights[at] > 0) sum -= weights[at] * Math.log(weights[at]);
  return sum;
};

/** Reads rows of a table of cells, and remembers the last. */
export class RowReader {
  constructor() {
    /** @type {Cells | null} */
    this.cells = null;
    /** @type {RowReading | null} */
    this.last = null;
  }

  /**
   * What a row says; its entropy is of all that its numbers are parts of, null where that isn't a whole.
   * @param {Cells} cells
   * @param {number} row
   */
  read(cells, row) {
    if (this.known(cells, row)) return /** @type {RowReading} */ (this.last);
    const { attention } = cells;
    const given = attention.row(cells.rows[row]);
    const numbers = cells.total ? cells.row(row) : cells.columns.map((key) => given[key]);
    const whole = isDistribution(attention) && !isReweighted(attention);
    this.cells = cells;
    return (this.last = {
      row, largest: largestOf(numbers), entropy: whole ? entropyOf(cells.total ? numbers : given) : null,
    });
  }

  /**
   * Whether a row was just read.
   * @param {Cells} cells
   * @param {number} row
   */
  known(cells, row) {
    return this.cells === cells && this.last?.row === row;
  }
}
