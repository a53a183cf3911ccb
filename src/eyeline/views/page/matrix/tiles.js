// A matrix as square pictures, made piece by piece where they are seen, and kept while there is room.

const SIDE = 256; // dots of a picture's side
const COARSE = 3; // from this level on pictures are smaller, since their dots take longer:
const SMALL = 64; // dots of a side
const KEPT = 96; // pictures, 0.5 MB each at most
const SLICE = 2e6; // products between two looks at the clock
const SAMPLE = 2048; // weights of a picture that a scale by rank is made of

/** One picture: dots of 2^level × 2^level cells each, a dot the mean of those that may be looked at, or NaN. */
class Tile {
  constructor(level, row, column, side, table) {
    Object.assign(this, { level, row, column });
    [this.top, this.left] = [row * side, column * side];
    this.bottom = Math.min(this.top + side, table.rows.length);
    this.right = Math.min(this.left + side, table.columns.length);
    this.rows = Math.ceil((this.bottom - this.top) / 2 ** level);
    this.columns = Math.ceil((this.right - this.left) / 2 ** level);
    this.weights = null; // once it is done
    this.hidden = false; // whether any dot is
    this.done = this.top; // the first row that isn't summed up
    this.sums = null;
    this.counts = null;
    this.canvas = null;
    this.colourMap = null;
    this.found = null;
  }

  // Some more rows.
  advance(cells) {
    const { level, left, right, columns } = this;
    this.sums ??= new Float64Array(this.rows * columns);
    this.counts ??= new Uint32Array(this.rows * columns);
    const rows = Math.max(Math.floor(SLICE / ((right - left) * cells.effort)), 1);
    const end = Math.min(this.done + rows + (rows % 2), this.bottom);
    const block = cells.block(this.done, end, left, right);
    for (let row = this.done, at = 0; row < end; row++) {
      const line = ((row - this.top) >> level) * columns;
      for (let column = 0; column < right - left; column++, at++) {
        const weight = block[at];
        if (Number.isNaN(weight)) continue;
        this.sums[line + (column >> level)] += weight;
        this.counts[line + (column >> level)] += 1;
      }
    }
    this.done = end;
    if (end < this.bottom) return;
    const weights = new Float32Array(this.sums.length);
    for (let at = 0; at < weights.length; at++) weights[at] = this.sums[at] / this.counts[at]; // 0 / 0 is NaN
    this.finish(weights);
  }

  finish(weights) {
    this.weights = weights;
    this.hidden = false;
    for (let at = 0; at < weights.length; at++) if (weights[at] !== weights[at]) this.hidden = true; // NaN
    this.sums = this.counts = null;
  }

  /** The picture in a tone's colours. */
  drawn(colourMap) {
    if (this.colourMap === colourMap) return this.canvas;
    if (!this.canvas) {
      this.canvas = document.createElement("canvas");
      [this.canvas.width, this.canvas.height] = [this.columns, this.rows];
    }
    const context = this.canvas.getContext("2d", { willReadFrequently: true });
    const image = context.createImageData(this.columns, this.rows);
    colourMap.paint(this.weights, new Uint32Array(image.data.buffer));
    context.putImageData(image, 0, 0);
    this.colourMap = colourMap;
    return this.canvas;
  }

  /** The largest weight of each row, and a sample of all; columns that are clipped don't count. */
  measure(clipped) {
    if (this.found?.clipped === clipped) return this.found;
    const { weights, rows, columns, level } = this;
    const skipped = new Uint8Array(columns);
    for (const column of clipped) {
      const at = (column - this.left) >> level;
      if (at >= 0 && at < columns) skipped[at] = 1;
    }
    const [tops, sample] = [new Float64Array(rows), []];
    const step = Math.max(Math.floor(weights.length / SAMPLE), 1) | 1;
    for (let row = 0, at = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++, at++) {
        const weight = weights[at];
        if (skipped[column] || Number.isNaN(weight)) continue;
        if (weight > tops[row]) tops[row] = weight;
        if (at % step === 0) sample.push(weight);
      }
    }
    this.found = { clipped, tops, sample };
    return this.found;
  }
}

