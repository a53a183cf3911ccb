// Tiles that the host computes, where this page would take long.

import { causalPairs } from "./open_pairs.js";

/** Whether the host's means can be the page's: of single tokens, under masks that leave all pairs or the earlier ones. @type {(attention: AttentionMap) => boolean} */
export const hasHostTiles = ({ plain, reduce, heads }) =>
  plain && (reduce === "mean" || heads.length === 1) &&
  heads.every(({ mask: { kind }, factors }) => !factors && (kind === "all" || kind === "causal"));

/**
 * A function that gets the numbers of a tile from the host, for `Tiles`; those that aren't of whole squares of tokens
 * side by side come from `beside`.
 * @type {(page: Page, place: Place, cells: Cells, beside: TileSource) => TileSource}
 */
export const hostTiles = (page, [number, layer, head], { attention, rows, columns }, beside) => {
  const trace = page.traces[number];
  const heads = typeof head === "number" ? [head] : Array.from({ length: trace.heads }, (_, one) => one);
  const causal = attention.heads[0].mask.kind === "causal";
  return async (tile, signal) => {
    const side = 2 ** tile.level;
    const [high, wide] = [tile.bottom - tile.top, tile.right - tile.left];
    const [a, b] = [rows[tile.top], rows[tile.bottom - 1] + 1];
    const [c, d] = [columns[tile.left], columns[tile.right - 1] + 1];
    if (b - a !== high || d - c !== wide || high % side || wide % side) return beside(tile, signal);
    const means = new Float32Array(tile.rows * tile.columns);
    for (const one of heads) {
      const request = { trace: trace.index, layer, head: one, rows: tile.rows, columns: tile.columns };
      const picture = await page.host.picture({ ...request, queries: [a, b], keys: [c, d] });
      for (let at = 0; at < means.length; at++) means[at] += picture[at] / heads.length;
    }
    if (!causal) return means;
    // The host's means count hidden pairs as 0.
    return means.map((mean, at) => {
      const [top, left] = [a + Math.floor(at / tile.columns) * side, c + (at % tile.columns) * side];
      const open = causalPairs(top, top + side, left, left + side);
      return open ? (mean * side * side) / open : NaN;
    });
  };
};
