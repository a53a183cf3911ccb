// Edits as what a layer's attention takes, in the order of Python's edits/order.py, whatever the list's: pairs are
// hidden, heads made to look everywhere alike, weights multiplied, outputs multiplied.

import { chosenOf } from "./chosen.js";
import { refused } from "./refusing.js";

/** The factor of each query, 1 for those that aren't chosen. @type {(by: number | number[], chosen: boolean[]) => Float32Array} */
const rowsOf = (by, chosen) => {
  if (Array.isArray(by) && by.length < chosen.length) {
    throw refused("by", { last: chosen.length - 1, count: by.length });
  }
  return Float32Array.from(chosen, (is, at) => (is ? (Array.isArray(by) ? by[at] : by) : 1));
};

/** The runs of keys that aren't hidden, [first, last, …]. @type {(hidden: boolean[], end: number) => number[]} */
const runsOf = (hidden, end) => {
  const runs = [];
  for (let key = 0; key < end; key++) {
    if (hidden[key]) continue;
    if (!key || hidden[key - 1]) runs.push(key);
    if (key + 1 === end || hidden[key + 1]) runs.push(key + 1);
  }
  return runs;
};

/**
 * For each query the keys that a head may look at, as runs, with these pairs cut. Queries with the same cuts share them.
 * @type {(cuts: { rows: boolean[], columns: boolean[] }[], causal: boolean, N: number, M: number) => number[][]}
 */
const seenBy = (cuts, causal, N, M) => {
  /** @type {Map<string, number[]>} */
  const known = new Map();
  return Array.from({ length: N }, (_, i) => {
    const own = cuts.filter(({ rows }) => rows[i]);
    const end = causal ? i + 1 : M;
    const key = `${end} ${cuts.map(({ rows }) => Number(rows[i])).join("")}`;
    const runs = known.get(key) ?? runsOf(Array.from({ length: M }, (__, j) => own.some(({ columns }) => columns[j])), end);
    known.set(key, runs);
    return runs;
  });
};

/**
 * The masks of a layer's heads without the pairs that are cut, as intervals, as many for each query; null if nothing is
 * hidden.
 * @type {(cuts: { heads: boolean[], rows: boolean[], columns: boolean[] }[], causal: boolean, N: number, M: number) => HeadMask[] | null}
 */
const masksOf = (cuts, causal, N, M) => {
  if (!cuts.some(({ heads, rows, columns }) => [heads, rows, columns].every((chosen) => chosen.includes(true)))) return null;
  const keys = cuts[0].heads.map((_, head) => cuts.map(({ heads }) => Number(heads[head])).join(""));
  const seen = new Map(keys.map((key) => [key, seenBy(cuts.filter((_, at) => key[at] === "1"), causal, N, M)]));
  const count = Math.max(1, ...[...seen.values()].flat().map((runs) => runs.length / 2));
  const masks = new Map([...seen].map(([key, rows]) => {
    const values = new Int32Array(2 * N * count).fill(M);
    rows.forEach((runs, i) => values.set(runs, 2 * i * count));
    return [key, /** @type {HeadMask} */ ({ kind: "bounds", shape: [N, count, 2], values })];
  }));
  return keys.map((key) => /** @type {HeadMask} */ (masks.get(key)));
};

/**
 * What edits change in each layer; their tokens are positions.
 * @type {(edits: LiveEdit[], sites: EditSites) => EditsOfLayer}
 */
export const lowered = (edits, { heads: H, layers }) => (kind, layer, N, M) => {
  const own = edits.filter((edit) => (edit.kind ?? kind) === kind && chosenOf(edit.layers, layers[kind] ?? 0)[layer]);
  if (!own.length) return null;
  const several = own.map(({ name, by, heads, queries, keys }) => ({
    name, by, heads: chosenOf(heads, H), rows: chosenOf(queries, N), columns: chosenOf(keys, M),
  }));
  /** @type {(name: EditName) => typeof several} */
  const named = (name) => several.filter((edit) => edit.name === name);
  const [cuts, flat, weighed, gated] = /** @type {const} */ (["cut", "uniform", "reweight", "gate"]).map(named);
  /** @type {LayerEdits} */
  const found = {};
  const masks = masksOf(cuts, kind === "decoder", N, M);
  if (masks) found.masks = masks;
  if (flat.length) found.flat = Array.from({ length: H }, (_, head) => flat.some(({ heads }) => heads[head]));
  if (weighed.length) found.factors = weighed.map(({ by, heads, rows, columns }) => {
    const ofHead = rowsOf(by, rows);
    const all = new Float32Array(H * N).fill(1);
    heads.forEach((is, head) => is && all.set(ofHead, head * N));
    return { by: heads.every(Boolean) ? ofHead : all, columns: Uint8Array.from(columns, Number) };
  });
  if (gated.length) found.gates = Array.from({ length: H }, (_, head) =>
    gated.filter(({ heads }) => heads[head]).map(({ by, rows }) => rowsOf(by, rows))
      .reduce((product, rows) => product.map((one, at) => one * rows[at]), new Float32Array(N).fill(1)));
  return found;
};
