// The grey column at the right of a matrix: what special tokens take of each row, as a bar from zero to the whole row.

import { percent } from "../drawing/labels.js";

const WRITTEN = 14; // pixels of a row from which its number is written
const GAP = 8; // pixels between the cells and the column
const WIDEST = 64; // pixels of the column
const NARROWEST = 52;

/** The grey column beside cells of a size, in pixels. @type {(size: number, title: string) => Grey} */
export const greyBeside = (size, title) => ({
  gap: GAP, width: Math.round(Math.min(Math.max(size, NARROWEST), WIDEST)), title,
});

/**
 * A bar of the column; y and height in pixels from the cells' corner.
 * @typedef {{ y: number, height: number, number: number, text: string }} GreyBar
 */

/**
 * The bars of the visible rows; if rows are finer than a pixel, one for each pixel, the mean of its rows.
 * @type {(viewport: Viewport, numbers: Float64Array) => GreyBar[]}
 */
export const greyBars = (viewport, numbers) => {
  const { seen, size } = viewport;
  const step = Math.max(Math.round(1 / size), 1);
  /** @type {GreyBar[]} */
  const found = [];
  for (let row = seen.top - (seen.top % step); row < seen.bottom; row += step) {
    const some = numbers.subarray(row, Math.min(row + step, numbers.length));
    const number = some.reduce((sum, one) => sum + one, 0) / some.length;
    if (Number.isNaN(number)) continue;
    const [y, end] = [viewport.y(row), viewport.y(row + some.length)];
    found.push({ y, height: size >= 4 ? end - y - 1 : end - y, number, text: size >= WRITTEN ? percent(number) : "" });
  }
  return found;
};

/** The lines of the column's title above it. @type {(title: string) => string[]} */
export const titleLines = (title) => {
  const cut = title.indexOf(" ");
  return cut < 0 ? [title] : [title.slice(0, cut), title.slice(cut + 1)];
};

/** The middle of a line of the title, in pixels above the cells. @type {(line: number, lines: string[]) => number} */
export const titleHeight = (line, { length }) => 13 + 15 * (length - 1 - line);

/**
 * Draw the column on a context whose corner is the cells' corner.
 * @type {(
 *   context: CanvasRenderingContext2D, viewport: Viewport, aside: NonNullable<Scene["aside"]>, ink: Ink, font: string,
 * ) => void}
 */
export const drawGrey = (context, viewport, { gap, width, title, numbers }, ink, font) => {
  const left = viewport.width + gap;
  context.save();
  context.save();
  context.beginPath();
  context.rect(left, 0, width, viewport.height);
  context.clip();
  context.fillStyle = ink.raised;
  context.fillRect(left, 0, width, viewport.y(viewport.rows));
  context.font = font;
  Object.assign(context, { textAlign: "center", textBaseline: "middle", direction: "ltr" });
  for (const { y, height, number, text } of greyBars(viewport, numbers)) {
    context.fillStyle = ink.aside;
    context.fillRect(left, y, width * Math.min(number, 1), height);
    context.fillStyle = ink.text;
    if (text) context.fillText(text, left + width / 2, y + height / 2 + 0.5);
  }
  context.restore();
  context.fillStyle = ink.quiet;
  context.font = font;
  Object.assign(context, { textAlign: "center", textBaseline: "middle" });
  titleLines(title).forEach((line, at, all) => context.fillText(line, left + width / 2, -titleHeight(at, all)));
  context.restore();
};
