// The summary numbers and the thumbnail of every head; as Python's traces/measures.py.

import { ASIDE, GROUPS } from "./groups.js";

/**
 * The mean over the queries that may look at any key, for each head, in float32's precision. Rows of negative weights,
 * which an edit made, have no entropy.
 * @type {(lse: Float32Array, N: number, value: (row: number) => number) => number[]}
 */
const means = (lse, N, value) =>
  Array.from({ length: lse.length / N }, (_, head) => {
    let [total, count] = [0, 0];
    for (let row = head * N; row < (head + 1) * N; row++) {
      const number = value(row);
      if (lse[row] === -Infinity || Number.isNaN(number)) continue;
      total += number;
      count++;
    }
    return Math.fround(total / Math.max(count, 1));
  });

/** A number with five digits. @type {(value: number) => number} */
export const short = (value) => Number(value.toPrecision(5));

/**
 * The means of a trace's heads, by layer, with five digits.
 * @type {(layers: LiveLayer[], sums: RowSums[], N: number) => Pick<TraceEntry, "entropy" | "distance" | "aside">}
 */
export const measured = (layers, sums, N) => {
  /** @type {(value: (sums: RowSums, row: number) => number) => number[][]} */
  const table = (value) => layers.map(({ lse }, at) => means(lse, N, (row) => value(sums[at], row)).map(short));
  /** @type {(sums: RowSums, row: number) => number} */
  const aside = ({ groups }, row) => {
    let sum = 0;
    for (let group = ASIDE; group < GROUPS; group++) sum += groups[row * GROUPS + group];
    return sum;
  };
  return {
    entropy: table(({ entropy }, row) => entropy[row]),
    distance: sums.every(({ distance }) => distance) ? table(({ distance }, row) => distance?.[row] ?? NaN) : null,
    aside: table(aside),
  };
};

/**
 * The thumbnails of a trace's heads, of the mean weights of their cells, (heads, cells) for each layer: a cell's mean
 * weight is most · (byte / 255)².
 * @type {(layers: Float32Array[], heads: number) => { bytes: Uint8Array<ArrayBuffer>, most: Float32Array<ArrayBuffer> }}
 */
export const pictured = (layers, heads) => {
  const size = layers[0].length / heads;
  const most = new Float32Array(layers.length * heads);
  const bytes = new Uint8Array(most.length * size);
  layers.forEach((cells, layer) => {
    for (let head = 0; head < heads; head++) {
      const own = cells.subarray(head * size, (head + 1) * size);
      const place = layer * heads + head;
      most[place] = own.reduce((top, cell) => Math.max(top, cell), 0);
      own.forEach((cell, at) => {
        bytes[place * size + at] = Math.round(255 * Math.sqrt(Math.max(cell, 0) / (most[place] || 1)));
      });
    }
  });
  return { bytes, most };
};
