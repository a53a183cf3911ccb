// Tiles that the host computes, where this page would take too long.

import { maskHidden } from "./preview.js";

/**
 * A function that gets the numbers of a tile from the host, for `Tiles`.
 * @type {(page: Page, place: Place, cells: Cells) => (tile: Tile) => Promise<Float32Array>}
 */
export const hostTiles = (page, [number, layer, head], cells) => {
  const { attention, rows, columns } = cells;
  const trace = page.traces[number];
  const heads = typeof head === "number" ? [head] : Array.from({ length: trace.heads }, (_, one) => one);
  /** @type {(place: number) => Unit} */
  const queries = (place) => attention.queries[rows[place]];
  /** @type {(place: number) => Unit} */
  const keys = (place) => attention.keys[columns[place]];
  return async (tile) => {
    const [a, b] = [queries(tile.top).first, queries(tile.bottom - 1).last];
    const [c, d] = [keys(tile.left).first, keys(tile.right - 1).last];
    const [R, C] = [Math.min(tile.rows, b - a), Math.min(tile.columns, d - c)];
    const sum = new Float32Array(R * C);
    for (const one of heads) {
      const request = { trace: trace.index, layer, head: one, rows: R, columns: C };
      const picture = await page.host.picture({ ...request, queries: [a, b], keys: [c, d] });
      for (let cell = 0; cell < sum.length; cell++) {
        if (attention.reduce === "max") sum[cell] = Math.max(sum[cell], picture[cell]);
        else sum[cell] += picture[cell] / heads.length;
      }
    }
    maskHidden(sum, R, C, attention.heads, [a, b, c, d]);
    // The host's cells are means over tokens. A unit takes the cell of its middle token, times its number of tokens if
    // it is a key.
    const result = new Float32Array(tile.rows * tile.columns);
    /** @type {(unit: Unit) => number} */
    const middle = (unit) => (unit.first + unit.last) / 2;
    const side = 2 ** tile.level;
    for (let y = 0; y < tile.rows; y++) {
      const query = queries(Math.min(tile.top + (y + 0.5) * side, tile.bottom - 1) | 0);
      const from = Math.min(Math.floor(((middle(query) - a) / (b - a)) * R), R - 1) * C;
      for (let x = 0; x < tile.columns; x++) {
        const left = tile.left + x * side;
        const right = Math.min(left + side, tile.right);
        const tokens = keys(right - 1).last - keys(left).first;
        const place = Math.min(Math.floor(((middle(keys(((left + right) / 2) | 0)) - c) / (d - c)) * C), C - 1);
        result[y * tile.columns + x] = sum[from + place] * (tokens / (right - left));
      }
    }
    return result;
  };
};