/** The pictures of one table of cells. */
export class Tiles {
  /** @param host what the host answers instead of this page, (tile) => Promise of its weights; or null */
  constructor(cells, host = null) {
    this.cells = cells;
    this.host = host;
    this.tiles = new Map(); // those lately used last
    this.asked = 0;
    this.failed = null; // an error that the host answered
  }

  /** The level at which a dot is about a pixel, for cells of so many device pixels. */
  level(pixels) {
    return Math.max(0, Math.ceil(-Math.log2(pixels) - 0.25));
  }

  /** The tiles of a level that cover what is seen, those nearest to its middle first. */
  covering(level, { top, left, bottom, right }) {
    const side = this._side(level);
    const found = [];
    for (let row = Math.floor(top / side); row * side < bottom; row++) {
      for (let column = Math.floor(left / side); column * side < right; column++) {
        found.push(this._tile(level, row, column));
      }
    }
    const [y, x] = [(top + bottom) / 2, (left + right) / 2];
    const far = (tile) => Math.hypot((tile.row + 0.5) * side - y, (tile.column + 0.5) * side - x);
    return found.sort((one, other) => far(one) - far(other));
  }

  /** Pictures of other levels that are there already, coarse ones first: to be seen until the right ones are. */
  others(level, { top, left, bottom, right }) {
    const within = (tile) => tile.top < bottom && tile.bottom > top && tile.left < right && tile.right > left;
    return [...this.tiles.values()]
      .filter((tile) => tile.colourMap && tile.level !== level && within(tile))
      .sort((one, other) => other.level - one.level);
  }

  /** Work on the first of the wanted that aren't done, until a time is over; true if one was finished. */
  work(wanted, until) {
    let finished = false;
    for (const tile of wanted) {
      while (!tile.weights) {
        if (performance.now() >= until) return finished;
        tile.advance(this.cells);
      }
      finished = true;
    }
    return finished;
  }

  /** Ask the host for the first of the wanted that aren't there; `arrived` is called for each that has come. */
  request(wanted, arrived) {
    for (const tile of wanted) {
      if (tile.weights || tile.asked || this.asked >= 2) continue;
      tile.asked = true;
      this.asked += 1;
      this.host(tile)
        .then((weights) => tile.finish(weights))
        .catch((error) => {
          this.failed = error;
        })
        .finally(() => {
          this.asked -= 1;
          arrived();
        });
    }
  }

  /** The pictures of a level that are there. */
  done(level) {
    return [...this.tiles.values()].filter((tile) => tile.level === level && tile.weights);
  }

  /** The largest weights of the rows of some pictures, and a sample of all their weights. */
  measure(tiles, clipped) {
    const tops = new Map();
    const each = Math.ceil((4 * SAMPLE) / tiles.length);
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

  /** The weight of a cell, as far as its picture is there. */
  weight(row, column) {
    const tile = this.tiles.get(`0 ${Math.floor(row / SIDE)} ${Math.floor(column / SIDE)}`);
    return tile?.weights?.[(row - tile.top) * tile.columns + column - tile.left];
  }

  /** Let go of those that were used longest ago; as many as are seen and some more stay. */
  forget(seen) {
    for (const name of this.tiles.keys()) {
      if (this.tiles.size <= Math.max(KEPT, 2 * seen)) return;
      this.tiles.delete(name);
    }
  }

  // Cells of a picture's side. A host makes large ones as fast as small ones.
  _side(level) {
    return (level < COARSE || this.host ? SIDE : SMALL) * 2 ** level;
  }

  _tile(level, row, column) {
    const name = `${level} ${row} ${column}`;
    const tile = this.tiles.get(name) ?? new Tile(level, row, column, this._side(level), this.cells);
    this.tiles.delete(name);
    this.tiles.set(name, tile);
    return tile;
  }
}
