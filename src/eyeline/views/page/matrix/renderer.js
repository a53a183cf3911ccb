// The render loop of a matrix: has the visible tiles computed, paints those that are there, and keeps the colour map.

import { givenTiles } from "./given_tiles.js";
import { hasHostTiles, hostTiles } from "./host_tiles.js";
import { meansOf, preview, thumbnailOf } from "./preview.js";
import { Pyramid } from "./pyramid.js";
import { tileClient } from "./tile_client.js";
import { Tiles } from "./tiles.js";
import { ColourMap } from "./colour_map.js";
import { measured, scaleFor } from "./scale_choice.js";

const HELD = 120; // milliseconds for which the picture before stays while nothing of the next is there
const HOSTS = 2e10; // products from which the host computes, if it can
const HOSTS_SIDE = 256; // dots of a side of its coarse tiles: it makes large ones as fast as small ones
const WARM = 1024; // cells of a side that are computed ahead in a long text: the first call of the kernel takes longest
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
    this.fresh = 0; // since when these cells are wanted, while none is drawn yet
    /** @type {number | null} The time since when a tile has been missing. */
    this.since = null;
    /** @type {Tiles | null} */
    this.tiles = null;
    /** @type {DotSource | null} What computes these cells; null while their numbers aren't there. */
    this.dots = null;
    /** @type {Pyramid | null} */
    this.pyramid = null;
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
   * @param {RowParts} parts
   * @param {boolean} recorded
   * @param {StoredMeans | null} stored the means that the file has of their layer
   */
  begin(cells, parts, recorded, stored) {
    const { page } = this.matrix;
    const { state } = page;
    this.tiles?.stop();
    this.recorded = recorded;
    this.pyramid = stored && recorded ? this._pyramid(cells, stored) : null;
    /** @type {TileSource | null} */
    let source = null;
    this.dots = cells.waiting ? null : tileClient(page.kernel).table(cells, parts);
    const { dots } = this;
    if (dots) source = (tile, signal) => dots.means(tile, tile.level, signal);
    if (dots && this.pyramid) {
      const [bottom, right] = [cells.rows.length, cells.columns.length].map((count) => Math.min(count, WARM));
      dots.means({ top: 0, left: 0, bottom, right }, 3).catch(() => {}); // an error shows with the tiles
    }
    const far = cells.effort * cells.rows.length * cells.columns.length > HOSTS;
    const asks = !cells.waiting && recorded && far && page.header.can?.picture && hasHostTiles(cells.attention);
    if (cells.attention.heads.some(({ kernel }) => !kernel)) source = givenTiles(cells);
    if (asks && source) source = hostTiles(page, [state.trace, state.layer, state.head], cells, source);
    const plain = cells.whole && this.pyramid?.exact;
    this.tiles = new Tiles(cells, source, plain ? this.pyramid : null, asks ? HOSTS_SIDE : undefined);
    this.fresh = performance.now();
    this.since = null;
    this.recolour();
  }

  /** @param {Cells} cells @param {StoredMeans} stored */
  _pyramid({ attention }, stored) {
    const { state, trace } = this.matrix.page;
    const heads = typeof state.head === "number" ? [state.head] : [...Array(trace.heads).keys()];
    return new Pyramid(stored, heads, attention.reduce, attention.heads);
  }

  /** Drop the colour maps: the scale, the clipped columns or the theme has changed. */
  recolour() {
    this.colourMaps = new Map();
    this.colourMap = null;
    this.preview = null;
    this.asked = false;
  }

  /** Ask for the tiles in sight before they can be drawn, where other cells take the place of as many. */
  ask() {
    const { tiles, plot, matrix: { viewport, cells } } = this;
    if (!tiles || viewport.rows !== cells?.rows.length || viewport.columns !== cells.columns.length) return;
    const level = tiles.level(viewport.size * plot.ratio);
    tiles.request(tiles.covering(level, viewport.seen), () => this.schedule());
  }

  /** Draw with the next frame. */
  schedule() {
    if (!this.frame) this.frame = requestAnimationFrame(() => this.draw());
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.tiles?.stop();
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
    tiles.request(wanted, () => this.schedule());
    const beside = this._beside(parts);
    const there = wanted.filter((tile) => tile.weights).length;
    const missing = there < wanted.length;
    const under = missing ? this._under(tiles) : [];
    if (missing && !under.length && !this.asked && this.recorded) this._fetch();
    this._updateColourMap(tiles, under, missing);
    if (this.fresh && !there && !under.length && !this.preview && !tiles.failed && performance.now() - this.fresh < HELD) {
      this.schedule();
      return;
    }
    this.fresh = 0;
    plot.paint(this.scene(wanted));
    this.since = missing ? (this.since ?? performance.now()) : null;
    const slow = this.since !== null && performance.now() - this.since > SLOW;
    const state = slow ? "slow" : missing || !beside ? "busy" : "done";
    const { level, colourMap, coarse } = this;
    this.told({ state, level, colourMap, coarse, failed: tiles.failed, share: there / wanted.length });
    canvas.dataset.state = cells.waiting ? "waiting" : state;
    canvas.dataset.tiles = String(tiles.begun);
    if (missing && !slow && !tiles.failed) this.schedule();
  }

  /**
   * The dot that shows a cell: its side in cells, its mean, and whether that is a stored one, which is rounded. Null
   * where each cell is shown, or nothing is known yet.
   * @param {number} row
   * @param {number} column
   */
  dotAt(row, column) {
    const { tiles, level } = this;
    if (!tiles) return null;
    const base = tiles.pyramid?.level ?? 0;
    const of = tiles.dot(level, row, column) === undefined && base > level ? base : level;
    const mean = tiles.dot(of, row, column);
    if (!of || mean === undefined || Number.isNaN(mean)) return null;
    return { side: 2 ** of, mean, stored: base > 0 && of >= base };
  }

  /** Ask for what the grey column lacks; returns whether it has all. @param {RowParts} parts */
  _beside(parts) {
    const { grey, viewport: { seen } } = this.matrix;
    const { dots } = this;
    if (!grey || !dots) return true;
    return parts.request(seen.top, seen.bottom, (top, bottom) => dots.aside(top, bottom), () => this.schedule());
  }

  /** The tiles of stored means under those that are missing. @param {Tiles} tiles */
  _under(tiles) {
    return tiles.pyramid ? tiles.covering(tiles.pyramid.level, this.matrix.viewport.seen) : [];
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
    const stored = missing ? this._under(tiles) : [];
    return {
      viewport, gutter, ruler, colourMap,
      layers: [
        ...(missing && under && colourMap ? [{ ...under, canvas: under.drawn(colourMap) }] : []),
        ...(colourMap ? stored.map((tile) => this._layer(tile, colourMap)) : []),
        ...others.flatMap((tile) => (tile.colourMap ? [this._layer(tile, tile.colourMap)] : [])),
        ...(colourMap ? there.map((tile) => this._layer(tile, colourMap)) : []),
      ],
      weight: this.level || !colourMap ? null : (row, column) => tiles.dot(0, row, column),
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
   * Update the colour map from the finished tiles, but not for small changes. For missing tiles stored means count, or
   * the preview.
   * @param {Tiles} tiles
   * @param {Tile[]} stored
   * @param {boolean} missing
   */
  _updateColourMap(tiles, stored, missing) {
    const { page, clipped } = this.matrix;
    const done = tiles.done(this.level);
    const before = this.colourMaps.get(this.level);
    const under = missing && !stored.length ? this.preview : null;
    const looked = `${done.length} ${under !== null} ${stored.length}`;
    if ((done.length || under || stored.length) && before?.looked !== looked) {
      const { tops, sample } = tiles.measure([...done, ...stored], clipped);
      const seen = measured([...tops, ...(under?.tops ?? [])], [...sample, ...(under?.sample ?? [])]);
      const scale = scaleFor(page.state.scale, seen);
      const stays = before && same(before.colourMap.scale, scale) && done.length < 1.5 * before.count;
      const colourMap = stays ? before.colourMap : new ColourMap(scale, seen.sample, page.dark, clipped.length > 0);
      this.colourMaps.set(this.level, { colourMap, count: stays ? before.count : done.length, looked });
    }
    this.colourMap = this.colourMaps.get(this.level)?.colourMap ?? this.colourMap;
    this.coarse = !done.length;
  }

  // The preview, shown until the tiles are finished: of stored means, or the overview's picture of these heads.
  async _fetch() {
    this.asked = true;
    const { page, cells } = this.matrix;
    const { trace, state } = page;
    if (!cells) return;
    const picture = this.pyramid ? meansOf(this.pyramid) : await this._thumbnail(trace, state, cells);
    if (!picture || cells !== this.matrix.cells || !this.tiles) return;
    this.preview = preview(picture, cells, this.matrix.clipped);
    this.schedule();
  }

  /**
   * @param {Trace} trace
   * @param {Readonly<State>} state
   * @param {Cells} cells
   */
  async _thumbnail(trace, { layer, head }, cells) {
    const overviews = this.overviews?.trace === trace
      ? this.overviews
      : { trace, found: this.matrix.page.host.overview(trace) };
    this.overviews = overviews;
    const found = await overviews.found.catch(() => null); // without a preview nothing is shown meanwhile
    const heads = typeof head === "number" ? [head] : [...Array(trace.heads).keys()];
    return found && thumbnailOf(found, layer, heads, cells);
  }
}
