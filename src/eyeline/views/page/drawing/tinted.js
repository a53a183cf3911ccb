// Numbers with a sign as a picture, a pixel for each.

import { quantile } from "../weights/quantity.js";
import { tintOf } from "./colour.js";
import { contextOf } from "./dom.js";
import { most } from "./vector_strips.js";

/**
 * The size that a share of some numbers doesn't exceed: the end of their colours.
 * @type {(numbers: ArrayLike<number>, share: number) => number}
 */
export const tintEnd = (numbers, share) => {
  const sizes = Float64Array.from(numbers, Math.abs);
  return quantile(sizes, share) || most(sizes) || 1;
};

/**
 * A canvas of rows × columns numbers; `end` is the number with the strongest colour.
 * @type {(numbers: ArrayLike<number>, rows: number, columns: number, end: number, dark: boolean) => HTMLCanvasElement}
 */
export const tinted = (numbers, rows, columns, end, dark) => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [columns, rows];
  const image = new ImageData(columns, rows);
  for (let at = 0; at < rows * columns; at++) image.data.set([...tintOf(numbers[at] / end, dark), 255], 4 * at);
  contextOf(canvas).putImageData(image, 0, 0);
  return canvas;
};
