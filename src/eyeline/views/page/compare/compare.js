// The compare view: the same word in two texts, or one text in two layers or heads, side by side, and their difference.

import { butterfly } from "./butterfly.js";
import { Canvases } from "../drawing/canvases.js";
import { compareTable } from "./table.js";
import { element } from "../drawing/dom.js";
import { around, heatmapOf, patchOf } from "./heatmaps.js";
import { figure, isolated, labelled } from "../drawing/labels.js";
import { FORGOTTEN, placePickers } from "../pickers.js";
import { svgOf } from "../drawing/svg.js";
import { sentences } from "./summary.js";
import { scaleBar } from "../drawing/scale_bar.js";
import { compared } from "./sides.js";
import { most } from "../drawing/vector_strips.js";
import { refocused, wordPicker } from "../drawing/word_picker.js";

const NAMES = ["compare.first", "compare.second"];
/** @type {Record<string, [down: number, along: number]>} */
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** @typedef {Comparison & { patches: [Patch, Patch] }} Shown */

/**
 * A side: its pickers, and its words to choose from.
 * @type {(page: Page, found: Shown, nth: number) => HTMLElement}
 */
const sideOf = (page, found, nth) => {
  const side = found.sides[nth];
  const [trace] = side.place;
  /** @type {(place: Place) => void} */
  const moved = (place) => {
    const other = found.sides[1].place;
    const fresh = place[0] === trace ? {} : nth ? { partner: null } : FORGOTTEN;
    page.set(nth ? { other: place, ...fresh } : { trace: place[0], layer: place[1], head: place[2], other, ...fresh });
  };
  /** @type {(unit: Unit) => void} */
  const choose = ({ first }) =>
    page.set(nth ? { other: side.place, partner: first } : { token: first, toward: "from", partner: null });
  const title = page.say(NAMES[nth]);
  const name = page.say("compare.word", { side: title });
  return element(
    "section",
    { class: "side", "aria-label": title },
    element("h3", {}, title),
    element("div", { class: "pickers", "data-focus": `side-${nth}` }, placePickers(page, side.place, moved)),
    wordPicker({ units: side.attention.queries, chosen: side.unit.index, name, focus: `word-${nth}`, choose }),
  );
};

/**
 * The drawn weights of both sides: of the same words, if the lines are the same.
 * @type {(page: Page, found: Comparison) => [Patch, Patch]}
 */
const patchesOf = (page, { sides: [first, second], same }) => {
  /** @type {(side: ComparedSide) => Patch} */
  const patch = (side) => {
    const { index } = (same ? first : side).unit;
    return patchOf(side.attention, around(page.shown(side.attention.queries), index), around(side.shown, index));
  };
  return [patch(first), patch(second)];
};

/** The second patch minus the first. @type {(patches: [Patch, Patch]) => Patch} */
const differenceOf = ([first, second]) => ({
  ...first,
  weights: second.weights.map((weight, at) => weight - first.weights[at]),
  hidden: first.hidden.map((hidden, at) => hidden & second.hidden[at]),
});

