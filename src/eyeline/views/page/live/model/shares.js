// What one of two workers computes of each layer: some of the heads, and some of the feed-forward layer's inner units.

/**
 * @typedef {object} Share
 * @property {[first: number, last: number]} heads
 * @property {[first: number, last: number]} units
 * @property {boolean} residual whether it adds the biases and the residual, which are to be added once
 */

/** All of it. @type {(config: LiveConfig) => Share} */
export const wholeOf = ({ heads, innerWidth }) => ({ heads: [0, heads], units: [0, innerWidth], residual: true });

/** The two halves. @type {(config: LiveConfig) => [Share, Share]} */
export const halvesOf = ({ heads, innerWidth }) => {
  const [head, unit] = [heads, innerWidth].map((count) => Math.ceil(count / 2));
  return [
    { heads: [0, head], units: [0, unit], residual: true },
    { heads: [head, heads], units: [unit, innerWidth], residual: false },
  ];
};

/**
 * What is changed in a share of a layer's H heads, of N queries and M keys.
 * @type {(edits: LayerEdits | null, share: Share, H: number, N: number, M: number) => LayerEdits | null}
 */
export const editsOf = (edits, { heads: [first, last] }, H, N, M) => {
  if (!edits || last - first === H) return edits;
  const { masks, flat, gates, factors } = edits;
  return {
    masks: masks?.slice(first, last),
    flat: flat?.slice(first, last),
    gates: gates?.slice(first, last),
    factors: factors?.map(({ by, columns }) => ({
      by: by.length === N ? by : by.subarray(first * N, last * N),
      columns: columns.length === M ? columns : columns.subarray(first * M, last * M),
    })),
  };
};

/**
 * A layer whose heads are those of two shares.
 * @type {(one: LiveLayer, other: LiveLayer) => LiveLayer}
 */
export const joinedLayers = (one, other) => {
  const seen = joinedArrays(one.seen, other.seen);
  const { q, k, v } = joinedArrays(one, other);
  seen.pairs += other.seen.pairs;
  return { ...one, q, k, v, lse: seen.lse, output: seen.output, seen };
};

/**
 * Two objects' arrays, each of the one before the other's; what isn't an array is the first one's.
 * @template {object} T
 * @param {T} one
 * @param {T} other
 * @returns {T}
 */
const joinedArrays = (one, other) => {
  const rest = new Map(Object.entries(other));
  const both = Object.entries(one).map(([name, first]) => {
    if (!(first instanceof Float32Array || first instanceof Int32Array)) return [name, first];
    const last = rest.get(name);
    const Kind = /** @type {new (length: number) => any} */ (first.constructor);
    const array = new Kind(first.length + last.length);
    array.set(first);
    array.set(last, first.length);
    return [name, array];
  });
  return Object.fromEntries(both);
};

/** The buffers of a layer's arrays, each once. @type {(layer: LiveLayer) => Transferable[]} */
export const buffersOf = ({ q, k, v, seen }) => {
  const arrays = [q, k, v, ...Object.values(seen).filter((value) => ArrayBuffer.isView(value))];
  return [...new Set(arrays.map(({ buffer }) => /** @type {ArrayBuffer} */ (buffer)))];
};
