// The weights of one layer's heads, edited where its run was: rectangles of them, and sums over the rows.

import { GROUPS } from "./groups.js";

/** The most rows and columns of a head's thumbnail. */
export const PICTURE = 32;

/** The mask of one head of a layer. @type {(layer: LiveLayer, head: number) => HeadMask} */
export const maskOf = ({ mask }, head) => (Array.isArray(mask) ? mask[head] : mask);

/**
 * What one head's weights are multiplied by after the softmax.
 * @type {(layer: LiveLayer, head: number, N: number, M: number) => WeightFactor[]}
 */
export const factorsOf = ({ edits }, head, N, M) =>
  (edits?.factors ?? []).map(({ by, columns }) => ({
    by: by.length === N ? by : by.subarray(head * N, (head + 1) * N),
    columns: columns.length === M ? columns : columns.subarray(head * M, (head + 1) * M),
  }));

/** By what the weight of query i on key j is multiplied. @type {(factors: WeightFactor[], i: number, j: number) => number} */
export const factorAt = (factors, i, j) =>
  factors.reduce((product, { by, columns }) => (columns[j] ? product * by[i] : product), 1);

/**
 * A layer's numbers of heads, tokens and columns.
 * @type {(layer: LiveLayer, N: number, M: number) => { H: number, G: number, N: number, M: number, D: number, E: number }}
 */
export const sizesOf = ({ q, k, v, lse }, N, M) => {
  const H = lse.length / N;
  const D = q.length / (H * N);
  const G = k.length / (M * D);
  return { H, G, N, M, D, E: v.length / (G * M) };
};

/** @typedef {AttendCall & { q: Float32Array, k: Float32Array, lse: Float32Array, factors: WeightFactor[], mask: HeadMask }} HeadCall */

/** A call of the kernel for one head of a layer. @type {(layer: LiveLayer, head: number, N: number, M: number) => HeadCall} */
export const headCall = (layer, head, N, M) => {
  const { H, G, D } = sizesOf(layer, N, M);
  const group = Math.floor(head / (H / G));
  return {
    H: 1, G: 1, N, M, D, E: 0, scale: layer.scale, mask: maskOf(layer, head), factors: factorsOf(layer, head, N, M),
    q: layer.q.subarray(head * N * D, (head + 1) * N * D),
    k: layer.k.subarray(group * M * D, (group + 1) * M * D),
    lse: layer.lse.subarray(head * N, (head + 1) * N),
  };
};

/** Whether each cell of the thumbnails is one weight, so that the page makes them itself. @type {(N: number, M: number) => boolean} */
export const drawnByPage = (N, M) => Math.max(N, M) <= PICTURE;

/**
 * What is read of a layer's weights for a trace of texts with such groups of keys.
 * @type {(groups: Int32Array, N: number, M: number, crossing: boolean) => Readouts}
 */
export const readoutsOf = (groups, N, M, crossing) => ({
  entropy: true,
  ...(crossing ? {} : { distance: true }),
  groups: { of: groups, count: GROUPS },
  ...(drawnByPage(N, M) ? {} : { grid: { rows: Math.min(N, PICTURE), columns: Math.min(M, PICTURE), mean: true } }),
});

/**
 * The sums over the rows of a layer's weights: those that were read while it ran, else those of another pass.
 * @type {(kernel: Kernel, layer: LiveLayer, N: number, M: number, ask: Readouts) => RowSums}
 */
export const rowSums = (kernel, layer, N, M, ask) => {
  const { q, k, scale, mask, seen, edits } = layer;
  const sizes = { ...sizesOf(layer, N, M), E: 0 };
  const found = seen.entropy ? seen : kernel.attend({ ...sizes, q, k, scale, mask, factors: edits?.factors, ask });
  const { entropy, groups, distance = null, gridMean = null } = found;
  if (!entropy || !groups) throw new Error("a layer must have its entropy and groups, got neither; see askOf");
  return { entropy, groups, distance, cells: gridMean };
};
