// Heavy columns, or sinks: those that take so much of every row that the others are pale beside them.

const WORK = 1.5e7; // the largest number of products for finding them
const SHARE = 0.12; // the smallest mean number of a heavy column
const UNIFORM = 3; // the smallest ratio of a heavy column to a uniform one
const TIMES = 3; // the smallest ratio of the heavy columns to the next one
const MOST = 4; // of them

/** A column, and its mean over some rows. @typedef {{ column: number, share: number }} Sink */

/**
 * The heavy columns among columns of given means, heaviest first: the fewest beyond which the next one is far lighter.
 * @type {(means: ArrayLike<number>, uniform: number) => Sink[]}
 */
export const heavy = (means, uniform) => {
  const order = Array.from(means, (share, column) => ({ column, share })).sort((one, other) => other.share - one.share);
  for (let count = 1; count <= MOST && count < order.length - 1; count++) {
    const { share } = order[count - 1];
    if (share < Math.max(SHARE, UNIFORM * uniform)) return [];
    if (share >= TIMES * order[count].share) return order.slice(0, count);
  }
  return [];
};

/** The heavy columns of a table of cells. @type {(cells: Cells) => Sink[]} */
export const heavyColumns = (cells) => {
  const [rows, columns] = [cells.rows.length, cells.columns.length];
  if (columns < 3) return [];
  const count = Math.min(Math.max(Math.floor(WORK / (cells.effort * columns)), 2), 48, rows);
  const taken = new Float64Array(columns);
  let [asked, whole] = [0, 0];
  for (let one = 0; one < count; one++) {
    const given = cells.row(Math.floor(((one + 0.5) * rows) / count));
    // a query with fewer than three visible keys says little
    if (given.filter((weight) => weight > 0).length < 3) continue;
    asked += 1;
    given.forEach((weight, column) => {
      taken[column] += weight;
      whole += weight;
    });
  }
  if (!asked) return [];
  return heavy(taken.map((total) => total / asked), whole / asked / columns);
};
