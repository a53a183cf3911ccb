// Small matrices of weights from word to word, drawn around one of the words where there are many.

import { shade, tint } from "./colour.js";
import { labelled } from "./labels.js";

const AROUND = 60; // units on either side of the chosen one that are drawn
const NAMED = 28; // units up to which rows and columns are labelled
const NAME = 92; // the most pixels of a label
const CELL = 52; // and of a cell

/** Of the places that are shown, those around a unit. */
export const around = (shown, unit) => {
  if (shown.length <= 2 * AROUND + 1) return shown;
  const at = Math.max(shown.findIndex((index) => index >= unit), 0);
  const first = Math.min(Math.max(at - AROUND, 0), shown.length - 2 * AROUND - 1);
  return shown.slice(first, first + 2 * AROUND + 1);
};

/** The weights of some query units on some key units, row by row, and where one may not look. */
export const patchOf = (sight, rows, columns) => {
  const [first, last] = [columns[0], columns.at(-1) + 1];
  const weights = new Float64Array(rows.length * columns.length);
  const hidden = new Uint8Array(weights.length);
  rows.forEach((i, r) => {
    const row = sight.row(i, first, last);
    columns.forEach((j, c) => {
      const at = r * columns.length + c;
      weights[at] = row[j - first];
      hidden[at] = weights[at] === 0 && !sight.allowed(i, j) ? 1 : 0;
    });
  });
  return { rows, columns, queries: sight.queries, keys: sight.keys, weights, hidden };
};

/** A patch's colours: of weights, from nothing to `most`; of differences, from −most to most. */
export const colourOf = (patch, at, most, dark, signed) => {
  const share = most ? patch.weights[at] / most : 0;
  return signed ? tint(share, dark) : shade(share, dark);
};

// Where the cells lie on a canvas, labels beside them if there are few.
const layout = (context, patch, width, height) => {
  const { rows, columns, queries, keys } = patch;
  const named = rows.length <= NAMED && columns.length <= NAMED;
  const widest = (units, indices) => Math.min(Math.max(...indices.map((at) => context.measureText(labelled(units[at])).width)) + 8, NAME);
  const left = named ? widest(queries, rows) : 0;
  const top = named ? widest(keys, columns) : 0;
  const cell = Math.min((width - left) / columns.length, (height - top) / rows.length, CELL);
  return { named, left, top, cell };
};

const shortened = (context, text, room) => {
  if (context.measureText(text).width <= room) return text;
  const letters = Array.from(text.slice(0, 60)); // more of them have no room in any label
  while (letters.length > 1 && context.measureText(`${letters.join("")}…`).width > room) letters.pop();
  return `${letters.join("")}…`;
};

/**
 * A grid on a canvas. `paint` draws it, with the cell that is read, [row, column] or null; `cellAt` says which cell lies
 * at a place of the canvas.
 */
export const gridOf = (canvases, { patch, most, signed, page, colour, pinned, name, attributes }) => {
  const { rows, columns, queries, keys } = patch;
  let [place, read] = [null, null];
  const draw = (context, width, height, dots) => {
    context.font = '12px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif';
    place = layout(context, patch, width, height);
    const { named, left, top, cell } = place;
    const edge = (value) => Math.round(value * dots) / dots;
    const gap = cell >= 9 ? 1 / dots : 0;
    rows.forEach((_, r) => columns.forEach((__, c) => {
      const at = r * columns.length + c;
      const [x, y] = [edge(left + c * cell), edge(top + r * cell)];
      const [w, h] = [edge(left + (c + 1) * cell) - x - gap, edge(top + (r + 1) * cell) - y - gap];
      context.fillStyle = patch.hidden[at] ? colour("--hidden") : colourOf(patch, at, most, page.dark, signed);
      context.fillRect(x, y, w, h);
      if (patch.hidden[at] && cell >= 9) {
        context.strokeStyle = colour("--hatch");
        context.beginPath();
        context.moveTo(x, y + h);
        context.lineTo(x + w, y);
        context.stroke();
      }
    }));
    const outline = (r, c, count, stroke) => {
      context.strokeStyle = colour(stroke);
      context.lineWidth = 1.5;
      context.strokeRect(left + c * cell - 0.5, top + r * cell - 0.5, count * cell, cell);
      context.lineWidth = 1;
    };
    if (pinned >= 0) outline(pinned, 0, columns.length, "--query");
    if (read) outline(read[0], read[1], 1, "--text");
    if (!named) return;
    context.textBaseline = "middle";
    rows.forEach((index, r) => {
      context.textAlign = "right";
      context.fillStyle = colour(r === pinned || read?.[0] === r ? "--text" : "--quiet");
      context.fillText(shortened(context, labelled(queries[index]), left - 8), left - 6, top + (r + 0.5) * cell);
    });
    columns.forEach((index, c) => {
      context.save();
      context.translate(left + (c + 0.5) * cell, top - 6);
      context.rotate(-Math.PI / 2);
      context.textAlign = "left";
      context.fillStyle = colour(read?.[1] === c ? "--text" : "--quiet");
      context.fillText(shortened(context, labelled(keys[index]), top - 8), 0, 0);
      context.restore();
    });
  };
  const canvas = canvases.add({ class: "grid", role: "img", tabindex: 0, "aria-label": name, ...attributes }, draw);
  const [wide, high] = [columns, rows].map((list) => list.length * CELL + 64);
  canvas.style.aspectRatio = `${wide} / ${high}`;
  canvas.style.maxWidth = `${wide}px`;
  return {
    element: canvas,
    width: wide,
    patch,
    pinned,
    paint: (cell) => {
      read = cell;
      canvases.paint(canvas);
    },
    cellAt: (event) => {
      if (!place) return null;
      const box = canvas.getBoundingClientRect();
      const [r, c] = [Math.floor((event.clientY - box.top - place.top) / place.cell), Math.floor((event.clientX - box.left - place.left) / place.cell)];
      return r >= 0 && c >= 0 && r < rows.length && c < columns.length ? [r, c] : null;
    },
  };
};
