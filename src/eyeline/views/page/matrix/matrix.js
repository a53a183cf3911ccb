// The matrix view: the weights of a head, a row per query and a column per key.

import { createCellDetails } from "./cell_details.js";
import { Cells } from "./cells.js";
import { createControls } from "./controls.js";
import { element } from "../drawing/dom.js";
import { findingOf } from "./finding.js";
import { gestures } from "./gestures.js";
import { heavyColumns } from "./heavy_columns.js";
import { isolated, labelled } from "../drawing/labels.js";
import { onMatrixKey } from "./keyboard.js";
import { outlineOf } from "./outline.js";
import { matrixSvg } from "./matrix_svg.js";
import { layOut } from "./layout.js";
import { Plot } from "./plot.js";
import { Renderer } from "./renderer.js";
import { RowParts } from "./row_parts.js";
import { createSide } from "./side.js";
import { Viewport } from "./viewport.js";

const TABLE = 4e6; // the largest number of cells in a table
const LATE = 200; // milliseconds until the page says that it is waiting

/** @type {(units: Unit[], shown: number[]) => Axis} */
const line = (units, shown) => ({
  title: "",
  units: shown.map((at) => units[at]),
  labels: shown.map((at) => labelled(units[at])),
  numbers: shown.map((at) => at + 1),
  wide: null, // pixels of the widest label
  marked: new Set(), // the clipped indices
  pinned: new Set(),
});

/** @type {(units: Unit[], tokens: number[]) => number[]} */
const places = (units, tokens) =>
  units.flatMap((unit, at) => (tokens.some((token) => unit.first <= token && token < unit.last) ? [at] : []));

