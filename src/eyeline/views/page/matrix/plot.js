// Drawing a matrix on a canvas: its tiles, hidden cells, numbers, labels, and the cell under the pointer.

import { labels, leftward } from "./axes.js";
import { needsLight } from "../drawing/colour.js";
import { contextOf } from "../drawing/dom.js";
import { percent } from "../drawing/labels.js";
import { drawGrey } from "./grey_column.js";

const GRID = 14; // pixels of a cell from which cells have gaps between them
const HATCH = 6; // pixels from one slanted line to the next
const NUMBERS = 36; // pixels of a cell from which it shows its weight

const LOW = 0.05; // the end of a scale up to which cells show tenths of a percent

const NAMES = ["ground", "raised", "line", "text", "quiet", "query", "key", "hidden", "hatch", "aside"];

/** The current colours of the style sheet. @type {(element: Element) => Ink} */
export const inks = (element) => {
  const style = getComputedStyle(element);
  return Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
};

/**
 * A pattern of fine slanted lines, for hidden pairs.
 * @type {(context: CanvasRenderingContext2D, ink: Ink, ratio: number) => CanvasPattern | null}
 */
const hatch = (context, ink, ratio) => {
  const side = Math.round(HATCH * ratio);
  const tile = document.createElement("canvas");
  tile.width = tile.height = side;
  const brush = contextOf(tile);
  brush.fillStyle = ink.hidden;
  brush.fillRect(0, 0, side, side);
  brush.strokeStyle = ink.hatch;
  brush.lineWidth = ratio;
  brush.beginPath();
  for (const shift of [-side, 0, side]) {
    brush.moveTo(shift - 1, side + 1);
    brush.lineTo(shift + side + 1, -1);
  }
  brush.stroke();
  return context.createPattern(tile, "repeat");
};

/** A font for a canvas. @type {(family: string, strong: boolean, size?: number) => string} */
export const font = (family, strong, size = 12) => `${strong ? "600 " : ""}${size}px ${family}`;

