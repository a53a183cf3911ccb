// The small pictures of all heads: the numbers of their cells, and the colours that these have.

import { ramp } from "../drawing/colour.js";
import { heavy } from "../matrix/heavy_columns.js";
import { scaleEnd } from "../weights/quantity.js";

/**
 * A head's picture: rows × columns of numbers, NaN where no query may look; what special tokens take of each row, if
 * that is a column of its own; the largest number; and the largest but for columns that take much of every row.
 * @typedef {{ numbers: Float32Array, grey: Float32Array | null, most: number, next: number }} Thumbnail
 */

/**
 * Whether a causal mask hides all of cell (row, column) of a picture of `rows` × `columns`, over N tokens.
 * @type {(row: number, column: number, rows: number, columns: number, N: number) => boolean}
 */
const ahead = (row, column, rows, columns, N) =>
  Math.floor((column * N) / columns) > Math.floor(((row + 1) * N) / rows) - 1;

/**
 * Whether each cell of a trace's pictures is one pair of tokens, so that words and special tokens can be told apart.
 * @type {(trace: Trace) => boolean}
 */
export const cellIsPair = ({ picture, queries, keys }) =>
  !picture || (picture[0] === queries.length && picture[1] === keys.length);

/** The pictures of all heads of the page's trace, as its state asks for them. */
export class Thumbnails {
  /**
   * @param {Page} page
   * @param {Pictures} pictures
   */
  constructor(page, pictures) {
    const { trace, state } = page;
    this.trace = trace;
    this.pictures = pictures;
    this.special = state.special;
    this.pairs = cellIsPair(trace);
    const [, , rows, columns] = pictures.shape;
    const [queries, keys] = [trace.queries.units(state.unit), trace.keys.units(state.unit)];
    this.queries = page.shown(queries).map((at) => queries[at]);
    this.keys = page.shown(keys).map((at) => keys[at]);
    this.rows = this.pairs ? this.queries.length : rows;
    this.columns = this.pairs ? this.keys.length : columns;
    this.greyed = this.pairs && state.special === "grey" && this.keys.length < keys.length;
    /** @type {Map<string, Thumbnail>} */
    this.made = new Map();
  }

  /**
   * @param {number} layer
   * @param {number} head
   */
  of(layer, head) {
    const name = `${layer} ${head}`;
    const known = this.made.get(name);
    if (known) return known;
    const made = this._measured(this.pairs ? this._units(layer, head) : this._cells(layer, head));
    this.made.set(name, made);
    return made;
  }

  /** The end of the scale that all pictures share. */
  get end() {
    const { depth, heads } = this.trace;
    const all = Array.from({ length: depth * heads }, (_, at) => this.of(Math.floor(at / heads), at % heads));
    return scaleEnd(all.map(({ most }) => most));
  }

  /**
   * A picture's pixels, with colours from zero to an end, and its grey column.
   * @param {Thumbnail} thumbnail
   * @param {number} end
   * @param {{ dark: boolean, hidden: RGB, ground: RGB, aside: RGB }} colours
   */
  image({ numbers, grey }, end, { dark, hidden, ground, aside }) {
    const { rows, columns } = this;
    const colours = ramp(dark);
    const pixels = new ImageData(columns + (grey ? 1 : 0), rows);
    for (let row = 0, at = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++, at += 4) {
        const number = numbers[row * columns + column];
        pixels.data.set(Number.isNaN(number) ? hidden : colours[Math.round(255 * Math.min(number / end, 1))], at);
        pixels.data[at + 3] = 255;
      }
      if (!grey) continue;
      pixels.data.set(ground.map((part, one) => part + (aside[one] - part) * Math.min(grey[row], 1)), at);
      pixels.data[at + 3] = 255;
      at += 4;
    }
    return pixels;
  }

  /**
   * The weights of a head between tokens, or cells of tokens.
   * @param {number} layer
   * @param {number} head
   */
  _weights(layer, head) {
    const { shape: [, heads, rows, columns], bytes, most } = this.pictures;
    const [place, size] = [layer * heads + head, rows * columns];
    const own = bytes.subarray(place * size, (place + 1) * size);
    return Float32Array.from(own, (byte) => most[place] * (byte / 255) ** 2);
  }

  /**
   * The cells as the host pooled them.
   * @param {number} layer
   * @param {number} head
   */
  _cells(layer, head) {
    const { rows, columns, trace } = this;
    const numbers = this._weights(layer, head);
    if (trace.layers[layer].mask.kind === "causal") {
      numbers.forEach((_, at) => {
        const [row, column] = [Math.floor(at / columns), at % columns];
        if (ahead(row, column, rows, columns, trace.queries.length)) numbers[at] = NaN;
      });
    }
    return { numbers, grey: null };
  }

  /**
   * The cells between shown units: sums over a key's tokens, means over a query's.
   * @param {number} layer
   * @param {number} head
   */
  _units(layer, head) {
    const { queries, keys, rows, columns, special } = this;
    const weights = this._weights(layer, head);
    const width = this.trace.keys.length;
    const causal = this.trace.layers[layer].mask.kind === "causal";
    const numbers = new Float32Array(rows * columns);
    const grey = this.greyed ? new Float32Array(rows) : null;
    queries.forEach((query, row) => {
      let [whole, shown] = [0, 0];
      for (let a = query.first; a < query.last; a++) {
        for (let b = 0; b < width; b++) whole += weights[a * width + b] / (query.last - query.first);
      }
      keys.forEach((key, column) => {
        let sum = 0;
        for (let a = query.first; a < query.last; a++) {
          for (let b = key.first; b < key.last; b++) sum += weights[a * width + b] / (query.last - query.first);
        }
        shown += sum;
        numbers[row * columns + column] = causal && key.first >= query.last ? NaN : sum;
      });
      if (grey) grey[row] = Math.max(whole - shown, 0);
      if (special !== "out" || !(shown > 0)) return;
      for (let at = row * columns; at < (row + 1) * columns; at++) numbers[at] /= shown;
    });
    return { numbers, grey };
  }

  /**
   * @param {{ numbers: Float32Array, grey: Float32Array | null }} picture
   * @returns {Thumbnail}
   */
  _measured({ numbers, grey }) {
    const { rows, columns } = this;
    const means = new Float64Array(columns);
    const tops = new Float64Array(columns);
    numbers.forEach((number, at) => {
      if (Number.isNaN(number)) return;
      const column = at % columns;
      means[column] += number / rows;
      tops[column] = Math.max(tops[column], number);
    });
    const set = new Set(heavy(means, means.reduce((sum, mean) => sum + mean, 0) / columns).map(({ column }) => column));
    const most = Math.max(...tops);
    const next = Math.max(...tops.filter((_, column) => !set.has(column)), 0);
    return { numbers, grey, most: most || 1, next: next || most || 1 };
  }
}