/** The matrix view. @type {(page: Page) => View} */
export const createMatrix = (page) => {
  const canvas = element("canvas", { tabindex: 0, role: "application", class: "matrix-canvas" });
  const root = element("div", { class: "matrix-view" });
  const [viewport, plot] = [new Viewport(), new Plot(canvas)];
  let wantedName = ""; // the key of the wanted or loaded weights
  let colours = ""; // the key of the colours
  let destroyed = false;
  let recorded = true; // whether the weights are the model's own
  /** @type {string | undefined} The shown box. */
  let shown;

  const rest = () => {
    renderer.moving = false;
    const { box } = viewport;
    if (JSON.stringify(box) !== JSON.stringify(page.state.box)) {
      shown = JSON.stringify(box);
      page.set({ box });
    }
    controls.showPlace();
    side.showPlace();
    renderer.schedule();
  };
  const moved = () => {
    renderer.moving = true;
    canvas.style.touchAction = viewport.whole ? "pan-x pan-y" : "none";
    readout.show(matrix.at);
    renderer.schedule();
  };

  const resized = () => {
    if (!matrix.cells || !root.clientWidth) return;
    layOut(root, matrix, plot);
    viewport.show(page.state.box);
    renderer.schedule();
  };

  /** @type {Matrix} */
  const matrix = {
    page, viewport, canvas,
    cells: null,
    parts: null,
    grey: null,
    sinks: [],
    lines: null,
    at: null, // the cell under the pointer or the cursor
    clipped: [], // the indices of the clipped columns
    gutter: null,
    ruler: null,
    resized,
    /** Point at a cell, or at none; by keyboard the cell is announced and moved into view. */
    point(at, spoken = false) {
      if (at?.row === matrix.at?.row && at?.column === matrix.at?.column) return;
      matrix.at = at;
      if (at && spoken) viewport.reveal(at.row, at.column);
      const text = readout.show(at, spoken);
      if (spoken && text) page.announce(text);
      renderer.schedule();
    },
    /** The dot that shows a cell, where dots are means of several. */
    dotAt: ({ row, column }) => renderer.dotAt(row, column),
    /** Pin or unpin the query of a row. */
    pin(row) {
      if (!matrix.lines) return;
      const { units, pinned } = matrix.lines.rows;
      page.set(pinned.has(row) ? { token: null } : { token: units[row].first, toward: "from" });
    },
    /** Clip a column, leaving it out of the scale, or unclip it. */
    clip(column) {
      if (!matrix.lines) return;
      const { units, labels } = matrix.lines.columns;
      const { first, last } = units[column];
      const before = page.state.clipped ?? matrix.clipped.map((at) => units[at].first);
      const others = before.filter((token) => token < first || token >= last);
      const on = others.length === before.length;
      page.set({ clipped: on ? [...others, first] : others });
      page.announce(page.say(on ? "matrix.clipped" : "matrix.unclipped", { key: isolated(labels[column]) }));
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
  };
  const readout = createCellDetails(matrix);
  const [controls, side] = [createControls(matrix), createSide(matrix)];
  const renderer = new Renderer(matrix, plot, side.show);
  root.append(element("div", { class: "matrix-board" }, canvas, readout.element), side.element, controls.element);

  /**
   * A point of the canvas, relative to the corner of the cells.
   * @type {(x: number, y: number) => [x: number, y: number]}
   */
  const inside = (x, y) => [x - (matrix.gutter?.left ?? 0), y - (matrix.gutter?.top ?? 0)];
  const stop = gestures(canvas, {
    pan(x, y) {
      viewport.pan(x, y);
      moved();
    },
    zoom(factor, x, y) {
      if (!matrix.gutter) return;
      viewport.zoom(factor, ...inside(x, y));
      moved();
    },
    point(x, y) {
      if (!matrix.gutter) return;
      const at = viewport.at(...inside(x, y));
      canvas.style.cursor = at ? "" : "pointer";
      matrix.point(at);
    },
    leave: () => matrix.point(null),
    press(x, y) {
      if (!matrix.gutter) return;
      const [a, b] = inside(x, y);
      const at = viewport.at(Math.max(a, 0), Math.max(b, 0));
      if (!at || (a < 0 && b < 0)) return;
      if (b < 0) {
        matrix.clip(at.column);
        return;
      }
      if (a >= 0) matrix.point(at);
      matrix.pin(at.row);
    },
    rest,
  });
  canvas.addEventListener("keydown", (event) => onMatrixKey(matrix, event));
  const watched = new ResizeObserver(resized);
  watched.observe(root);
  addEventListener("resize", resized); // of the window's height, or of the device's pixels

  // Set other weights: of another head, or between other units; waiting for their numbers, as far as they are known.
  /** @type {(attention: AttentionMap, stored: StoredMeans | null, waiting?: boolean) => void} */
  const adopt = (attention, stored, waiting = false) => {
    const { special } = page.state;
    const [rows, columns] = [page.shown(attention.queries), page.shown(attention.keys)];
    const parts = new RowParts(attention, rows, columns);
    const total = special === "out" && parts.others.length ? (/** @type {number} */ row) => parts.shown(row) : null;
    const cells = new Cells(attention, rows, columns, total, waiting);
    matrix.cells = cells;
    matrix.parts = parts;
    matrix.sinks = [];
    matrix.lines = { rows: line(attention.queries, rows), columns: line(attention.keys, columns) };
    if (matrix.at && (matrix.at.row >= rows.length || matrix.at.column >= columns.length)) matrix.at = null;
    shown = undefined;
    recorded = !attention.changed;
    renderer.begin(cells, parts, total === null && recorded, stored);
  };
  // Show the stored means of a long text until its numbers are there; returns them.
  /** @type {(current: () => boolean) => Promise<StoredMeans | null>} */
  const outlined = async (current) => {
    const { trace, state } = page;
    if (!trace.pyramid) return null;
    const stored = await page.host.means(trace, state.layer);
    const outline = outlineOf(page);
    if (!outline || !current()) return stored;
    adopt(outline, stored, true);
    settle();
    return stored;
  };
  /** @type {(lines: { rows: Axis, columns: Axis }) => void} */
  const mark = ({ rows, columns }) => {
    const { token, toward, clipped } = page.state;
    const now = clipped ? places(columns.units, clipped) : matrix.sinks.map(({ column }) => column);
    const look = `${now} ${page.state.scale} ${page.dark}`;
    matrix.clipped = String(now) === String(matrix.clipped) ? matrix.clipped : now;
    columns.marked = new Set(now);
    [rows.title, columns.title] = [page.say("matrix.query"), page.say("matrix.key")];
    rows.pinned = new Set(token !== null && toward === "from" ? places(rows.units, [token]) : []);
    columns.pinned = new Set(token !== null && toward === "to" ? places(columns.units, [token]) : []);
    if (look === colours) return;
    colours = look;
    renderer.recolour();
  };

  // Show what is known, with the marks and the box of the state.
  const settle = () => {
    if (!matrix.lines || destroyed) return;
    const { box } = page.state;
    mark(matrix.lines);
    layOut(root, matrix, plot);
    if (shown !== JSON.stringify(box)) {
      shown = JSON.stringify(box);
      viewport.show(box);
    }
    canvas.style.touchAction = viewport.whole ? "pan-x pan-y" : "none";
    controls.update();
    side.update();
    readout.show(matrix.at);
    renderer.draw();
  };

  return {
    element: root,
    controls: controls.element,
    uses: ["trace", "layer", "head", "unit", "special", "ahead", "padded"],
    sentence: () => findingOf(matrix, recorded),
    async update() {
      const { layer, head, unit, special, ahead, padded, scaled, removed } = page.state;
      const wanted = [page.trace.serial, layer, head, unit, special, ahead, padded, scaled, removed].join(" ");
      canvas.setAttribute("aria-label", page.say("matrix.aria"));
      canvas.setAttribute("aria-describedby", `${page.id}-matrix-how`);
      if (wanted !== wantedName) {
        wantedName = wanted;
        const late = setTimeout(() => side.show({ state: "loading" }), LATE);
        const current = () => wantedName === wanted && !destroyed;
        try {
          const stored = await outlined(current);
          if (!current()) return;
          const attention = await page.attention();
          if (!current()) return;
          adopt(attention, stored);
          const sinks = heavyColumns(matrix.cells, renderer.dots);
          renderer.ask();
          const found = await sinks;
          if (!current()) return;
          matrix.sinks = found;
        } catch (error) {
          if (wantedName === wanted) wantedName = "";
          throw error;
        } finally {
          clearTimeout(late);
        }
      }
      settle();
    },
    async numbers() {
      const [{ cells, lines, grey, parts }, { dots }] = [matrix, renderer];
      if (!cells || !lines || !parts || !dots) throw new Error(page.say("loading"));
      const { top, left, bottom, right } = viewport.seen;
      const [width, { rows, columns }] = [right - left, lines];
      if ((bottom - top) * width > TABLE) throw new Error(page.say("matrix.many"));
      const block = await dots.means({ top, left, bottom, right }, 0);
      /** A unit as a table names it, its index from 0. @type {(of: Axis, at: number) => string} */
      const named = (of, at) => `${of.units[at].index} ${of.labels[at]}`;
      return {
        name: "matrix",
        columns: [
          page.say("matrix.query"),
          ...Array.from({ length: width }, (_, at) => named(columns, left + at)),
          ...(grey ? [grey.title] : []),
        ],
        rows: Array.from({ length: bottom - top }, (_, row) => [
          named(rows, top + row),
          ...Array.from(block.subarray(row * width, (row + 1) * width), (one) => (Number.isNaN(one) ? null : one)),
          ...(grey ? [parts.asideOf(top + row)] : []),
        ]),
      };
    },
    picture: () => matrixSvg(matrix, plot.family, renderer.scene(), renderer.coarse ? null : renderer.level),
    destroy() {
      destroyed = true;
      stop();
      watched.disconnect();
      removeEventListener("resize", resized);
      renderer.stop();
    },
  };
};
