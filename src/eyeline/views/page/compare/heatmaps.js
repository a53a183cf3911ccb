// Heatmaps of the numbers between words, with a grey column for what isn't drawn word by word.

import { shade, tint } from "../drawing/colour.js";
import { contextOf } from "../drawing/dom.js";
import { labelled } from "../drawing/labels.js";
import { numberAt, widthOf } from "./patches.js";

const FONT = '12px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const NAMED = 28; // the largest number of units at which rows and columns are labelled
const NAME = 104; // the largest width of a label, in pixels
const CELL = 52; // the largest size of a cell, in pixels
const GREY = 8; // the least width of the grey column, and of the gap before it with small cells
const ROOMY = 9; // pixels of a cell from which it is followed by a gap, and hatched if hidden

/** @typedef {{ named: boolean, left: number, top: number, cell: number }} Layout */

/** The left and width of a column. @type {(patch: Patch, place: Layout, column: number) => [left: number, width: number]} */
const columnOf = ({ columns }, { left, cell }, c) =>
  c < columns.length
    ? [left + c * cell, cell]
    : [left + c * cell + Math.min(Math.max(cell / 4, 3), GREY), Math.max(cell, GREY)];

/** The names of the columns. @type {(drawn: Drawn) => string[]} */
const columnNames = ({ patch: { columns, keys, grey }, aside }) => [
  ...columns.map((at) => labelled(keys[at])), ...(grey ? [aside] : []),
];

/** The room for the labels, if there are few. @type {(drawn: Drawn) => { named: boolean, left: number, top: number }} */
const labelRoom = (drawn) => {
  const { rows, columns, queries } = drawn.patch;
  const named = rows.length <= NAMED && columns.length <= NAMED;
  const pen = contextOf(document.createElement("canvas"));
  pen.font = FONT;
  /** @type {(texts: string[]) => number} */
  const widest = (texts) =>
    named ? Math.min(Math.max(...texts.map((text) => pen.measureText(text).width)) + 8, NAME) : 0;
  return { named, left: widest(rows.map((at) => labelled(queries[at]))), top: widest(columnNames(drawn)) };
};

/** What the grey column takes beyond a cell. @type {(patch: Patch) => number} */
const beside = ({ grey }) => (grey ? 2 * GREY : 0);

/** @type {(context: CanvasRenderingContext2D, text: string, room: number) => string} */
const shortened = (context, text, room) => {
  if (context.measureText(text).width <= room) return text;
  const letters = Array.from(text.slice(0, 60)); // more never fit into a label
  while (letters.length > 1 && context.measureText(`${letters.join("")}…`).width > room) letters.pop();
  return `${letters.join("")}…`;
};

/**
 * A heatmap's content: `end` is the number with the strongest colour, `signed` whether there are negative numbers,
 * `pinned` the framed row, −1 for none, `aside` the name of the grey column.
 * @typedef {{ patch: Patch, end: number, signed: boolean, pinned: number, aside: string }} Drawn
 */

/**
 * Draw the cells of a patch.
 * @type {(
 *   context: CanvasRenderingContext2D, drawn: Drawn & DrawingRoom, place: Layout, dots: number,
 * ) => void}
 */
const drawCells = (context, { patch, end, signed, page, colour }, place, dots) => {
  const { top, cell } = place;
  /** @type {(value: number) => number} */
  const edge = (value) => Math.round(value * dots) / dots;
  const gap = cell >= ROOMY ? 1 / dots : 0;
  const [veil, hatch, grey] = [colour("--hidden"), colour("--hatch"), colour("--aside")];
  const { dark } = page;
  for (let r = 0; r < patch.rows.length; r++) {
    for (let c = 0; c < widthOf(patch); c++) {
      const [left, wide] = columnOf(patch, place, c);
      const [x, y] = [edge(left), edge(top + r * cell)];
      const [width, height] = [edge(left + wide) - x - gap, edge(top + (r + 1) * cell) - y - gap];
      const number = numberAt(patch, [r, c]);
      const share = number === null || !end ? 0 : number / end;
      context.fillStyle = number === null ? veil : signed ? tint(share, dark) : shade(share, dark);
      if (c === patch.columns.length && !signed) {
        // On a scale of its own, from 0 to 100%: special tokens often take so much that words would fade on theirs.
        context.fillStyle = shade(0, dark);
        context.fillRect(x, y, width, height);
        context.globalAlpha = Math.min(number ?? 0, 1);
        context.fillStyle = grey;
      }
      context.fillRect(x, y, width, height);
      context.globalAlpha = 1;
      if (number !== null || cell < ROOMY) continue;
      context.strokeStyle = hatch;
      context.beginPath();
      context.moveTo(x, y + height);
      context.lineTo(x + width, y);
      context.stroke();
    }
  }
};

