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
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

// A side: its pickers, and its words to choose one of.
const sideOf = (page, found, nth) => {
  const side = found.sides[nth];
  const [trace] = side.place;
  const moved = (place) => {
    const other = found.sides[1].place;
    const fresh = place[0] === trace ? {} : nth ? { partner: null } : FORGOTTEN;
    page.set(nth ? { other: place, ...fresh } : { trace: place[0], layer: place[1], head: place[2], other, ...fresh });
  };
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

// The weights that are drawn on either side: of the same words, if the lines are the same.
const patchesOf = (page, { sides, same }) =>
  sides.map((side) => {
    const { index } = (same ? sides[0] : side).unit;
    return patchOf(side.attention, around(page.shown(side.attention.queries), index), around(side.shown, index));
  });

// How much more there is in the second than in the first.
const differenceOf = ([first, second]) => ({
  ...first,
  weights: second.weights.map((weight, at) => weight - first.weights[at]),
  hidden: first.hidden.map((hidden, at) => hidden & second.hidden[at]),
});

/** The view. */
export const createCompare = (page) => {
  const root = element("div", { class: "compare" });
  const colour = (name) => getComputedStyle(root).getPropertyValue(name);
  const room = { page, canvases: new Canvases(), colour };
  const said = element("p", { class: "cell-said quiet", "aria-live": "polite" });
  let [found, grids, reading] = [null, [], null];

  const say = (text) => {
    said.textContent = text ?? page.say("compare.hover");
    said.toggleAttribute("data-hint", text === null);
  };

  // The number of a cell, or of all grids where they have the same words there.
  const cellSaid = (grid, [r, c]) => {
    const { rows, columns, queries, keys, hidden } = grid.patch;
    const at = r * columns.length + c;
    const words = { query: isolated(labelled(queries[rows[r]])), key: isolated(labelled(keys[columns[c]])) };
    const number = (one) => (one.patch.hidden[at] ? page.say("compare.hidden") : figure(one.patch.weights[at], 4));
    if (found.same) {
      const [first, second, difference] = grids.map(number);
      return page.say("compare.cell.both", { ...words, first, second, difference });
    }
    const value = hidden[at] ? page.say("compare.hidden") : number(grid);
    return page.say("compare.cell", { ...words, value, side: page.say(NAMES[grids.indexOf(grid)]) });
  };

  const read = (grid, cell) => {
    reading = cell && { grid, cell };
    for (const one of grids) one.paint(cell && (one === grid || found.same) ? cell : null);
    say(cell ? cellSaid(grid, cell) : null);
  };

  const pressed = (grid, event) => {
    const [down, along] = ARROWS[event.key] ?? [];
    if (down === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const { rows, columns } = grid.patch;
    const [r, c] = reading?.grid === grid ? reading.cell : [Math.max(grid.pinned, 0) - down, -along];
    const within = (value, count) => Math.min(Math.max(value, 0), count - 1);
    read(grid, [within(r + down, rows.length), within(c + along, columns.length)]);
  };

  // The word of a row that is clicked is chosen.
  const picked = (grid, event) => {
    const cell = grid.cellAt(event);
    if (!cell) return;
    const { first } = grid.patch.queries[grid.patch.rows[cell[0]]];
    const second = grids.indexOf(grid) === 1 && !found.same;
    const other = found.sides[1].place;
    page.set(second ? { partner: first, other } : { token: first, toward: "from", partner: null });
  };

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

  const pictures = () => {
    const { sides, same, patches } = found;
    const end = most(...patches.map((patch) => patch.weights));
    const drawn = patches.map((patch, nth) => {
      const pinned = patch.rows.indexOf(sides[nth].unit.index);
      return { patch, end, signed: false, title: page.say(NAMES[nth]), pinned };
    });
    if (same) {
      const patch = differenceOf(patches);
      drawn.push({ patch, end: most(patch.weights), signed: true, title: page.say("compare.second.less"), pinned: -1 });
    }
    grids = [];
    const figures = drawn.map(figureOf);
    const cut = patches.some((patch, nth) => patch.rows.length < page.shown(sides[nth].attention.queries).length);
    const remarks = [
      page.say("compare.scale", { most: figure(end) }),
      cut ? page.say("compare.cut") : "",
      same ? "" : page.say("compare.no.difference"),
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

  const build = () => {
    const [main, ...others] = sentences(page, found, (unit) => element("bdi", { class: "word query" }, labelled(unit)));
    reading = null;
    say(null);
    root.replaceChildren(
      element("div", { class: "sides" }, sideOf(page, found, 0), sideOf(page, found, 1)),
      element("p", { class: "said" }, main),
      ...others.map((sentence) => element("p", { class: "also quiet" }, sentence)),
      butterfly(page, found),
      pictures(),
    );
    room.canvases.sweep();
  };

  const update = async () => {
    const current = page.current();
    const next = await compared(page);
    if (!current()) return;
    found = { ...next, patches: patchesOf(page, next) };
    refocused(root, build);
  };

  return {
    element: root,
    update,
    numbers: () => compareTable(found),
    picture: () => svgOf(root, [...root.children]),
    destroy: () => room.canvases.clear(),
  };
};