/** The view. @type {(page: Page) => View} */
export const createCompare = (page) => {
  const root = element("div", { class: "compare" });
  /** @type {(name: string) => string} */
  const colour = (name) => getComputedStyle(root).getPropertyValue(name);
  const room = { page, canvases: new Canvases(), colour };
  const said = element("p", { class: "cell-said quiet", "aria-live": "polite" });
  /** @type {Shown | null} */
  let found = null;
  /** @type {Heatmap[]} */
  let grids = [];
  /** @type {{ grid: Heatmap, cell: [row: number, column: number] } | null} The cell under the pointer or the cursor. */
  let reading = null;

  const same = () => found !== null && found.same;

  /** @type {(text: string | null) => void} */
  const say = (text) => {
    said.textContent = text ?? page.say("compare.hover");
    said.toggleAttribute("data-hint", text === null);
  };

  // The number of a cell; of the cell in all grids, if they have the same words there.
  /** @type {(grid: Heatmap, cell: [row: number, column: number]) => string} */
  const cellSaid = (grid, [r, c]) => {
    const { rows, columns, queries, keys, hidden } = grid.patch;
    const at = r * columns.length + c;
    const words = { query: isolated(labelled(queries[rows[r]])), key: isolated(labelled(keys[columns[c]])) };
    /** @type {(one: Heatmap) => string} */
    const number = (one) => (one.patch.hidden[at] ? page.say("compare.hidden") : figure(one.patch.weights[at], 4));
    if (same()) {
      const [first, second, difference] = grids.map(number);
      return page.say("compare.cell.both", { ...words, first, second, difference });
    }
    const value = hidden[at] ? page.say("compare.hidden") : number(grid);
    return page.say("compare.cell", { ...words, value, side: page.say(NAMES[grids.indexOf(grid)]) });
  };

  /** @type {(grid: Heatmap, cell: [row: number, column: number] | null) => void} */
  const read = (grid, cell) => {
    reading = cell && { grid, cell };
    for (const one of grids) one.paint(cell && (one === grid || same()) ? cell : null);
    say(cell ? cellSaid(grid, cell) : null);
  };

  /** @type {(grid: Heatmap, event: KeyboardEvent) => void} */
  const pressed = (grid, event) => {
    const [down, along] = ARROWS[event.key] ?? [];
    if (down === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const { rows, columns } = grid.patch;
    const [r, c] = reading?.grid === grid ? reading.cell : [Math.max(grid.pinned, 0) - down, -along];
    /** @type {(value: number, count: number) => number} */
    const within = (value, count) => Math.min(Math.max(value, 0), count - 1);
    read(grid, [within(r + down, rows.length), within(c + along, columns.length)]);
  };

  // A click on a row chooses its word.
  /** @type {(grid: Heatmap, event: MouseEvent) => void} */
  const picked = (grid, event) => {
    const cell = grid.cellAt(event);
    if (!cell || !found) return;
    const { first } = grid.patch.queries[grid.patch.rows[cell[0]]];
    const second = grids.indexOf(grid) === 1 && !found.same;
    const other = found.sides[1].place;
    page.set(second ? { partner: first, other } : { token: first, toward: "from", partner: null });
  };

  /** @typedef {{ patch: Patch, end: number, signed: boolean, title: string, pinned: number }} Titled */

  /** @type {(of: Titled, nth: number) => HTMLElement} */
  const figureOf = ({ patch, end, signed, title, pinned }, nth) => {
    const name = page.say("compare.grid", { name: title, rows: patch.rows.length, columns: patch.columns.length });
    const grid = heatmapOf(room, { patch, end, signed, pinned, name, focus: `grid-${nth}` });
    grid.element.addEventListener("pointermove", (event) => read(grid, grid.cellAt(event)));
    grid.element.addEventListener("pointerleave", () => read(grid, null));
    grid.element.addEventListener("keydown", (event) => pressed(grid, event));
    grid.element.addEventListener("click", (event) => picked(grid, event));
    grids.push(grid);
    const caption = element("figcaption", {}, title, scaleBar(room, { end, signed }));
    return element("figure", { style: { "max-width": `${Math.max(grid.width, 240)}px` } }, caption, grid.element);
  };

  /** @type {(shown: Shown) => HTMLElement} */
  const pictures = ({ sides, same: alike, patches }) => {
    const end = most(...patches.map((patch) => patch.weights));
    const drawn = patches.map((patch, nth) => {
      const pinned = patch.rows.indexOf(sides[nth].unit.index);
      return { patch, end, signed: false, title: page.say(NAMES[nth]), pinned };
    });
    if (alike) {
      const patch = differenceOf(patches);
      drawn.push({ patch, end: most(patch.weights), signed: true, title: page.say("compare.second.less"), pinned: -1 });
    }
    grids = [];
    const figures = drawn.map(figureOf);
    const cut = patches.some((patch, nth) => patch.rows.length < page.shown(sides[nth].attention.queries).length);
    const remarks = [
      page.say("compare.scale", { most: figure(end) }),
      cut ? page.say("compare.cut") : "",
      alike ? "" : page.say("compare.no.difference"),
    ];
    return element(
      "section",
      { class: "pictures" },
      element("h3", {}, page.say("compare.pictures")),
      element("p", { class: "quiet" }, remarks.filter(Boolean).join(" ")),
      element("div", { class: `grids of-${figures.length}` }, figures),
      said,
    );
  };

  /** @type {(shown: Shown) => void} */
  const build = (shown) => {
    const [main, ...others] = sentences(page, shown, (unit) => element("bdi", { class: "word query" }, labelled(unit)));
    reading = null;
    say(null);
    root.replaceChildren(
      element("div", { class: "sides" }, sideOf(page, shown, 0), sideOf(page, shown, 1)),
      element("p", { class: "said" }, main),
      ...others.map((sentence) => element("p", { class: "also quiet" }, sentence)),
      butterfly(page, shown),
      pictures(shown),
    );
    room.canvases.sweep();
  };

  const update = async () => {
    const current = page.current();
    const next = await compared(page);
    if (!current()) return;
    const shown = { ...next, patches: patchesOf(page, next) };
    found = shown;
    refocused(root, () => build(shown));
  };

  return {
    element: root,
    update,
    numbers: () => (found ? compareTable(found) : { name: "compare", columns: [], rows: [] }),
    picture: () => svgOf(root, [...root.children]),
    destroy: () => room.canvases.clear(),
  };
};
