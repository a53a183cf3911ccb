// A matrix times a vector as a picture: the vector above the matrix, what comes out beside it, row by row.

import { tint } from "../drawing/colour.js";
import { contextOf, element } from "../drawing/dom.js";

/**
 * The number that 99.5 % of a matrix' numbers don't exceed: the end of its colours.
 * @type {(W: Float32Array) => number}
 */
export const matrixEnd = (W) => {
  const sizes = Float32Array.from(W, Math.abs).sort();
  return sizes[Math.floor(0.995 * (sizes.length - 1))] || sizes.at(-1) || 1;
};

/**
 * Draw rows × columns numbers over a canvas.
 * @type {(context: CanvasRenderingContext2D, of: {
 *   numbers: Numbers, rows: number, columns: number, end: number, dark: boolean, width: number, height: number,
 * }) => void}
 */
const drawn = (context, { numbers, rows, columns, end, dark, width, height }) => {
  const small = document.createElement("canvas");
  [small.width, small.height] = [columns, rows];
  const pen = contextOf(small);
  const image = pen.createImageData(columns, rows);
  for (let at = 0; at < rows * columns; at++) {
    const [red, green, blue] = (tint(numbers[at] / end, dark).match(/\d+/g) ?? []).map(Number);
    image.data.set([red, green, blue, 255], 4 * at);
  }
  pen.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = width < columns || height < rows;
  context.drawImage(small, 0, 0, width, height);
};

/**
 * A matrix, with a mark at the row that is read.
 * @type {(room: StepsRoom, of: {
 *   numbers: Numbers, rows: number, columns: number, end: number, name: string, space: Space, kind: string,
 *   attributes?: Attributes,
 * }) => HTMLElement}
 */
export const matrix = (room, { numbers, rows, columns, end, name, space, kind, attributes = {} }) =>
  element(
    "div",
    { class: `pixels painted ${kind}`, "data-space": space, ...attributes },
    room.canvases.add({ role: "img", "aria-label": name }, (context, width, height) =>
      drawn(context, { numbers, rows, columns, end, dark: room.page.dark, width, height }),
    ),
    element("i", { class: "mark" }),
  );
