// The numbers of a heatmap: of every word on every word; in long texts, around the chosen word.

import { quantities } from "../weights/quantity.js";

const AROUND = 60; // the number of units drawn on either side of the chosen one

/** The shown indices around a unit. @type {(shown: number[], unit: number) => number[]} */
const around = (shown, unit) => {
  const count = 2 * AROUND + 1;
  if (shown.length <= count) return shown;
  const at = Math.max(shown.findIndex((index) => index >= unit), 0);
  const first = Math.min(Math.max(at - AROUND, 0), shown.length - count);
  return shown.slice(first, first + count);
};

/**
 * The weights of a side's query units on its shown key units, row by row, what is drawn of them, and the hidden pairs;
 * around `unit`, if the text is long.
 * @type {(page: Page, side: ComparedSide, unit: number) => Patch}
 */
const patchOf = (page, { attention, shown }, unit) => {
  const { special } = page.state;
  const [rows, columns] = [around(page.shown(attention.queries), unit), around(shown, unit)];
  const count = rows.length * columns.length;
  const [weights, numbers, hidden] = [new Float64Array(count), new Float64Array(count), new Uint8Array(count)];
  const aside = new Float64Array(rows.length);
  rows.forEach((i, r) => {
    const row = attention.row(i);
    const drawn = quantities(row, shown, special);
    aside[r] = drawn.aside;
    columns.forEach((j, c) => {
      const at = r * columns.length + c;
      weights[at] = row[j];
      numbers[at] = drawn.numbers[j];
      hidden[at] = weights[at] === 0 && !attention.allowed(i, j) ? 1 : 0;
    });
  });
  const grey = special === "grey" && shown.length < attention.M;
  return { rows, columns, queries: attention.queries, keys: attention.keys, weights, numbers, aside, grey, hidden };
};

/**
 * The patches of both sides: of the same words, if the lines are the same.
 * @type {(page: Page, found: Comparison) => [Patch, Patch]}
 */
export const patchesOf = (page, { sides: [first, second], same }) => [
  patchOf(page, first, first.unit.index), patchOf(page, second, (same ? first : second).unit.index),
];

/** The second patch minus the first. @type {(patches: [Patch, Patch]) => Patch} */
export const differenceOf = ([first, second]) => ({
  ...first,
  weights: second.weights.map((weight, at) => weight - first.weights[at]),
  numbers: second.numbers.map((number, at) => number - first.numbers[at]),
  aside: second.aside.map((number, at) => number - first.aside[at]),
  hidden: first.hidden.map((hidden, at) => hidden & second.hidden[at]),
});

/** The number of columns, with that of what isn't drawn. @type {(patch: Patch) => number} */
export const widthOf = ({ columns, grey }) => columns.length + (grey ? 1 : 0);

/**
 * The number of a cell, null where it is hidden; the column after the last is that of what isn't drawn.
 * @type {(patch: Patch, cell: [row: number, column: number]) => number | null}
 */
export const numberAt = ({ columns, numbers, hidden, aside }, [r, c]) => {
  if (c === columns.length) return aside[r];
  const at = r * columns.length + c;
  return hidden[at] ? null : numbers[at];
};

