// The tiles of a matrix, computed where they are visible, and cached.

import { contextOf, element } from "../drawing/dom.js";

const SIDE = 256; // dots of a picture's side
const COARSE = 3; // from this level on pictures are smaller, since their dots take longer to compute:
const SMALL = 64; // dots of a side
const KEPT = 96; // pictures, 0.5 MB each at most
const AT_ONCE = 4; // tiles that are asked for at once
const SAMPLE = 2048; // weights sampled from a picture, for the scale by rank

/** One tile: each dot is the mean of 2^level × 2^level cells, hidden ones left out; NaN if all are hidden. */
export class Tile {
  /**
   * @param {number} level
   * @param {number} row
   * @param {number} column
   * @param {number} side cells of its side
   * @param {Cells} table
   */
  constructor(level, row, column, side, table) {
    this.level = level;
    this.row = row;
    this.column = column;
    this.top = row * side;
    this.left = column * side;
    this.bottom = Math.min(this.top + side, table.rows.length);
    this.right = Math.min(this.left + side, table.columns.length);
    this.rows = Math.ceil((this.bottom - this.top) / 2 ** level);
    this.columns = Math.ceil((this.right - this.left) / 2 ** level);
    /** @type {Float32Array | null} Its weights, once it is done. */
    this.weights = null;
    this.hidden = false; // whether any dot is hidden
    /** @type {AbortController | null} What ends its computing, while it is asked for. */
    this.asked = null;
    /** @type {HTMLCanvasElement | null} */
    this.canvas = null;
    /** @type {ColourMap | null} */
    this.colourMap = null;
    /** @type {{ clipped: number[], tops: Float64Array, sample: number[] } | null} */
    this.found = null;
  }

  /** Set the weights of its dots. @param {Float32Array} weights */
  finish(weights) {
    this.weights = weights;
    this.hidden = weights.some(Number.isNaN);
  }

  /** The picture in the colours of a map. @param {ColourMap} colourMap */
  drawn(colourMap) {
    const canvas = (this.canvas ??= element("canvas", { width: this.columns, height: this.rows }));
    if (this.colourMap === colourMap || !this.weights) return canvas;
    const context = contextOf(canvas, { willReadFrequently: true });
    const image = context.createImageData(this.columns, this.rows);
    colourMap.paint(this.weights, new Uint32Array(image.data.buffer));
    context.putImageData(image, 0, 0);
    this.colourMap = colourMap;
    return canvas;
  }

  /**
   * The largest weight of each row, and a sample of all, without clipped columns.
   * @param {number[]} clipped
   */
  measure(clipped) {
    if (this.found?.clipped === clipped) return this.found;
    const { rows, columns, level } = this;
    const weights = this.weights ?? new Float32Array(0);
    const skipped = new Uint8Array(columns);
    for (const column of clipped) {
      const at = (column - this.left) >> level;
      if (at >= 0 && at < columns) skipped[at] = 1;
    }
    const tops = new Float64Array(rows);
    /** @type {number[]} */
    const sample = [];
    const step = Math.max(Math.floor(weights.length / SAMPLE), 1) | 1;
    for (let row = 0, at = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++, at++) {
        const weight = weights[at];
        if (skipped[column] || Number.isNaN(weight)) continue;
        if (weight > tops[row]) tops[row] = weight;
        if (at % step === 0) sample.push(weight);
      }
    }
    const found = { clipped, tops, sample };
    this.found = found;
    return found;
  }
}

/** The tiles of one table of cells. */
export class Tiles {
  /**
   * @param {Cells} cells
   * @param {TileSource | null} source computes the dots of a tile; null while that isn't possible yet
   * @param {Pyramid | null} pyramid has the dots of coarse tiles
   * @param {number} small the dots of a coarse tile's side
   */
  constructor(cells, source, pyramid = null, small = SMALL) {
    this.cells = cells;
    this.source = source;
    this.pyramid = pyramid?.exact ? pyramid : null;
    this.small = small;
    /** @type {Map<string, Tile>} The tiles, the latest used last. */
    this.tiles = new Map();
    /** @type {Set<Tile>} The tiles that are asked for. */
    this.asked = new Set();
    this.begun = 0; // how many tiles were asked for
    /** @type {unknown} The error of a tile. */
    this.failed = null;
  }

  /** The level at which a dot is about a pixel, for cells of `pixels` device pixels. @param {number} pixels */
  level(pixels) {
    return Math.max(0, Math.ceil(-Math.log2(pixels) - 0.25));
  }

