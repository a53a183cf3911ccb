// The layout of a matrix and its labels within the available room.

import { Ruler, widest } from "./axes.js";
import { font, inks } from "./plot.js";

const WIDE = 760; // pixels of width from which the controls are to the right of the matrix
const SIDE = 308; // the width of the controls there, in pixels
const CELL = 56; // the largest size of a cell in pixels while all are visible
const LEAST = 160; // the smallest shorter side in pixels, if there are enough cells
const EDGE = 4; // pixels around the cells, for frames

/**
 * Lay a matrix out in an element: sets its gutter and ruler, its viewport's size and the plot's.
 * @type {(root: HTMLElement, matrix: Matrix, plot: Plot) => void}
 */
export const layOut = (root, matrix, plot) => {
  const { lines, viewport } = matrix;
  if (!lines) return;
  const [rows, columns] = [lines.rows.labels.length, lines.columns.labels.length];
  const family = getComputedStyle(root).fontFamily;
  const text = font(family, true);
  const ruler = matrix.ruler?.font === text ? matrix.ruler : new Ruler(text);
  matrix.ruler = ruler;
  /** @type {(axis: Axis) => number} */
  const widthOf = (axis) => (axis.wide ??= widest(ruler, axis.labels));
  const wide = { rows: widthOf(lines.rows), columns: widthOf(lines.columns) };
  const room = root.clientWidth - (root.clientWidth >= WIDE ? SIDE : 0);
  const narrow = room < 520;
  const titles = Math.max(ruler.width(`${lines.rows.title} ↓`), ruler.width(`${lines.columns.title} →`));
  const left = Math.ceil(Math.max(Math.min(wide.rows, narrow ? 76 : 134), titles) + 16);
  const [width, height] = [Math.max(room - left - EDGE, 60), Math.min(Math.max(innerHeight * 0.74, 320), 880)];
  const size = Math.min(width / columns, height / rows, CELL);
  const turned = wide.columns > size - 8;
  const top = turned ? Math.ceil(Math.min(Math.max(wide.columns + 18, 40), narrow ? 92 : 132)) : 32;
  const snap = devicePixelRatio || 1;
  viewport.resize({ rows, columns, width: columns * size, height: rows * size, snap });
  const { least } = viewport;
  viewport.width = Math.min(Math.max(columns * least, Math.min(LEAST, columns * CELL)), width);
  viewport.height = Math.min(Math.max(rows * least, Math.min(LEAST, rows * CELL)), height);
  matrix.gutter = { left, top, turned };
  plot.resize(left + viewport.width + EDGE, top + viewport.height + EDGE, snap, inks(matrix.canvas), family);
};
