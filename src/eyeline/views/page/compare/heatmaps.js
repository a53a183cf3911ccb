// Heatmaps of the weights between words; in long texts, around the chosen word.

import { shade, tint } from "../drawing/colour.js";
import { labelled } from "../drawing/labels.js";

const AROUND = 60; // the number of units drawn on either side of the chosen one
const NAMED = 28; // the largest number of units at which rows and columns are labelled
const NAME = 92; // the largest width of a label, in pixels
const CELL = 52; // the largest size of a cell, in pixels
const ROOMY = 9; // pixels of a cell from which it is followed by a gap, and hatched if hidden

/** The shown indices around a unit. @type {(shown: number[], unit: number) => number[]} */
export const around = (shown, unit) => {
  const count = 2 * AROUND + 1;
  if (shown.length <= count) return shown;
  const at = Math.max(shown.findIndex((index) => index >= unit), 0);
  const first = Math.min(Math.max(at - AROUND, 0), shown.length - count);
  return shown.slice(first, first + count);
};

/**
 * The weights of some query units on some key units, row by row, and the hidden pairs.
 * @type {(attention: AttentionMap, rows: number[], columns: number[]) => Patch}
 */
export const patchOf = (attention, rows, columns) => {
  const [first, last] = [columns[0], columns[columns.length - 1] + 1];
  const weights = new Float64Array(rows.length * columns.length);
  const hidden = new Uint8Array(weights.length);
  rows.forEach((i, r) => {
    const row = attention.row(i, first, last);
    columns.forEach((j, c) => {
      const at = r * columns.length + c;
      weights[at] = row[j - first];
      hidden[at] = weights[at] === 0 && !attention.allowed(i, j) ? 1 : 0;
    });
  });
  return { rows, columns, queries: attention.queries, keys: attention.keys, weights, hidden };
};

/** @typedef {{ named: boolean, left: number, top: number, cell: number }} Layout */

/**
 * The layout of the cells on a canvas, with labels if there are few.
 * @type {(context: CanvasRenderingContext2D, patch: Patch, width: number, height: number) => Layout}
 */
const layout = (context, { rows, columns, queries, keys }, width, height) => {
  const named = rows.length <= NAMED && columns.length <= NAMED;
  /** @type {(units: Unit[], places: number[]) => number} */
  const widest = (units, places) => {
    const widths = places.map((at) => context.measureText(labelled(units[at])).width);
    return named ? Math.min(Math.max(...widths) + 8, NAME) : 0;
  };
  const [left, top] = [widest(queries, rows), widest(keys, columns)];
  const cell = Math.min((width - left) / columns.length, (height - top) / rows.length, CELL);
  return { named, left, top, cell };
};

/** @type {(context: CanvasRenderingContext2D, text: string, room: number) => string} */
const shortened = (context, text, room) => {
  if (context.measureText(text).width <= room) return text;
  const letters = Array.from(text.slice(0, 60)); // more never fit into a label
  while (letters.length > 1 && context.measureText(`${letters.join("")}…`).width > room) letters.pop();
  return `${letters.join("")}…`;
};

/**
 * A heatmap's content: `end` is the number with the strongest colour, `signed` whether there are negative numbers,
 * `pinned` the framed row, −1 for none.
 * @typedef {{ patch: Patch, end: number, signed: boolean, pinned: number }} Drawn
 */

/**
 * Draw the cells of a patch.
 * @type {(
 *   context: CanvasRenderingContext2D, drawn: Drawn & DrawingRoom, place: Layout, dots: number,
 * ) => void}
 */
