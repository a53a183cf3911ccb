// The render loop of a matrix: computes tiles as time allows, and keeps the colour map up to date.

import { preview } from "./preview.js";
import { hostTiles } from "./host_tiles.js";
import { Tiles } from "./tiles.js";
import { ColourMap } from "./colour_map.js";
import { measured, scaleFor } from "./scale_choice.js";

const AT_ONCE = 60; // milliseconds of work for a first picture
const BUSY = 5; // milliseconds of work in a frame while something moves
const IDLE = 30; // milliseconds of work in a frame while nothing moves
const MOST = 16e9; // the largest number of products for the visible part; beyond, the user has to zoom in
const HOSTS = 5e8; // products from which the host computes, if it can
const SLOW = 400; // milliseconds until the page says that it is computing

/**
 * The colour map of a level, and the inputs that it was made for.
 * @typedef {{ colourMap: ColourMap, count: number, looked: string }} Known
 */

/**
 * Whether two scales give the same colours; by rank, about the same.
 * @type {(one: Scale, other: Scale) => boolean}
 */
const same = (one, other) =>
  one.kind === "rank" && other.kind === "rank"
    ? Math.abs(one.most / other.most - 1) < 0.04
    : one.kind === other.kind && one.from === other.from && one.end === other.end && one.most === other.most;

/** Draws a matrix. */
export class Renderer {
  /**
   * @param {Matrix} matrix
   * @param {Plot} plot
   * @param {(drawn: Drawn) => void} told is called after each frame with its result
   */
  constructor(matrix, plot, told) {
    this.matrix = matrix;
    this.plot = plot;
    this.told = told;
    this.frame = 0;
    this.moving = false;
    this.recorded = true;
    this.fresh = true; // whether none of these cells is drawn yet
    /** @type {number | null} The time since when a tile has been missing. */
    this.since = null;
    /** @type {Tiles | null} */
    this.tiles = null;
    /** @type {{ trace: Trace, found: Promise<Pictures> } | null} */
    this.overviews = null;
    this.level = 0;
    this.coarse = false;
    /** @type {Map<number, Known>} */
    this.colourMaps = new Map();
    /** @type {ColourMap | null} */
    this.colourMap = null;
    /** @type {ReturnType<typeof preview> | null} */
    this.preview = null;
    this.asked = false; // whether the preview was requested
  }

  /**
   * Start with other cells; the host and the overview have only weights, as recorded.
   * @param {Cells} cells
   * @param {boolean} recorded
   */
  begin(cells, recorded) {
    const { page } = this.matrix;
    this.recorded = recorded;
    /** @type {Place} */
    const place = [page.state.trace, page.state.layer, page.state.head];
    this.tiles = new Tiles(cells, recorded && page.header.can?.picture ? hostTiles(page, place, cells) : null);
    this.fresh = true;
    this.since = null;
    this.recolour();
  }

  /** Drop the colour maps: the scale, the clipped columns or the theme has changed. */
  recolour() {
    this.colourMaps = new Map();
    this.colourMap = null;
    this.preview = null;
    this.asked = false;
  }

  /** Draw with the next frame. */
  schedule() {
    if (!this.frame) this.frame = requestAnimationFrame(() => this.draw());
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.tiles = null;
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const { tiles, plot, matrix } = this;
    const { viewport, canvas, cells, parts } = matrix;
    if (!tiles || !cells || !parts || !canvas.isConnected || viewport.width < 2) return;
    if (plot.ratio !== (devicePixelRatio || 1)) matrix.resized(); // the window moved to another screen
    this.level = tiles.level(viewport.size * plot.ratio);
    const wanted = tiles.covering(this.level, viewport.seen);
    tiles.forget(wanted.length);
    /** @type {(tile: Tile) => number} */
    const size = ({ top, left, bottom, right }) => (bottom - top) * (right - left);
    const products = cells.effort * wanted.reduce((sum, tile) => sum + size(tile), 0);
    const asking = tiles.host && this.level > 0 && products > HOSTS;
    const far = !asking && products > MOST;
    if (asking && !this.moving) tiles.request(wanted, () => this.schedule());
    const time = this.fresh ? AT_ONCE : this.moving ? BUSY : IDLE;
    const until = performance.now() + time;
    if (!asking && !far) tiles.work(wanted, until);
    const beside = matrix.grey ? parts.work(viewport.seen.top, viewport.seen.bottom, until + BUSY) : true;
    this.fresh = false;
    const missing = wanted.some((tile) => !tile.weights);
    this._updateColourMap(tiles, missing);
    plot.paint(this.scene(wanted));
    this.since = missing ? (this.since ?? performance.now()) : null;
    const slow = this.since !== null && performance.now() - this.since > SLOW;
    const state = far ? "far" : slow ? "slow" : missing || !beside ? "busy" : "done";
    this.told({ state, level: this.level, colourMap: this.colourMap, coarse: this.coarse, failed: tiles.failed });
    canvas.dataset.state = state;
    if ((missing && !far && !asking) || !beside) this.schedule();
    if (missing && !this.asked && this.recorded) this._fetch();
  }

