// The preview of a large matrix until its weights are computed: the means that the file has of its head, or the
// overview's thumbnail.

import { contextOf } from "../drawing/dom.js";

const SAMPLE = 8192; // means sampled from a picture, for the scale

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
 * Set hidden cells to NaN in a picture of token rows [a, b) × token columns [c, d).
 * @type {(weights: Float32Array, rows: number, columns: number, heads: Head[], of: number[]) => void}
 */
const maskHidden = (weights, rows, columns, heads, [a, b, c, d]) => {
  /** @type {(at: number) => number} */
  const row = (at) => Math.floor(a + ((b - a) * at) / rows);
  /** @type {(at: number) => number} */
  const column = (at) => Math.floor(c + ((d - c) * at) / columns);
  for (let at = 0; at < weights.length; at++) {
    const [y, x] = [Math.floor(at / columns), at % columns];
    const [bottom, right] = [Math.max(row(y + 1), row(y) + 1), Math.max(column(x + 1), column(x) + 1)];
    if (!heads.some((head) => open(head, row(y), bottom, column(x), right))) weights[at] = NaN;
  }
};

/**
 * A picture of heads' weights between tokens: mean weights, NaN where all are hidden; a row shows `high` queries, a
 * column `wide` keys, not always whole ones.
 * @typedef {{ weights: Float32Array, rows: number, columns: number, high: number, wide: number }} TokenPicture
 */

/** The overview's thumbnail of heads of a layer. @type {(pictures: Pictures, layer: number, heads: number[], cells: Cells) => TokenPicture} */
export const thumbnailOf = (pictures, layer, heads, { attention }) => {
  const [, count, rows, columns] = pictures.shape;
  const weights = new Float32Array(rows * columns);
  for (const head of heads) {
    const [place, most] = [(layer * count + head) * rows * columns, pictures.most[layer * count + head]];
    for (let at = 0; at < weights.length; at++) {
      const weight = most * (pictures.bytes[place + at] / 255) ** 2;
      if (attention.reduce === "max") weights[at] = Math.max(weights[at], weight);
      else weights[at] += weight / heads.length;
    }
  }
  const [{ N, M }] = attention.heads;
  maskHidden(weights, rows, columns, attention.heads, [0, N, 0, M]);
  return { weights, rows, columns, high: N / rows, wide: M / columns };
};

/** The stored means. @type {(pyramid: Pyramid) => TokenPicture} */
export const meansOf = (pyramid) => {
  const { rows, columns, side, shown: weights } = pyramid;
  return { weights, rows, columns, high: side, wide: side };
};

/**
 * A layer for `Plot`, with the statistics for a scale, and `drawn` for its canvas. Clipped columns don't count.
 * @param {TokenPicture} picture
 * @param {Cells} cells
 * @param {number[]} clipped
 */
export const preview = ({ weights, rows: R, columns: C, high, wide }, { attention, rows, columns }, clipped) => {
  const [from, to] = [attention.keys[columns[0]].first, attention.keys[columns[columns.length - 1]].last];
  const [first, last] = [attention.queries[rows[0]].first, attention.queries[rows[rows.length - 1]].last];
  const tokens = (to - from) / columns.length; // per key unit, whose weight is their sum
  const numbers = tokens === 1 ? weights : weights.map((weight) => tokens * weight);
  const skipped = new Set(clipped.map((place) => Math.floor(attention.keys[columns[place]].first / wide)));
  const tops = new Float64Array(R);
  /** @type {number[]} */
  const sample = [];
  const step = Math.max(Math.floor(numbers.length / SAMPLE), 1) | 1;
  let hidden = false;
  for (let row = 0, at = 0; row < R; row++) {
    for (let column = 0; column < C; column++, at++) {
      const number = numbers[at];
      if (Number.isNaN(number)) hidden = true;
      else if (!skipped.has(column)) {
        if (number > tops[row]) tops[row] = number;
        if (at % step === 0) sample.push(number);
      }
    }
  }
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [C, R];
  const context = contextOf(canvas);
  /** @type {ColourMap | null} */
  let drawn = null;
  /** @type {Layer["part"]} */
  const part = [from / wide, first / high, (to - from) / wide, (last - first) / high];
  return {
    tops, sample, hidden, part, smooth: true,
    top: 0, left: 0, bottom: rows.length, right: columns.length,
    /** @param {ColourMap} colourMap */
    drawn(colourMap) {
      if (colourMap === drawn) return canvas;
      const image = context.createImageData(C, R);
      colourMap.paint(numbers, new Uint32Array(image.data.buffer));
      context.putImageData(image, 0, 0);
      drawn = colourMap;
      return canvas;
    },
  };
};