/** Paints one scene after another on a canvas. */
export class Plot {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = contextOf(canvas);
    /** @type {CanvasPattern | null} */
    this.pattern = null;
    this.ratio = 1;
    /** @type {Ink} */
    this.ink = {};
    this.family = "";
  }

  /**
   * Set the size, in CSS pixels, and the colours.
   * @param {number} width
   * @param {number} height
   * @param {number} ratio device pixels of a CSS pixel
   * @param {Ink} ink
   * @param {string} family
   */
  resize(width, height, ratio, ink, family) {
    Object.assign(this, { ratio, ink, family });
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== across || this.canvas.height !== down) {
      [this.canvas.width, this.canvas.height] = [across, down];
      Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    }
    this.pattern = hatch(this.context, ink, ratio);
  }

  /** Paint a scene, from its first layer up; without lines, only cells. @param {Scene} scene */
  paint(scene) {
    const { context, ratio, ink } = this;
    const { viewport, gutter, weight, colourMap, lines } = scene;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = ink.ground;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    context.save();
    const [left, top] = [Math.round(gutter.left * ratio), Math.round(gutter.top * ratio)];
    context.beginPath();
    context.rect(left, top, Math.round(viewport.width * ratio), Math.round(viewport.height * ratio));
    context.clip();
    context.translate(left, top);
    this._layers(scene);
    context.scale(ratio, ratio);
    if (viewport.size >= GRID) this._grid(viewport);
    if (viewport.size >= NUMBERS && weight && colourMap) this._numbers(viewport, weight, colourMap);
    if (lines) this._marks(viewport, lines);
    context.restore();
    if (!lines) return;
    context.setTransform(ratio, 0, 0, ratio, left, top);
    this._clips(viewport, lines);
    if (scene.aside) drawGrey(context, viewport, scene.aside, ink, font(this.family, false));
    this._labels(viewport, gutter, lines, scene.ruler);
  }

  /** @param {Scene} scene */
  _layers({ viewport, layers }) {
    const { context, ratio, ink, pattern } = this;
    /** @type {(column: number) => number} */
    const x = (column) => Math.round(viewport.x(column) * ratio);
    /** @type {(row: number) => number} */
    const y = (row) => Math.round(viewport.y(row) * ratio);
    context.fillStyle = ink.raised;
    context.fillRect(x(0), y(0), x(viewport.columns) - x(0), y(viewport.rows) - y(0));
    for (const { canvas, top, left, bottom, right, smooth, hidden, part } of layers) {
      const [width, height] = [x(right) - x(left), y(bottom) - y(top)];
      if (hidden && pattern) {
        const side = Math.round(HATCH * ratio);
        pattern.setTransform(new DOMMatrix([1, 0, 0, 1, x(0) % side, y(0) % side])); // the pattern moves with the cells
        context.fillStyle = pattern;
        context.fillRect(x(left), y(top), width, height);
      }
      context.imageSmoothingEnabled = smooth;
      context.drawImage(canvas, ...part, x(left), y(top), width, height);
    }
  }

  /** Draw fine lines in the background colour between cells that are large enough. @param {Viewport} viewport */
  _grid(viewport) {
    const { context, ratio, ink } = this;
    const { seen } = viewport;
    const fine = Math.max(Math.round(ratio), 1) / ratio;
    /** @type {(pixels: number) => number} */
    const snapped = (pixels) => Math.round(pixels * ratio) / ratio;
    context.fillStyle = ink.ground;
    for (let row = seen.top + 1; row < seen.bottom; row++) {
      context.fillRect(0, snapped(viewport.y(row)) - fine, viewport.width, fine);
    }
    for (let column = seen.left + 1; column < seen.right; column++) {
      context.fillRect(snapped(viewport.x(column)) - fine, 0, fine, viewport.height);
    }
  }

  /**
   * @param {Viewport} viewport
   * @param {NonNullable<Scene["weight"]>} weight
   * @param {ColourMap} colourMap
   */
  _numbers(viewport, weight, colourMap) {
    const { context, family } = this;
    context.font = font(family, false, numberSize(viewport.size));
    Object.assign(context, { textAlign: "center", textBaseline: "middle", direction: "ltr" });
    for (const { row, column, text, light } of numbersSeen(viewport, weight, colourMap)) {
      context.fillStyle = light ? "#fff" : "#101318";
      context.fillText(text, viewport.x(column + 0.5), viewport.y(row + 0.5) + 0.5);
    }
  }

  /**
   * Draw the pinned row or column, and the cell under the pointer, with lines to its labels.
   * @param {Viewport} viewport
   * @param {SceneLines} lines
   */
  _marks(viewport, { rows, columns }) {
    const { context, ink } = this;
    const size = Math.max(viewport.size, 2);
    context.lineWidth = 1.5;
    context.strokeStyle = ink.query;
    const [wide, high] = [viewport.width + 4, viewport.height + 4];
    for (const row of rows.pinned) context.strokeRect(-2, viewport.y(row) - 0.75, wide, size + 1);
    context.strokeStyle = ink.key;
    for (const column of columns.pinned) context.strokeRect(viewport.x(column) - 0.75, -2, size + 1, high);
    if (rows.at === null || columns.at === null) return;
    const [x, y] = [viewport.x(columns.at), viewport.y(rows.at)];
    // Beside cells that hold numbers lines run between them, else through the middle.
    const edges = viewport.size >= GRID ? [0, viewport.size - 1] : [viewport.size / 2 - 0.5];
    context.globalAlpha = 0.7;
    for (const edge of edges) {
      context.fillStyle = ink.query;
      context.fillRect(0, y + edge, x, 1);
      context.fillStyle = ink.key;
      context.fillRect(x + edge, 0, 1, y);
    }
    context.globalAlpha = 1;
    context.strokeStyle = ink.ground;
    context.lineWidth = 4;
    context.strokeRect(x - 1, y - 1, size + 1, size + 1);
    context.strokeStyle = ink.text;
    context.lineWidth = 2;
    context.strokeRect(x - 1, y - 1, size + 1, size + 1);
  }

  /**
   * Draw a bar over each column that is left out of the scale.
   * @param {Viewport} viewport
   * @param {SceneLines} lines
   */
  _clips(viewport, lines) {
    this.context.fillStyle = this.ink.key;
    for (const bar of clipBars(viewport, lines)) this.context.fillRect(...bar);
  }

  /**
   * @param {Viewport} viewport
   * @param {Gutter} gutter
   * @param {SceneLines} lines
   * @param {Ruler} ruler
   */
  _labels(viewport, gutter, lines, ruler) {
    const { context, family, ink } = this;
    context.textBaseline = "middle";
    for (const { text, x, y, turned, align, colour, strong, boxed } of labels(viewport, gutter, lines, ruler)) {
      context.save();
      context.translate(x, y);
      if (turned) context.rotate(-Math.PI / 2);
      context.font = font(family, strong, gutter.letters);
      Object.assign(context, { textAlign: align, direction: leftward(text) ? "rtl" : "ltr" });
      if (boxed) {
        const width = context.measureText(text).width + 8;
        context.fillStyle = ink.ground;
        context.fillRect(align === "right" ? -width + 4 : align === "center" ? -width / 2 : -4, -9, width, 18);
      }
      context.fillStyle = ink[colour];
      context.fillText(text, 0, 0.5);
      context.restore();
    }
  }
}

/** The height of the numbers in cells of a size, in pixels. @type {(size: number) => number} */
export const numberSize = (size) => Math.round(Math.min(Math.max(size / 4, 11), 20));

/**
 * The text of a number in a cell, in tenths of a percent where the scale ends low.
 * @type {(number: number, end: number) => string}
 */
const cellText = (number, end) => {
  if (end > LOW || number === 0) return percent(number);
  return number < 0.0005 ? "<.1%" : `${(100 * number).toFixed(1)}%`;
};

/** A number in a cell. @typedef {{ row: number, column: number, text: string, light: boolean }} CellNumber */

/**
 * The numbers in cells.
 * @type {(viewport: Viewport, weight: NonNullable<Scene["weight"]>, colourMap: ColourMap) => CellNumber[]}
 */
export const numbersSeen = (viewport, weight, colourMap) => {
  if (viewport.size < NUMBERS) return [];
  const { top, left, bottom, right } = viewport.seen;
  /** @type {CellNumber[]} */
  const found = [];
  for (let row = top; row < bottom; row++) {
    for (let column = left; column < right; column++) {
      const number = weight(row, column);
      if (number === undefined || Number.isNaN(number)) continue;
      const text = cellText(number, colourMap.scale.end);
      found.push({ row, column, text, light: needsLight(colourMap.colour(number)) });
    }
  }
  return found;
};

/**
 * Bars over the columns that are left out of the scale.
 * @type {(viewport: Viewport, lines: SceneLines) => [x: number, y: number, width: number, height: number][]}
 */
export const clipBars = (viewport, lines) => {
  const width = Math.max(viewport.size - 1, 2);
  const places = [...lines.columns.marked].map((column) => viewport.x(column));
  return places.filter((x) => x + width > 0 && x < viewport.width).map((x) => [x, -5, width, 3]);
};
