// The layout of a matrix, its labels and its grey column: as large as the window allows.

import { LABELLED, Ruler, widest } from "./axes.js";
import { greyBeside } from "./grey_column.js";
import { font, inks } from "./plot.js";

const WIDE = 760; // pixels of width from which the legend is to the right of the matrix
const SIDE = 292; // the width of the legend there and of the gap before it, in pixels
const CELL = 132; // the largest size of a cell in pixels while all are visible
const LEAST = 160; // the smallest shorter side in pixels, if there are enough cells
const LOWEST = 300; // pixels of height, however low the window
const EDGE = 4; // pixels around the cells, for frames
const BELOW = 16; // pixels left free at the lower end of the window
const LARGE = 60; // pixels of a cell from which letters are larger

/**
 * The height for a matrix in pixels: what is left of the page's window, or where it has none of its own, most of it.
 * @type {(root: HTMLElement, page: Page, beside: boolean) => number}
 */
const heightFor = (root, page, beside) => {
  const most = 0.74 * innerHeight;
  if (!page.host.model.get("address")) return Math.max(most, LOWEST);
  const left = innerHeight - BELOW - (root.getBoundingClientRect().top + scrollY);
  return Math.max(left, beside ? LOWEST : most);
};

/**
 * Lay a matrix out in an element: sets its gutter, ruler and grey column, its viewport's size and the plot's.
 * @type {(root: HTMLElement, matrix: Matrix, plot: Plot) => void}
 */
export const layOut = (root, matrix, plot) => {
  const { lines, viewport, page, parts } = matrix;
  if (!lines) return;
  const family = getComputedStyle(root).fontFamily;
  const beside = root.clientWidth >= WIDE;
  const room = root.clientWidth - (beside ? SIDE : 0);
  const height = heightFor(root, page, beside);
  const title = parts?.others.length && page.state.special === "grey" ? page.say("matrix.grey") : null;
  /** @type {(letters: number) => number} The size of a cell with letters of a height. */
  const sized = (letters) => {
    const size = fitted(matrix, family, { letters, room, height, title });
    return letters < 15 && size >= LARGE ? sized(15) : size;
  };
  const size = sized(12);
  const { gutter, grey } = matrix;
  if (!gutter) return;
  const [rows, columns] = [lines.rows.labels.length, lines.columns.labels.length];
  const snap = devicePixelRatio || 1;
  viewport.resize({ rows, columns, width: columns * size, height: rows * size, snap });
  const { least } = viewport;
  const strip = grey ? grey.gap + grey.width : 0;
  const most = [room - gutter.left - strip - EDGE, height - gutter.top - EDGE];
  viewport.width = Math.min(Math.max(columns * least, Math.min(LEAST, columns * CELL)), Math.max(most[0], 60));
  viewport.height = Math.min(Math.max(rows * least, Math.min(LEAST, rows * CELL)), Math.max(most[1], LEAST));
  const [width, down] = [gutter.left + viewport.width + strip + EDGE, gutter.top + viewport.height + EDGE];
  plot.resize(width, down, snap, inks(matrix.canvas), family);
};

/**
 * Set the gutter, the ruler and the grey column for letters of a height; returns the size of a cell.
 * @type {(
 *   matrix: Matrix, family: string, to: { letters: number, room: number, height: number, title: string | null },
 * ) => number}
 */
const fitted = (matrix, family, { letters, room, height, title }) => {
  const { lines } = matrix;
  if (!lines) return 0;
  const [rows, columns] = [lines.rows.labels.length, lines.columns.labels.length];
  const text = font(family, true, letters);
  const ruler = matrix.ruler?.font === text ? matrix.ruler : new Ruler(text);
  if (matrix.ruler !== ruler) lines.rows.wide = lines.columns.wide = null;
  matrix.ruler = ruler;
  /** @type {(axis: Axis) => number} */
  const widthOf = (axis) => (axis.wide ??= widest(ruler, axis.labels));
  const wide = { rows: widthOf(lines.rows), columns: widthOf(lines.columns) };
  const narrow = room < 520;
  const titles = Math.max(ruler.width(`${lines.rows.title} ↓`), ruler.width(`${lines.columns.title} →`));
  const left = Math.ceil(Math.max(Math.min(wide.rows, narrow ? 76 : 150), titles) + 16);
  const flat = 2 * letters + 10;
  /** @type {(top: number) => number} */
  const sizeUnder = (top) => {
    const grey = title === null ? null : greyBeside((height - top) / rows, title);
    const across = room - left - EDGE - (grey ? grey.gap + grey.width : 0);
    const size = Math.min(Math.max(across, 60) / columns, Math.max(height - top - EDGE, LEAST) / rows, CELL);
    matrix.grey = title === null ? null : greyBeside(size, title);
    return size;
  };
  const first = sizeUnder(flat);
  const turned = first >= LABELLED && wide.columns > first - 8;
  const tall = Math.ceil(Math.min(Math.max(wide.columns + 18, 40), narrow ? 92 : 132));
  const top = turned ? tall : flat;
  matrix.gutter = { left, top, turned, letters };
  return sizeUnder(top);
};
