// The matrix of one head: each row is a query, and shares out what it gives over the keys.

import { Ruler, labelled, widest } from "./axes.js";
import { backdrop } from "./backdrop.js";
import { Cells } from "./cells.js";
import { createControls } from "./controls.js";
import { element } from "./dom.js";
import { gestures } from "./gestures.js";
import { matrixKeys } from "./matrixkeys.js";
import { matrixPicture } from "./matrixpicture.js";
import { hosted } from "./hosted.js";
import { Plot, font, inks } from "./plot.js";
import { createReadout } from "./readout.js";
import { suggestion } from "./sink.js";
import { Tiles } from "./tiles.js";
import { Tone, measured } from "./tones.js";
import { Viewport } from "./viewport.js";

const AT_ONCE = 60; // milliseconds that a first picture may take
const BUSY = 5; // milliseconds of work in a frame while something moves
const IDLE = 11; // and while nothing does
const MOST = 16e9; // products that this page does for what is seen; beyond, one has to zoom in
const HOSTS = 5e8; // products from which a host that can is asked
const QUIET = 150; // milliseconds from a picture to the search for a column that takes most
const TABLE = 4e6; // cells that a table may have
const WIDE = 760; // pixels from which what stands beside the matrix stands at its right, in
const SIDE = 308; // pixels
const CELL = 56; // pixels of a cell, at most, where all of them are seen