/**
 * Write the words of rows and columns; the chosen ones and those of the read cell are highlighted.
 * @type {(
 *   context: CanvasRenderingContext2D, drawn: Drawn & DrawingRoom, place: Layout, read: [number, number] | null,
 * ) => void}
 */
const drawNames = (context, drawn, place, read) => {
  const { patch, pinned, colour } = drawn;
  const { rows, queries } = patch;
  const { left, top, cell } = place;
  const [strong, quiet] = [colour("--text"), colour("--quiet")];
  context.textBaseline = "middle";
  context.textAlign = "right";
  rows.forEach((index, r) => {
    context.fillStyle = r === pinned || read?.[0] === r ? strong : quiet;
    context.fillText(shortened(context, labelled(queries[index]), left - 8), left - 6, top + (r + 0.5) * cell);
  });
  context.textAlign = "left";
  columnNames(drawn).forEach((name, c) => {
    const [from, wide] = columnOf(patch, place, c);
    context.save();
    context.translate(from + wide / 2, top - 6);
    context.rotate(-Math.PI / 2);
    context.fillStyle = read?.[1] === c ? strong : quiet;
    context.fillText(shortened(context, name, top - 8), 0, 0);
    context.restore();
  });
};

/**
 * A grid on a canvas: its element, its maximum width, `paint`, which draws it with the read cell ([row, column] or
 * null), and `cellAt`, which returns the cell at a point.
 * @type {(room: DrawingRoom, of: Drawn & { name: string, focus: string }) => Heatmap}
 */
export const heatmapOf = (room, { patch, end, signed, pinned, aside, name, focus }) => {
  const { canvases, colour } = room;
  const drawn = { ...room, patch, end, signed, pinned, aside };
  const labels = labelRoom(drawn);
  /** @type {Layout | null} */
  let place = null;
  /** @type {[row: number, column: number] | null} */
  let read = null;
  /** @type {Draw} */
  const draw = (context, width, height, dots) => {
    context.font = FONT;
    const { left: before, top } = labels;
    const space = (width - before - beside(patch)) / widthOf(patch);
    const made = { ...labels, cell: Math.min(space, (height - top) / patch.rows.length, CELL) };
    place = made;
    drawCells(context, drawn, made, dots);
    /** @type {(left: number, row: number, wide: number, stroke: string) => void} */
    const outline = (left, row, wide, stroke) => {
      context.strokeStyle = colour(stroke);
      context.lineWidth = 1.5;
      context.strokeRect(left - 0.5, made.top + row * made.cell - 0.5, wide, made.cell);
    };
    if (pinned >= 0) outline(made.left, pinned, patch.columns.length * made.cell, "--query");
    if (read) {
      const [left, wide] = columnOf(patch, made, read[1]);
      outline(left, read[0], wide, "--text");
    }
    if (made.named) drawNames(context, drawn, made, read);
  };
  const attributes = { class: "grid", role: "img", tabindex: 0, "aria-label": name, "data-focus": focus };
  const canvas = canvases.add(attributes, draw);
  const width = Math.ceil(labels.left + widthOf(patch) * CELL + beside(patch));
  const height = Math.ceil(labels.top + patch.rows.length * CELL);
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
      const made = place;
      if (!made) return null;
      const box = canvas.getBoundingClientRect();
      const r = Math.floor((event.clientY - box.top - made.top) / made.cell);
      const x = event.clientX - box.left;
      const columns = Array.from({ length: widthOf(patch) }, (_, at) => columnOf(patch, made, at));
      const c = columns.findIndex(([left, wide]) => x >= left && x < left + wide);
      return r >= 0 && c >= 0 && r < patch.rows.length ? [r, c] : null;
    },
  };
};
