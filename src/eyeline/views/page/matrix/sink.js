// The attention sink: the column that takes most of the weight, if there is one, beside which the others are pale.

const WORK = 1.5e7; // products that finding it may take
const SHARE = 1 / 3; // of what queries give, on average
const TIMES = 3; // as much as the next

/** A column, and its share on average over some queries. @typedef {{ column: number, share: number }} Sink */

/** The column that takes most, if one does. @type {(cells: Cells) => Sink | null} */
export const sinkColumn = (cells) => {
  const [rows, columns] = [cells.rows.length, cells.columns.length];
  if (columns < 3) return null;
  const count = Math.min(Math.max(Math.floor(WORK / (cells.effort * columns)), 2), 48, rows);
  const taken = new Float64Array(columns);
  let asked = 0;
  for (let one = 0; one < count; one++) {
    const given = cells.row(Math.floor(((one + 0.5) * rows) / count));
    const total = given.reduce((sum, weight) => sum + weight, 0);
    if (!(total > 0) || given.filter((weight) => weight > 0).length < 3) continue; // there is little to choose from
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
