// Heavy columns, or sinks: those that take so much of every row that the others are pale beside them.

const WORK = 1.5e7; // the largest number of products for finding them
const SHARE = 0.12; // the smallest mean number of a heavy column
const UNIFORM = 3; // the smallest ratio of a heavy column to a uniform one
const TIMES = 3; // the smallest ratio of the heavy columns to the next one
const MOST = 4; // of them
const TOGETHER = 4; // rows that are read at each of some places: the kernel computes several at once
const PLACES = 12;

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

/**
 * Some rows of a table, over its whole height, each as [first, last).
 * @type {(rows: number, effort: number) => TokenRange[]}
 */
const sampled = (rows, effort) => {
  const count = Math.min(Math.max(Math.floor(WORK / effort / TOGETHER), 2), PLACES, Math.ceil(rows / TOGETHER));
  return Array.from({ length: count }, (_, one) => {
    const first = Math.min(Math.floor(((one + 0.5) * rows) / count), rows - 1);
    return [first, Math.min(first + TOGETHER, rows)];
  });
};

/**
 * The heavy columns of a table of cells; none where they can't be had: the error shows with the tiles.
 * @type {(cells: Cells | null, dots: DotSource | null) => Promise<Sink[]>}
 */
export const heavyColumns = async (cells, dots) => {
  if (!cells || !dots || cells.columns.length < 3 || !cells.rows.length) return [];
  const { rows, columns, effort } = cells;
  const means = await dots.received(sampled(rows.length, effort * columns.length)).catch(() => null);
  return means ? heavy(means, means.reduce((sum, mean) => sum + mean, 0) / columns.length) : [];
};