/** The matrix view. */
export const createMatrix = (page) => {
  const canvas = element("canvas", { tabindex: 0, role: "application", class: "matrix-canvas" });
  const [root, board] = [element("div", { class: "matrix" }), element("div", { class: "matrix-board" }, canvas)];
  const [viewport, plot] = [new Viewport(), new Plot(canvas)];
  const self = {
    page, viewport, canvas,
    cells: null, // of what is shown; null until it is there
    tiles: null,
    at: null, // the cell that is pointed at, {row, column}
    clipped: [], // places of the columns that are clipped
    tone: null,
    level: 0,
  };
  let [name, restored, drawnBox, gutter, ruler] = ["", undefined, null, null, null];
  let [frame, later, moving, fresh, settled, destroyed] = [0, 0, false, true, false, false];
  let [pictures, ground, tones, lines, sink] = [null, null, new Map(), null, undefined];

  const draw = () => {
    cancelAnimationFrame(frame);
    frame = 0;
    if (destroyed || !self.tiles || !canvas.isConnected || viewport.width < 2) return;
    const { tiles } = self;
    const level = tiles.level(viewport.size * plot.ratio);
    const wanted = tiles.covering(level, viewport.seen);
    tiles.forget(wanted.length);
    const effort = wanted.reduce((sum, tile) => sum + (tile.bottom - tile.top) * (tile.right - tile.left), 0) * self.cells.effort;
    const asking = tiles.host && level > 0 && effort > HOSTS;
    const tooMany = !asking && effort > MOST;
    if (asking && !moving) tiles.request(wanted, schedule);
    else if (!asking && !tooMany) tiles.work(wanted, performance.now() + (fresh ? AT_ONCE : moving ? BUSY : IDLE));
    fresh = false;
    const missing = wanted.some((tile) => !tile.weights);
    retone(level);
    self.level = level;
    plot.paint(scene(level, wanted, missing));
    const state = tooMany ? "far" : missing ? "busy" : "done";
    controls.show({ state, level, tone: self.tone, failed: tiles.failed });
    canvas.dataset.state = state;
    if (missing && !tooMany && !asking) schedule();
    if (missing && !ground) fetchGround();
    if (!missing && !settled && !moving) {
      settled = true;
      later = setTimeout(settle, QUIET);
    }
  };
  const schedule = () => {
    if (!frame) frame = requestAnimationFrame(draw);
  };

  // The scale follows what has been seen, but not each little change of it.
  const retone = (level) => {
    const done = self.tiles.done(level);
    const before = tones.get(level);
    if (done.length && before?.looked !== done.length) {
      const found = self.tiles.measure(done, self.clipped);
      const seen = measured(found.tops, found.sample);
      const stays = before && Math.abs(before.tone.top / seen.top - 1) < 0.04 && done.length < 1.5 * before.count;
      const tone = stays ? before.tone : new Tone(page.state.scale, seen, page.dark);
      tone.clips = self.clipped.length > 0;
      tones.set(level, { tone, count: stays ? before.count : done.length, looked: done.length });
    }
    self.tone = tones.get(level)?.tone ?? ground?.tone ?? null;
  };

  const layer = (tile, tone) => {
    const dot = 2 ** tile.level;
    return {
      ...tile, canvas: tile.drawn(tone), smooth: viewport.size * plot.ratio * dot < 2.5 && (viewport.size * plot.ratio * dot) % 1 > 1e-6,
      part: [0, 0, (tile.right - tile.left) / dot, (tile.bottom - tile.top) / dot],
    };
  };

  const scene = (level, wanted, missing) => {
    const { tiles } = self;
    const behind = missing ? tiles.others(level, viewport.seen).map((tile) => layer(tile, tile.tone)) : [];
    const layers = wanted.filter((tile) => tile.weights).map((tile) => layer(tile, self.tone));
    return {
      viewport, gutter, ruler, tone: self.tone,
      layers: [...(missing && ground ? [ground] : []), ...behind, ...layers],
      weight: level || !self.tone ? null : (row, column) => tiles.weight(row, column),
      lines: {
        rows: { ...lines.rows, at: self.at?.row ?? null },
        columns: { ...lines.columns, at: self.at?.column ?? null },
      },
    };
  };

  // What is asked for only where there is time: the small picture to be seen meanwhile, and what takes most of the weight.
  const fetchGround = async () => {
    const { trace, state } = page;
    const mine = name;
    ground = { canvas, part: [0, 0, 0, 0], top: 0, left: 0, bottom: 0, right: 0 };
    if (pictures?.trace !== trace) pictures = { trace, found: await page.source.overview(trace) };
    if (mine !== name || destroyed) return;
    const heads = typeof state.head === "number" ? [state.head] : Array.from({ length: trace.heads }, (_, head) => head);
    ground = backdrop(pictures.found, state.layer, heads, self.cells, state.scale, page.dark);
    schedule();
  };
  const settle = () => {
    if (destroyed) return;
    sink = suggestion(self.cells);
    controls.update(sink);
  };

  const adopt = (sight) => {
    clearTimeout(later);
    const [rows, columns] = [page.shown(sight.queries), page.shown(sight.keys)];
    self.cells = new Cells(sight, rows, columns);
    const place = [page.state.trace, page.state.layer, page.state.head];
    self.tiles = new Tiles(self.cells, page.header.can?.picture ? hosted(page, place, self.cells) : null);
    Object.assign(self, { tone: null, at: self.at && self.at.row < rows.length && self.at.column < columns.length ? self.at : null });
    tones = new Map();
    [ground, fresh, settled, sink, restored] = [null, true, false, undefined, undefined];
    const line = (units, shown) => ({
      units: shown.map((at) => units[at]),
      labels: shown.map((at) => labelled(units[at])),
      numbers: shown.map((at) => at + 1),
      wide: null, // pixels of the widest label
    });
    lines = { rows: line(sight.queries, rows), columns: line(sight.keys, columns) };
    self.lines = lines;
  };

  // Which rows and columns are pinned and clipped.
  const mark = () => {
    const { token, toward, clipped } = page.state;
    const places = (units, tokens) => units.flatMap((unit, at) => (tokens.some((one) => unit.first <= one && one < unit.last) ? [at] : []));
    const pinned = (own, units) => new Set(token !== null && toward === own ? places(units, [token]) : []);
    const now = clipped.length ? places(lines.columns.units, clipped) : [];
    if (String(now) !== String(self.clipped)) [self.clipped, tones] = [now, new Map()];
    Object.assign(lines.rows, { marked: new Set(), pinned: pinned("from", lines.rows.units) });
    Object.assign(lines.columns, { marked: new Set(self.clipped), pinned: pinned("to", lines.columns.units) });
  };

  const layout = () => {
    if (!self.cells || !root.clientWidth) return;
    const [rows, columns] = [lines.rows.labels.length, lines.columns.labels.length];
    const family = getComputedStyle(board).fontFamily;
    if (ruler?.family !== family) ruler = Object.assign(new Ruler(font(family, true)), { family });
    const room = root.clientWidth - (root.clientWidth >= WIDE ? SIDE : 0);
    const narrow = room < 520;
    for (const line of [lines.rows, lines.columns]) line.wide ??= widest(ruler, line.labels);
    const left = Math.ceil(Math.min(Math.max(lines.rows.wide + 16, 44), narrow ? 92 : 150));
    const [width, height] = [Math.max(room - left - 4, 60), Math.min(Math.max(innerHeight * 0.74, 320), 880)];
    const size = Math.min(width / columns, height / rows, CELL);
    const { wide } = lines.columns;
    const turned = wide > size - 8;
    const top = turned ? Math.ceil(Math.min(Math.max(wide + 18, 40), narrow ? 92 : 132)) : 32;
    const ratio = devicePixelRatio || 1;
    gutter = { left, top, turned };
    viewport.resize({ rows, columns, width: Math.min(columns * size, width), height: rows * size, snap: ratio });
    const least = viewport.least;
    viewport.width = Math.min(Math.max(columns * least, Math.min(160, columns * CELL)), width);
    viewport.height = Math.min(Math.max(rows * least, Math.min(160, rows * CELL)), height);
    plot.resize(left + viewport.width + 4, top + viewport.height + 4, ratio, inks(canvas), family);
  };

  const rest = () => {
    moving = false;
    const { box } = viewport;
    if (JSON.stringify(box) !== JSON.stringify(page.state.box)) {
      restored = JSON.stringify(box);
      page.set({ box });
    }
    controls.showPlace();
    schedule();
  };
  const moved = () => {
    moving = true;
    canvas.style.touchAction = viewport.whole ? "pan-x pan-y" : "none";
    schedule();
  };

  Object.assign(self, {
    /** Point at a cell, or at none; by keyboard it is said aloud, and moved into sight. */
    point(at, spoken = false) {
      if (at?.row === self.at?.row && at?.column === self.at?.column) return;
      self.at = at;
      if (at && spoken) viewport.reveal(at.row, at.column);
      const text = readout.show(at);
      if (spoken && text) page.announce(text);
      schedule();
    },
    /** Pin the query of a row, or let it go. */
    pin(row) {
      const { first } = lines.rows.units[row];
      page.set(lines.rows.pinned.has(row) ? { token: null } : { token: first, toward: "from" });
    },
    /** Leave a column out of the scale, or count it again. */
    clip(column) {
      const { first, last } = lines.columns.units[column];
      const { clipped } = page.state;
      const inside = (token) => first <= token && token < last;
      const on = !clipped.some(inside);
      page.set({ clipped: on ? [...clipped, first] : clipped.filter((token) => !inside(token)) });
      page.announce(page.say(on ? "matrix.clipped" : "matrix.unclipped", { key: lines.columns.labels[column] }));
    },
    zoom(factor, x, y) {
      viewport.zoom(factor, x, y);
      rest();
    },
    fit() {
      viewport.show(null);
      rest();
    },
    rest,
  });
  const readout = createReadout(self);
  const controls = createControls(self);
  root.append(board, element("div", { class: "matrix-side" }, readout.element, controls.element));

  const inside = (x, y) => [x - gutter.left, y - gutter.top];
  const stop = gestures(canvas, {
    pan(x, y) {
      viewport.pan(x, y);
      moved();
    },
    zoom(factor, x, y) {
      viewport.zoom(factor, ...inside(x, y));
      moved();
    },
    point(x, y) {
      const at = gutter && viewport.at(...inside(x, y));
      canvas.style.cursor = at ? "" : "pointer";
      if (gutter) self.point(at);
    },
    leave: () => self.point(null),
    press(x, y) {
      if (!gutter) return;
      const [a, b] = inside(x, y);
      const at = viewport.at(Math.max(a, 0), Math.max(b, 0));
      if (!at || (a < 0 && b < 0)) return;
      if (b < 0) self.clip(at.column);
      else {
        if (a >= 0) self.point(at);
        self.pin(at.row);
      }
    },
    rest,
  });
  canvas.addEventListener("keydown", (event) => matrixKeys(self, event));
  const resized = () => {
    layout();
    if (self.cells) viewport.show(page.state.box);
    schedule();
  };
  const watched = new ResizeObserver(resized);
  watched.observe(root);
  addEventListener("resize", resized); // its height, or the pixels of a pixel

  return {
    element: root,
    async update() {
      const { trace, layer: at, head, unit, special, scale, box } = page.state;
      const wanted = [trace, at, head, unit, special].join(" ");
      canvas.setAttribute("aria-label", page.say("matrix.aria"));
      canvas.setAttribute("aria-describedby", `${page.id}-matrix-how`);
      if (wanted !== name) {
        name = wanted;
        const late = setTimeout(() => controls.show({ state: "loading" }), 200);
        try {
          const sight = await page.sight();
          if (name !== wanted || destroyed) return;
          adopt(sight);
        } catch (error) {
          if (name === wanted) name = "";
          throw error;
        } finally {
          clearTimeout(late);
        }
      }
      if (!self.cells || destroyed) return;
      mark();
      const colours = `${scale} ${page.dark}`;
      if (drawnBox !== colours) [drawnBox, tones, ground] = [colours, new Map(), null];
      layout();
      if (restored !== JSON.stringify(box)) {
        restored = JSON.stringify(box);
        viewport.show(box);
      }
      canvas.style.touchAction = viewport.whole ? "pan-x pan-y" : "none";
      controls.update(sink);
      readout.show(self.at);
      draw();
    },
    numbers() {
      const { top, left, bottom, right } = viewport.seen;
      if ((bottom - top) * (right - left) > TABLE) throw new Error(page.say("matrix.many"));
      const block = self.cells.block(top, bottom, left, right);
      const width = right - left;
      const named = (line, place) => `${line.numbers[place]} ${line.labels[place]}`;
      return {
        name: "matrix",
        columns: [page.say("matrix.query"), ...Array.from({ length: width }, (_, at) => named(lines.columns, left + at))],
        rows: Array.from({ length: bottom - top }, (_, row) => [
          named(lines.rows, top + row),
          ...Array.from(block.subarray(row * width, (row + 1) * width), (weight) => (Number.isNaN(weight) ? null : weight)),
        ]),
      };
    },
    picture: () => matrixPicture(self, plot, gutter, scene(self.level, self.tiles.covering(self.level, viewport.seen), true)),
    destroy() {
      destroyed = true;
      stop();
      watched.disconnect();
      removeEventListener("resize", resized);
      cancelAnimationFrame(frame);
    },
  };
};
