// Draws a matrix frame by frame: works on its pictures where time allows, and keeps the scale of their colours.

import { preview } from "./preview.js";
import { hostTiles } from "./host_tiles.js";
import { Tiles } from "./tiles.js";
import { ColourMap, measured } from "./colour_map.js";

const AT_ONCE = 60; // milliseconds that a first picture may take
const BUSY = 5; // milliseconds of work in a frame while something moves
const IDLE = 30; // and while nothing does
const MOST = 16e9; // products that this page does for what is seen; beyond, one has to zoom in
const HOSTS = 5e8; // products from which a host that can is asked
const SLOW = 400; // milliseconds after which is said that something is being computed
const QUIET = 150; // milliseconds from the last picture to what waits for it

/** Draws a matrix; `told` hears of each frame, what it drew; `rested` is called when all is there. */
export class Renderer {
  constructor(matrix, plot, told, rested) {
    Object.assign(this, { matrix, plot, told, rested });
    Object.assign(this, { frame: 0, later: 0, moving: false, fresh: true, settled: false });
    Object.assign(this, { tiles: null, overviews: null, level: 0, coarse: false });
    this.recolour();
  }

  /** Begin with other cells. */
  begin() {
    const { page, cells } = this.matrix;
    clearTimeout(this.later);
    const place = [page.state.trace, page.state.layer, page.state.head];
    this.tiles = new Tiles(cells, page.header.can?.picture ? hostTiles(page, place, cells) : null);
    Object.assign(this, { fresh: true, settled: false, since: null });
    this.recolour();
  }

  /** Have colours anew: of another scale, other columns that don't count, or another theme. */
  recolour() {
    Object.assign(this, { colourMaps: new Map(), colourMap: null, ground: null, asked: false });
  }

  schedule() {
    if (!this.frame) this.frame = requestAnimationFrame(() => this.draw());
  }

  stop() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.later);
    this.tiles = null;
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const { tiles, plot, matrix } = this;
    const { viewport, canvas } = matrix;
    if (!tiles || !canvas.isConnected || viewport.width < 2) return;
    if (plot.ratio !== (devicePixelRatio || 1)) matrix.resized(); // it came onto another screen
    this.level = tiles.level(viewport.size * plot.ratio);
    const wanted = tiles.covering(this.level, viewport.seen);
    tiles.forget(wanted.length);
    const { effort } = matrix.cells;
    const size = ({ top, left, bottom, right }) => (bottom - top) * (right - left);
    const products = effort * wanted.reduce((sum, tile) => sum + size(tile), 0);
    const asking = tiles.host && this.level > 0 && products > HOSTS;
    const far = !asking && products > MOST;
    if (asking && !this.moving) tiles.request(wanted, () => this.schedule());
    const time = this.fresh ? AT_ONCE : this.moving ? BUSY : IDLE;
    if (!asking && !far) tiles.work(wanted, performance.now() + time);
    this.fresh = false;
    const missing = wanted.some((tile) => !tile.weights);
    this._updateColourMap(missing);
    plot.paint(this.scene(wanted));
    if (!missing) this.since = null;
    else this.since ??= performance.now();
    const slow = missing && performance.now() - this.since > SLOW;
    const state = far ? "far" : slow ? "slow" : missing ? "busy" : "done";
    this.told({ state, level: this.level, colourMap: this.colourMap, coarse: this.coarse, failed: tiles.failed });
    canvas.dataset.state = state;
    if (missing && !far && !asking) this.schedule();
    if (missing && !this.asked) this._fetch();
    if (!missing && !this.settled && !this.moving) {
      this.settled = true;
      this.later = setTimeout(this.rested, QUIET);
    }
  }

  /** What is to be painted; without the tiles that are wanted, those that cover what is seen. */
  scene(wanted = this.tiles.covering(this.level, this.matrix.viewport.seen)) {
    const { viewport, lines, at, gutter, ruler } = this.matrix;
    const there = wanted.filter((tile) => tile.weights);
    const missing = there.length < wanted.length;
    const others = missing ? this.tiles.others(this.level, viewport.seen) : [];
    return {
      viewport, gutter, ruler, colourMap: this.colourMap,
      layers: [
        ...(missing && this.ground && this.colourMap ? [{ ...this.ground, canvas: this.ground.drawn(this.colourMap) }] : []),
        ...others.map((tile) => this._layer(tile, tile.colourMap)),
        ...there.map((tile) => this._layer(tile, this.colourMap)),
      ],
      weight: this.level || !this.colourMap ? null : (row, column) => this.tiles.weight(row, column),
      lines: { rows: { ...lines.rows, at: at?.row ?? null }, columns: { ...lines.columns, at: at?.column ?? null } },
    };
  }

  _layer(tile, colourMap) {
    const dot = 2 ** tile.level;
    const pixels = this.matrix.viewport.size * this.plot.ratio * dot;
    const { top, left, bottom, right, hidden } = tile;
    const part = [0, 0, (right - left) / dot, (bottom - top) / dot];
    const smooth = pixels < 2.5 && pixels % 1 > 1e-6;
    return { canvas: tile.drawn(colourMap), top, left, bottom, right, hidden, part, smooth };
  }

  // The scale follows what has been seen of the matrix, but not each little change of it. What isn't there yet counts
  // as the overview has it.
  _updateColourMap(missing) {
    const { page, clipped } = this.matrix;
    const done = this.tiles.done(this.level);
    const before = this.colourMaps.get(this.level);
    const ground = missing ? this.ground : null;
    const looked = `${done.length} ${ground !== null}`;
    if ((done.length || ground) && before?.looked !== looked) {
      const { tops, sample } = this.tiles.measure(done, clipped);
      const seen = measured([...tops, ...(ground?.tops ?? [])], [...sample, ...(ground?.sample ?? [])]);
      const stays = before && Math.abs(before.colourMap.top / seen.top - 1) < 0.04 && done.length < 1.5 * before.count;
      const colourMap = stays ? before.colourMap : new ColourMap(page.state.scale, seen, page.dark, clipped.length > 0);
      this.colourMaps.set(this.level, { colourMap, count: stays ? before.count : done.length, looked });
    }
    this.colourMap = this.colourMaps.get(this.level)?.colourMap ?? this.colourMap;
    this.coarse = !done.length;
  }

  // The overview's picture of these heads, to be seen until the right ones are there.
  async _fetch() {
    this.asked = true;
    const { page, cells } = this.matrix;
    const { trace, state } = page;
    if (this.overviews?.trace !== trace) this.overviews = { trace, found: page.source.overview(trace) };
    const found = await this.overviews.found.catch(() => null); // then there is nothing to be seen meanwhile
    if (!found || cells !== this.matrix.cells || !this.tiles) return;
    const heads = typeof state.head === "number" ? [state.head] : [...Array(trace.heads).keys()];
    this.ground = preview(found, state.layer, heads, cells, this.matrix.clipped);
    this.schedule();
  }
}
