// Where a matrix and its labels stand, for the room that there is.

import { Ruler, widest } from "./axes.js";
import { font, inks } from "./plot.js";

const WIDE = 760; // pixels from which what stands beside the matrix stands at its right, in
const SIDE = 308; // pixels
const CELL = 56; // pixels of a cell, at most, where all of them are seen
const LEAST = 160; // pixels of the shorter side, if there are cells for it
const EDGE = 4; // pixels around the cells, for frames

/** Lay a matrix out in an element: sets its gutter and ruler, its viewport's size and the plot's. */
export const place = (root, matrix, plot) => {
  const { lines, viewport } = matrix;
  const [rows, columns] = [lines.rows.labels.length, lines.columns.labels.length];
  const family = getComputedStyle(root).fontFamily;
  const text = font(family, true);
  if (matrix.ruler?.font !== text) matrix.ruler = new Ruler(text);
  for (const line of [lines.rows, lines.columns]) line.wide ??= widest(matrix.ruler, line.labels);
  const room = root.clientWidth - (root.clientWidth >= WIDE ? SIDE : 0);
  const narrow = room < 520;
  const titles = Math.max(matrix.ruler.width(`${lines.rows.title} ↓`), matrix.ruler.width(`${lines.columns.title} →`));
  const left = Math.ceil(Math.max(Math.min(lines.rows.wide, narrow ? 76 : 134), titles) + 16);
  const [width, height] = [Math.max(room - left - EDGE, 60), Math.min(Math.max(innerHeight * 0.74, 320), 880)];
  const size = Math.min(width / columns, height / rows, CELL);
  const turned = lines.columns.wide > size - 8;
  const top = turned ? Math.ceil(Math.min(Math.max(lines.columns.wide + 18, 40), narrow ? 92 : 132)) : 32;
  const snap = devicePixelRatio || 1;
  viewport.resize({ rows, columns, width: columns * size, height: rows * size, snap });
  const { least } = viewport;
  viewport.width = Math.min(Math.max(columns * least, Math.min(LEAST, columns * CELL)), width);
  viewport.height = Math.min(Math.max(rows * least, Math.min(LEAST, rows * CELL)), height);
  matrix.gutter = { left, top, turned };
  plot.resize(left + viewport.width + EDGE, top + viewport.height + EDGE, snap, inks(matrix.canvas), family);
};
