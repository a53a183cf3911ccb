// A matrix times a vector as a picture: the vector above the matrix, what comes out beside it, row by row.

import { element } from "../drawing/dom.js";
import { tinted, tintEnd } from "../drawing/tinted.js";

/**
 * The number that 99.5 % of a matrix' numbers don't exceed: the end of its colours.
 * @type {(W: Float32Array) => number}
 */
export const matrixEnd = (W) => tintEnd(W, 0.995);

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
    room.canvases.add({ role: "img", "aria-label": name }, (context, width, height) => {
      context.imageSmoothingEnabled = width < columns || height < rows;
      context.drawImage(tinted(numbers, rows, columns, end, room.page.dark), 0, 0, width, height);
    }),
    element("i", { class: "mark" }),
  );