  /**
   * The scene to paint, from the wanted tiles; by default those that cover the visible part.
   * @param {Tile[]} [wanted]
   * @returns {Scene}
   */
  scene(wanted) {
    const { viewport, lines, at, gutter, ruler, parts, grey } = this.matrix;
    const { tiles, colourMap, preview: under } = this;
    if (!tiles || !lines || !gutter || !ruler) throw new Error(this.matrix.page.say("loading"));
    const covering = wanted ?? tiles.covering(this.level, viewport.seen);
    const there = covering.filter((tile) => tile.weights);
    const missing = there.length < covering.length;
    const others = missing ? tiles.others(this.level, viewport.seen) : [];
    return {
      viewport, gutter, ruler, colourMap,
      layers: [
        ...(missing && under && colourMap ? [{ ...under, canvas: under.drawn(colourMap) }] : []),
        ...others.flatMap((tile) => (tile.colourMap ? [this._layer(tile, tile.colourMap)] : [])),
        ...(colourMap ? there.map((tile) => this._layer(tile, colourMap)) : []),
      ],
      weight: this.level || !colourMap ? null : (row, column) => tiles.weight(row, column),
      aside: grey && parts ? { ...grey, numbers: parts.aside } : null,
      lines: { rows: { ...lines.rows, at: at?.row ?? null }, columns: { ...lines.columns, at: at?.column ?? null } },
    };
  }

  /**
   * @param {Tile} tile
   * @param {ColourMap} colourMap
   * @returns {Layer}
   */
  _layer(tile, colourMap) {
    const dot = 2 ** tile.level;
    const pixels = this.matrix.viewport.size * this.plot.ratio * dot;
    const { top, left, bottom, right, hidden } = tile;
    const smooth = pixels < 2.5 && pixels % 1 > 1e-6;
    return {
      canvas: tile.drawn(colourMap), part: [0, 0, (right - left) / dot, (bottom - top) / dot],
      top, left, bottom, right, hidden, smooth,
    };
  }

  /**
   * Update the colour map from the finished tiles, but not for small changes. For missing tiles the preview counts.
   * @param {Tiles} tiles
   * @param {boolean} missing
   */
  _updateColourMap(tiles, missing) {
    const { page, clipped } = this.matrix;
    const done = tiles.done(this.level);
    const before = this.colourMaps.get(this.level);
    const under = missing ? this.preview : null;
    const looked = `${done.length} ${under !== null}`;
    if ((done.length || under) && before?.looked !== looked) {
      const { tops, sample } = tiles.measure(done, clipped);
      const seen = measured([...tops, ...(under?.tops ?? [])], [...sample, ...(under?.sample ?? [])]);
      const scale = scaleFor(page.state.scale, seen);
      const stays = before && same(before.colourMap.scale, scale) && done.length < 1.5 * before.count;
      const colourMap = stays ? before.colourMap : new ColourMap(scale, seen.sample, page.dark, clipped.length > 0);
      this.colourMaps.set(this.level, { colourMap, count: stays ? before.count : done.length, looked });
    }
    this.colourMap = this.colourMaps.get(this.level)?.colourMap ?? this.colourMap;
    this.coarse = !done.length;
  }

  // The overview's picture of these heads, shown until the tiles are finished.
  async _fetch() {
    this.asked = true;
    const { page, cells } = this.matrix;
    const { trace, state } = page;
    const overviews = this.overviews?.trace === trace ? this.overviews : { trace, found: page.host.overview(trace) };
    this.overviews = overviews;
    const found = await overviews.found.catch(() => null); // without a preview nothing is shown meanwhile
    if (!found || !cells || cells !== this.matrix.cells || !this.tiles) return;
    const heads = typeof state.head === "number" ? [state.head] : [...Array(trace.heads).keys()];
    this.preview = preview(found, state.layer, heads, cells, this.matrix.clipped);
    this.schedule();
  }
}