const drawCells = (context, { patch, end, signed, page, colour }, { left, top, cell }, dots) => {
  const { columns, weights, hidden } = patch;
  /** @type {(value: number) => number} */
  const edge = (value) => Math.round(value * dots) / dots;
  const gap = cell >= ROOMY ? 1 / dots : 0;
  const [veil, hatch] = [colour("--hidden"), colour("--hatch")];
  const { dark } = page;
  for (let at = 0; at < weights.length; at++) {
    const [r, c] = [Math.floor(at / columns.length), at % columns.length];
    const [x, y] = [edge(left + c * cell), edge(top + r * cell)];
    const [width, height] = [edge(left + (c + 1) * cell) - x - gap, edge(top + (r + 1) * cell) - y - gap];
    const share = end ? weights[at] / end : 0;
    context.fillStyle = hidden[at] ? veil : signed ? tint(share, dark) : shade(share, dark);
    context.fillRect(x, y, width, height);
    if (!hidden[at] || cell < ROOMY) continue;
    context.strokeStyle = hatch;
    context.beginPath();
    context.moveTo(x, y + height);
    context.lineTo(x + width, y);
    context.stroke();
  }
};

/**
 * Write the words of rows and columns; the chosen ones and those of the read cell are highlighted.
 * @type {(
 *   context: CanvasRenderingContext2D, drawn: Drawn & DrawingRoom, place: Layout, read: [number, number] | null,
 * ) => void}
 */
const drawNames = (context, { patch, pinned, colour }, { left, top, cell }, read) => {
  const { rows, columns, queries, keys } = patch;
  const [strong, quiet] = [colour("--text"), colour("--quiet")];
  context.textBaseline = "middle";
  context.textAlign = "right";
  rows.forEach((index, r) => {
    context.fillStyle = r === pinned || read?.[0] === r ? strong : quiet;
    context.fillText(shortened(context, labelled(queries[index]), left - 8), left - 6, top + (r + 0.5) * cell);
  });
  context.textAlign = "left";
  columns.forEach((index, c) => {
    context.save();
    context.translate(left + (c + 0.5) * cell, top - 6);
    context.rotate(-Math.PI / 2);
    context.fillStyle = read?.[1] === c ? strong : quiet;
    context.fillText(shortened(context, labelled(keys[index]), top - 8), 0, 0);
    context.restore();
  });
};

/**
 * A grid on a canvas: its element, its maximum width, `paint`, which draws it with the read cell ([row, column] or
 * null), and `cellAt`, which returns the cell at a point.
 * @type {(room: DrawingRoom, of: Drawn & { name: string, focus: string }) => Heatmap}
 */
export const heatmapOf = (room, { patch, end, signed, pinned, name, focus }) => {
  const { canvases, colour } = room;
  const { rows, columns } = patch;
  const drawn = { ...room, patch, end, signed, pinned };
  /** @type {Layout | null} */
  let place = null;
  /** @type {[row: number, column: number] | null} */
  let read = null;
  /** @type {Draw} */
  const draw = (context, width, height, dots) => {
    context.font = '12px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif';
    place = layout(context, patch, width, height);
    const { named, left, top, cell } = place;
    drawCells(context, drawn, place, dots);
    /** @type {(r: number, c: number, count: number, stroke: string) => void} */
    const outline = (r, c, count, stroke) => {
      context.strokeStyle = colour(stroke);
      context.lineWidth = 1.5;
      context.strokeRect(left + c * cell - 0.5, top + r * cell - 0.5, count * cell, cell);
    };
    if (pinned >= 0) outline(pinned, 0, columns.length, "--query");
    if (read) outline(read[0], read[1], 1, "--text");
    if (named) drawNames(context, drawn, place, read);
  };
  const attributes = { class: "grid", role: "img", tabindex: 0, "aria-label": name, "data-focus": focus };
  const canvas = canvases.add(attributes, draw);
  const [width, height] = [columns.length * CELL + 64, rows.length * CELL + 64];
  canvas.style.aspectRatio = `${width} / ${height}`;
  canvas.style.maxWidth = `${width}px`;
  return {
    element: canvas,
    width,
    patch,
    pinned,
    paint: (cell) => {
      read = cell;
      canvases.paint(canvas);
    },
    cellAt: (event) => {
      if (!place) return null;
      const box = canvas.getBoundingClientRect();
      const r = Math.floor((event.clientY - box.top - place.top) / place.cell);
      const c = Math.floor((event.clientX - box.left - place.left) / place.cell);
      return r >= 0 && c >= 0 && r < rows.length && c < columns.length ? [r, c] : null;
    },
  };
};
