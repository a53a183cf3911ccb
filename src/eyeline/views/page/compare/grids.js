// The heatmaps of both sides and of their difference, with the number of the cell that is pointed at.

import { element } from "../drawing/dom.js";
import { isolated, labelled, percent } from "../drawing/labels.js";
import { scaleBar } from "../drawing/scale_bar.js";
import { quantile, scaleEnd } from "../weights/quantity.js";
import { heatmapOf } from "./heatmaps.js";
import { asideName, onePlace, placeName } from "./names.js";
import { differenceOf, numberAt, widthOf } from "./patches.js";
import { points } from "./summary.js";

const FEW = 28; // the number of words up to which no cell exceeds the scale
const MOST = 0.99; // with more words, the share of the cells that don't
/** @type {Record<string, [down: number, along: number]>} */
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** @typedef {[row: number, column: number]} Place2D */
/** @typedef {Comparison & { patches: [Patch, Patch] }} Shown */
/** @typedef {{ patch: Patch, end: number, signed: boolean, title: string, pinned: number }} Titled */

/** A number with one decimal. @type {(value: number) => string} */
const exact = (value) => `${(100 * value).toFixed(1)}%`;

/** The heatmaps of a view: `build` makes the section anew. @type {(room: DrawingRoom) => { build(found: Shown): HTMLElement }} */
export const createGrids = (room) => {
  const { page } = room;
  const said = element("p", { class: "cell-said quiet", "aria-live": "polite" });
  /** @type {Shown | null} */
  let found = null;
  /** @type {Heatmap[]} */
  let grids = [];
  /** @type {{ grid: Heatmap, cell: Place2D } | null} The cell under the pointer or the cursor. */
  let reading = null;

  const same = () => found !== null && found.same && grids.length > 1;

  /** @type {(text: string | null) => void} */
  const say = (text) => {
    said.textContent = text ?? page.say("compare.hover");
    said.toggleAttribute("data-hint", text === null);
  };

  // The number of a cell; of the cell in all grids, if they have the same words there.
  /** @type {(grid: Heatmap, cell: Place2D) => string} */
  const cellSaid = (grid, cell) => {
    const { rows, columns, queries, keys } = grid.patch;
    const [r, c] = cell;
    const key = c === columns.length ? asideName(page, found?.sides ?? []) : isolated(labelled(keys[columns[c]]));
    const words = { query: isolated(labelled(queries[rows[r]])), key };
    /** @type {(one: Heatmap, nth: number) => string} */
    const number = (one, nth) => {
      const value = numberAt(one.patch, cell);
      if (value === null) return page.say("compare.hidden");
      return nth === 2 ? points(value) : exact(value);
    };
    const [one, two] = found?.names ?? ["", ""];
    if (same()) {
      const [first, second, difference] = grids.map(number);
      return page.say("compare.cell.both", { ...words, one, two, first, second, difference });
    }
    return page.say("compare.cell", { ...words, value: number(grid, 0), side: grids.indexOf(grid) ? two : one });
  };

  /** @type {(grid: Heatmap, cell: Place2D | null) => void} */
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
    const [r, c] = reading?.grid === grid ? reading.cell : [Math.max(grid.pinned, 0) - down, -along];
    /** @type {(value: number, count: number) => number} */
    const within = (value, count) => Math.min(Math.max(value, 0), count - 1);
    read(grid, [within(r + down, grid.patch.rows.length), within(c + along, widthOf(grid.patch))]);
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

  /** @type {(of: Titled, nth: number) => HTMLElement} */
  const figureOf = ({ patch, end, signed, title, pinned }, nth) => {
    const aside = asideName(page, found?.sides ?? []);
    const name = page.say("compare.grid", { name: title, rows: patch.rows.length, columns: widthOf(patch) });
    const grid = heatmapOf(room, { patch, end, signed, pinned, name, aside, focus: `grid-${nth}` });
    grid.element.addEventListener("pointermove", (event) => read(grid, grid.cellAt(event)));
    grid.element.addEventListener("pointerleave", () => read(grid, null));
    grid.element.addEventListener("keydown", (event) => pressed(grid, event));
    grid.element.addEventListener("click", (event) => picked(grid, event));
    grids.push(grid);
    const ends = signed ? (/** @type {number} */ value) => points(value, 0) : percent;
    const caption = element("figcaption", {}, element("bdi", { class: "name" }, title), scaleBar(room, { end, signed, said: ends }));
    return element("figure", { style: { "max-width": `${Math.max(grid.width, 240)}px` } }, caption, grid.element);
  };

  /** @type {(shown: Shown) => HTMLElement} */
  const build = (shown) => {
    const { sides, names, same: alike, patches } = shown;
    found = shown;
    reading = null;
    say(null);
    const cut = patches.some(({ rows, columns }) => Math.max(rows.length, columns.length) > FEW);
    const all = patches.flatMap(({ numbers }) => [...numbers]);
    const end = scaleEnd(cut ? [quantile(all, MOST)] : all);
    const part = patches.some((patch, nth) => patch.rows.length < page.shown(sides[nth].attention.queries).length);
    /** @type {Titled[]} */
    const drawn = patches.map((patch, nth) => {
      const pinned = patch.rows.indexOf(sides[nth].unit.index);
      return { patch, end, signed: false, title: onePlace(shown) ? placeName(page, sides[0].place) : names[nth], pinned };
    });
    const one = onePlace(shown);
    if (one) drawn.pop();
    else if (alike) {
      const patch = differenceOf(patches);
      const far = scaleEnd([...patch.numbers, ...(patch.grey ? patch.aside : [])].map(Math.abs));
      drawn.push({ patch, end: far, signed: true, title: page.say("compare.second.less"), pinned: -1 });
    }
    grids = [];
    const figures = drawn.map(figureOf);
    const compared = !one && !alike;
    const remarks = [
      page.say(page.state.special === "out" ? "compare.scale.shares" : "compare.scale", { most: percent(end) }),
      patches[0].grey || patches[1].grey ? page.say("compare.scale.grey", { aside: asideName(page, sides) }) : "",
      cut ? page.say("compare.scale.above", { most: percent(end) }) : "",
      part ? page.say("compare.cut") : "",
      compared ? page.say("compare.no.difference") : "",
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
  return { build };
};
