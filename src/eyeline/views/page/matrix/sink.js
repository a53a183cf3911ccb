// The attention sink: the column, if any, that takes so much of the weight that the others are pale beside it.

const WORK = 1.5e7; // the largest number of products for finding it
const SHARE = 1 / 3; // the smallest mean share of a sink
const TIMES = 3; // the smallest ratio of a sink to the next column

/** A column, and its mean share over some queries. @typedef {{ column: number, share: number }} Sink */

/** The sink, if there is one. @type {(cells: Cells) => Sink | null} */
export const sinkColumn = (cells) => {
  const [rows, columns] = [cells.rows.length, cells.columns.length];
  if (columns < 3) return null;
  const count = Math.min(Math.max(Math.floor(WORK / (cells.effort * columns)), 2), 48, rows);
  const taken = new Float64Array(columns);
  let asked = 0;
  for (let one = 0; one < count; one++) {
    const given = cells.row(Math.floor(((one + 0.5) * rows) / count));
    const total = given.reduce((sum, weight) => sum + weight, 0);
    // a query with fewer than three visible keys says little
    if (!(total > 0) || given.filter((weight) => weight > 0).length < 3) continue;
    asked += 1;
    given.forEach((weight, column) => (taken[column] += weight / total));
  }
  let [most, next] = [0, -1];
  for (let column = 1; column < columns; column++) {
    if (taken[column] > taken[most]) [most, next] = [column, most];
    else if (next < 0 || taken[column] > taken[next]) next = column;
  }
  const share = asked ? taken[most] / asked : 0;
  return share >= SHARE && taken[most] >= TIMES * taken[next] ? { column: most, share } : null;
};
