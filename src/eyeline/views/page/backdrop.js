// A small picture of a whole head, from the host: what a large matrix shows until its weights are there.

import { Tone, measured } from "./tones.js";

// Whether any query of [top, bottom) may look at any key of [left, right): asked at up to 8 × 8 places.
const open = (head, top, bottom, left, right) => {
  if (head.mask.kind === "all") return true;
  if (head.mask.kind === "causal") return left < bottom;
  const places = (first, last) => {
    const count = Math.min(last - first, 8);
    return Array.from({ length: count }, (_, at) => first + Math.floor(((last - first) * (at + 0.5)) / count));
  };
  return places(top, bottom).some((i) => places(left, right).some((j) => head.allowed(i, j)));
};

/** Leave clear what may not be looked at in a picture of token rows [a, b) × token columns [c, d): NaN. */
export const veiled = (weights, rows, columns, heads, [a, b, c, d]) => {
  const row = (at) => Math.floor(a + ((b - a) * at) / rows);
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

/** A layer for `Plot`: the overview's picture of the heads of one layer. `pictures` is what the source answered. */
export const backdrop = (pictures, layer, heads, { sight, rows, columns }, kind, dark) => {
  const [, count, R, C] = pictures.shape;
  const weights = new Float32Array(R * C);
  for (const head of heads) {
    const [from, most] = [(layer * count + head) * R * C, pictures.most[layer * count + head]];
    for (let at = 0; at < R * C; at++) {
      const weight = most * (pictures.bytes[from + at] / 255) ** 2;
      if (sight.reduce === "max") weights[at] = Math.max(weights[at], weight);
      else weights[at] += weight / heads.length;
    }
  }
  const [{ N, M }] = sight.heads;
  const hidden = veiled(weights, R, C, sight.heads, [0, N, 0, M]);
  const most = (row) => row.reduce((so, weight) => (weight > so ? weight : so), 0); // NaN is no more than any
  const tops = Array.from({ length: R }, (_, row) => most(weights.subarray(row * C, (row + 1) * C)));
  const tone = new Tone(kind, measured(tops, weights.filter((weight) => !Number.isNaN(weight))), dark);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [C, R];
  const context = canvas.getContext("2d");
  const image = context.createImageData(C, R);
  tone.paint(weights, new Uint32Array(image.data.buffer));
  context.putImageData(image, 0, 0);
  const [first, last] = [sight.queries[rows[0]].first, sight.queries[rows.at(-1)].last];
  const [from, to] = [sight.keys[columns[0]].first, sight.keys[columns.at(-1)].last];
  return {
    canvas, tone, hidden, smooth: true,
    top: 0, left: 0, bottom: rows.length, right: columns.length,
    part: [(from / M) * C, (first / N) * R, ((to - from) / M) * C, ((last - first) / N) * R],
  };
};