  /**
   * The tiles of a level that cover the visible part, the nearest to its middle first.
   * @param {number} level
   * @param {Sides} seen
   */
  covering(level, { top, left, bottom, right }) {
    const side = this._side(level);
    const found = [];
    for (let row = Math.floor(top / side); row * side < bottom; row++) {
      for (let column = Math.floor(left / side); column * side < right; column++) {
        found.push(this._tile(level, row, column));
      }
    }
    const [y, x] = [(top + bottom) / 2, (left + right) / 2];
    /** @type {(tile: Tile) => number} */
    const far = (tile) => Math.hypot((tile.row + 0.5) * side - y, (tile.column + 0.5) * side - x);
    return found.sort((one, other) => far(one) - far(other));
  }

  /**
   * Finished tiles of other levels, coarse ones first, shown until the wanted ones are finished.
   * @param {number} level
   * @param {Sides} seen
   */
  others(level, { top, left, bottom, right }) {
    /** @type {(tile: Tile) => boolean} */
    const within = (tile) => tile.top < bottom && tile.bottom > top && tile.left < right && tile.right > left;
    return [...this.tiles.values()]
      .filter((tile) => tile.colourMap && tile.level !== level && within(tile))
      .sort((one, other) => other.level - one.level);
  }

  /**
   * Ask for the first missing tiles of `wanted`, and no longer for others; `arrived` is called for each that arrives.
   * @param {Tile[]} wanted
   * @param {() => void} arrived
   */
  request(wanted, arrived) {
    const { source, asked } = this;
    for (const tile of asked) if (!wanted.includes(tile)) this._leave(tile);
    for (const tile of wanted) {
      if (!source || asked.size >= AT_ONCE) return;
      if (tile.weights || tile.asked) continue;
      const ending = (tile.asked = new AbortController());
      asked.add(tile);
      this.begun += 1;
      source(tile, ending.signal)
        .then((weights) => tile.finish(weights))
        .catch((error) => {
          if (!ending.signal.aborted) this.failed = error;
        })
        .finally(() => {
          if (tile.asked === ending) asked.delete(tile);
          if (tile.asked === ending && tile.weights) tile.asked = null;
          if (!ending.signal.aborted) arrived();
        });
    }
  }

  /** Ask for no more. */
  stop() {
    for (const tile of this.asked) this._leave(tile);
  }

  /** @param {Tile} tile */
  _leave(tile) {
    this.asked.delete(tile);
    tile.asked?.abort();
    tile.asked = null;
  }

  /** The finished tiles of a level. @param {number} level */
  done(level) {
    return [...this.tiles.values()].filter((tile) => tile.level === level && tile.weights);
  }

  /**
   * The largest weights of the rows of some tiles, and a sample of all their weights.
   * @param {Tile[]} tiles
   * @param {number[]} clipped
   */
  measure(tiles, clipped) {
    /** @type {Map<number, Float64Array>} */
    const tops = new Map();
    const each = Math.ceil((4 * SAMPLE) / tiles.length);
    /** @type {number[]} */
    const sample = [];
    for (const tile of tiles) {
      const found = tile.measure(clipped);
      const rows = tops.get(tile.row);
      if (rows) found.tops.forEach((top, row) => (rows[row] = Math.max(rows[row], top)));
      else tops.set(tile.row, found.tops.slice());
      const step = Math.max(Math.floor(found.sample.length / each), 1);
      for (let at = 0; at < found.sample.length; at += step) sample.push(found.sample[at]);
    }
    return { tops: [...tops.values()].flatMap((rows) => [...rows]), sample };
  }

  /** Drop the least recently used tiles; more tiles stay than are visible. @param {number} seen */
  forget(seen) {
    for (const name of this.tiles.keys()) {
      if (this.tiles.size <= Math.max(KEPT, 2 * seen)) return;
      this.tiles.delete(name);
    }
  }

  /**
   * The mean of the dot of a level that has a cell, if its tile is finished; NaN if it is hidden.
   * @param {number} level
   * @param {number} row
   * @param {number} column
   */
  dot(level, row, column) {
    const side = this._side(level);
    const tile = this.tiles.get(`${level} ${Math.floor(row / side)} ${Math.floor(column / side)}`);
    return tile?.weights?.[((row - tile.top) >> level) * tile.columns + ((column - tile.left) >> level)];
  }

  /** The cells of a tile's side. @param {number} level */
  _side(level) {
    return (level < COARSE || this._stored(level) ? SIDE : this.small) * 2 ** level;
  }

  /** Whether the dots of a level are stored, or follow from those that are. @param {number} level */
  _stored(level) {
    return this.pyramid !== null && level >= this.pyramid.level;
  }

  /**
   * @param {number} level
   * @param {number} row
   * @param {number} column
   */
  _tile(level, row, column) {
    const name = `${level} ${row} ${column}`;
    const known = this.tiles.get(name);
    const tile = known ?? new Tile(level, row, column, this._side(level), this.cells);
    if (this.pyramid && !known && this._stored(level)) tile.finish(this.pyramid.tile(tile));
    this.tiles.delete(name);
    this.tiles.set(name, tile);
    return tile;
  }
}
