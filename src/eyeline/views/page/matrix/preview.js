// The preview of a large matrix until its weights are computed: the overview's thumbnail of its head.

import { contextOf } from "../drawing/dom.js";

/**
 * Whether any query of [top, bottom) may look at any key of [left, right), tested at up to 8 × 8 pairs.
 * @type {(head: Head, top: number, bottom: number, left: number, right: number) => boolean}
 */
const open = (head, top, bottom, left, right) => {
  if (head.mask.kind === "all") return true;
  if (head.mask.kind === "causal") return left < bottom;
  /** @type {(first: number, last: number) => number[]} */
  const places = (first, last) => {
    const count = Math.min(last - first, 8);
    return Array.from({ length: count }, (_, at) => first + Math.floor(((last - first) * (at + 0.5)) / count));
  };
  return places(top, bottom).some((i) => places(left, right).some((j) => head.allowed(i, j)));
};

/**
 * Set hidden cells to NaN in a picture of token rows [a, b) × token columns [c, d). Returns whether
 * there are any.
 * @type {(weights: Float32Array, rows: number, columns: number, heads: Head[], of: number[]) => boolean}
 */
export const maskHidden = (weights, rows, columns, heads, [a, b, c, d]) => {
  /** @type {(at: number) => number} */
  const row = (at) => Math.floor(a + ((b - a) * at) / rows);
  /** @type {(at: number) => number} */
  const column = (at) => Math.floor(c + ((d - c) * at) / columns);
  let hidden = false;
  for (let at = 0; at < weights.length; at++) {
    const [y, x] = [Math.floor(at / columns), at % columns];
    const [bottom, right] = [Math.max(row(y + 1), row(y) + 1), Math.max(column(x + 1), column(x) + 1)];
    if (heads.some((head) => open(head, row(y), bottom, column(x), right))) continue;
    weights[at] = NaN;
    hidden = true;
  }
  return hidden;
};

/**
 * A layer for `Plot`: the overview's thumbnail of the heads of one layer, with the statistics for a scale, and `drawn`
 * for its canvas. `pictures` is the host's reply; clipped columns don't count.
 * @param {Pictures} pictures
 * @param {number} layer
 * @param {number[]} heads
 * @param {Cells} cells
 * @param {number[]} clipped
 */
export const preview = (pictures, layer, heads, { attention, rows, columns }, clipped) => {
  const [, count, R, C] = pictures.shape;
  const weights = new Float32Array(R * C);
  const [from, to] = [attention.keys[columns[0]].first, attention.keys[columns[columns.length - 1]].last];
  const tokens = (to - from) / columns.length; // per key unit, whose weight is their sum
  for (const head of heads) {
    const [place, most] = [(layer * count + head) * R * C, pictures.most[layer * count + head]];
    for (let at = 0; at < R * C; at++) {
      const weight = tokens * most * (pictures.bytes[place + at] / 255) ** 2;
      if (attention.reduce === "max") weights[at] = Math.max(weights[at], weight);
      else weights[at] += weight / heads.length;
    }
  }
  const [{ N, M }] = attention.heads;
  const hidden = maskHidden(weights, R, C, attention.heads, [0, N, 0, M]);
  const skipped = new Set(clipped.map((place) => Math.floor((attention.keys[columns[place]].first / M) * C)));
  const tops = new Float64Array(R);
  /** @type {number[]} */
  const sample = [];
  weights.forEach((weight, at) => {
    if (Number.isNaN(weight) || skipped.has(at % C)) return;
    const row = Math.floor(at / C);
    tops[row] = Math.max(tops[row], weight);
    sample.push(weight);
  });
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [C, R];
  const context = contextOf(canvas);
  /** @type {ColourMap | null} */
  let drawn = null;
  const [first, last] = [attention.queries[rows[0]].first, attention.queries[rows[rows.length - 1]].last];
  /** @type {Layer["part"]} */
  const part = [(from / M) * C, (first / N) * R, ((to - from) / M) * C, ((last - first) / N) * R];
  return {
    tops, sample, hidden, part, smooth: true,
    top: 0, left: 0, bottom: rows.length, right: columns.length,
    /** @param {ColourMap} colourMap */
    drawn(colourMap) {
      if (colourMap === drawn) return canvas;
      const image = context.createImageData(C, R);
      colourMap.paint(weights, new Uint32Array(image.data.buffer));
      context.putImageData(image, 0, 0);
      drawn = colourMap;
      return canvas;
    },
  };
};
