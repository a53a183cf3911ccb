// Tiles of weights that the host gave, where no kernel runs: WebAssembly is forbidden.

/** The numbers of a tile, from those of its cells. @type {(cells: Cells) => TileSource} */
export const givenTiles = (cells) => async ({ top, left, bottom, right, level, rows, columns }) => {
  const [sums, counts] = [new Float32Array(rows * columns), new Uint32Array(rows * columns)];
  for (let row = top; row < bottom; row++) {
    const numbers = cells.row(row);
    for (let column = left; column < right; column++) {
      if (!cells.allowed(row, column)) continue;
      const at = ((row - top) >> level) * columns + ((column - left) >> level);
      sums[at] += numbers[column];
      counts[at] += 1;
    }
  }
  return sums.map((sum, at) => sum / counts[at]); // 0 / 0 is NaN
};
