// The compare view: the same word in two texts, or one text in two layers or heads, side by side, and their difference.

import { Canvases } from "./canvases.js";
import { shade, tint } from "./colour.js";
import { numbersOfCompare, pictureOfCompare } from "./compareaway.js";
import { element, phrase } from "./dom.js";
import { around, gridOf, patchOf } from "./grids.js";
import { figure, isolated, labelled, percent } from "./labels.js";
import { FORGOTTEN, placePickers } from "./pickers.js";
import { compared } from "./sides.js";
import { most } from "./strips.js";
import { refocused, wordline } from "./wordline.js";

const ROWS = 40; // pairs of words that are shown of long texts
const NAMES = ["compare.first", "compare.second"];

// A share, with all of its digits for those who point at it or copy it.
const share = (value) => element("data", { class: "number", value: String(value), title: `${Number((100 * value).toPrecision(7))}%` }, percent(value));

/** A difference of shares in percentage points, with its sign. */
const inPoints = (value) => `${value > 0 ? "+" : ""}${(100 * value).toFixed(1).replace("-", "−")}`;

// The same as a datum.
const points = (value) =>
  element("data", { class: "number", value: String(value), title: `${Number((100 * value).toPrecision(7))}` }, inPoints(value));

// The pairs that are shown: all, or those with the largest shares.
const pairsShown = (found) => {
  const { pairs, sides } = found;
  if (pairs.length <= ROWS) return pairs;
  const weight = ([a, b]) => Math.max(a ? sides[0].share[a.index] : 0, b ? sides[1].share[b.index] : 0);
  const kept = new Set([...pairs].sort((a, b) => weight(b) - weight(a)).slice(0, ROWS));
  return pairs.filter((pair) => kept.has(pair));
};

// Who is looked at most, in words: up to two, what rounds to nothing left out.
const mostOf = (page, side) => {
  const top = [...side.shown].sort((a, b) => side.share[b] - side.share[a]).slice(0, 2).filter((at, nth) => side.share[at] >= 0.005 || (!nth && side.share[at] > 0));
  const called = (at) => (!side.trace.crossing && at === side.unit.index ? page.say("compare.itself") : isolated(labelled(side.sight.keys[at])));
  const named = top.map((at) => page.say("compare.taken", { word: called(at), share: percent(side.share[at]) }));
  return named.length > 1 ? page.say("compare.and", { first: named[0], second: named[1] }) : (named[0] ?? page.say("compare.nothing"));
};

// Where the shares of the same words differ most, if anywhere: [unit, difference].
const furthest = ({ pairs, sides }) => {
  let found = null;
  for (const [a, b, same] of pairs) {
    if (!same) continue;
    const difference = sides[1].share[b.index] - sides[0].share[a.index];
    if (!found || Math.abs(difference) > Math.abs(found[1])) found = [a, difference];
  }
  return found && Math.abs(found[1]) >= 0.005 ? found : null;
};

// What the comparison shows, in plain sentences, each a list of texts and of what `word` makes of a unit.
const sentences = (page, found, word) => {
  const [first, second] = found.sides;
  const far = furthest(found);
  const one = labelled(first.unit) === labelled(second.unit);
  return [
    phrase(page.say(one ? "compare.said" : "compare.said.two"), {
      word: word(first.unit), other: word(second.unit), first: mostOf(page, first), second: mostOf(page, second),
    }),
    ...(found.matched ? [] : [phrase(page.say("compare.unmatched"), { word: word(first.unit) })]),
    ...(far ? [[page.say("compare.furthest", { word: isolated(labelled(far[0])), points: inPoints(far[1]) })]] : []),
  ];
};

const sideCard = (page, found, nth) => {
  const side = found.sides[nth];
  const [trace, layer, head] = side.place;
  const chosen = (place) => {
    const fresh = place[0] === trace ? {} : nth ? { partner: null } : FORGOTTEN;
    page.set(nth ? { other: place, ...fresh } : { trace: place[0], layer: place[1], head: place[2], other: found.sides[1].place, ...fresh });
  };
  const name = page.say(NAMES[nth]);
  const choose = (unit) => page.set(nth ? { other: side.place, partner: unit.first } : { token: unit.first, toward: "from", partner: null });
  return element(
    "section",
    { class: "side", "aria-label": name },
    element("h3", {}, name),
    element("div", { class: "pickers", "data-focus": `side-${nth}` }, placePickers(page, [trace, layer, head], chosen)),
    wordline({ units: side.sight.queries, chosen: side.unit.index, name: page.say("compare.word", { side: name }), focus: `word-${nth}`, choose }),
  );
};

// The shares of both sides, a row for each word or pair of words.
const table = (page, found) => {
  const [first, second] = found.sides;
  const pairs = pairsShown(found);
  const ceiling = Math.max(most(first.share), most(second.share)) || 1;
  const bar = (value) => element("i", { class: "reach", "aria-hidden": "true", style: { width: `calc((100% - var(--figures)) * ${value / ceiling})` } });
  const seen = (side, unit, value) =>
    element("span", { class: "run" }, value > 0 || side.sight.allowed(side.unit.index, unit.index)
      ? [bar(value), share(value)]
      : element("data", { class: "quiet", value: "0" }, page.say("compare.hidden")));
  const span = most(pairs.map(([a, b, same]) => (same ? second.share[b.index] - first.share[a.index] : 0))) || 1;
  const rest = found.pairs.length - pairs.length; // with many words, the same one comes again and again: its place tells which
  const word = (unit) =>
    unit
      ? element("span", {}, rest ? [element("span", { class: "place" }, unit.index + 1), " "] : null, element("bdi", { class: "word key" }, labelled(unit)))
      : element("span", { class: "quiet" }, "–");
  const rows = pairs.map(([a, b, same]) => {
    const [one, two] = [a && first.share[a.index], b && second.share[b.index]];
    return element(
      "tr",
      { class: same ? null : "apart" },
      element("td", { class: "one" }, a ? seen(first, a, one) : null),
      element("th", { scope: "row" }, same ? word(a) : element("span", { class: "pair" }, word(a), word(b))),
      element("td", { class: "two" }, b ? seen(second, b, two) : null),
      element("td", { class: "difference" }, same
        ? [points(two - one), element("span", { class: "sway", "aria-hidden": "true" }, element("i", {
            class: two < one ? "less" : "more", style: { width: `${(50 * Math.abs(two - one)) / span}%` } }))]
        : null),
    );
  });
  return element(
    "table",
    { class: "butterfly" },
    element("caption", { class: "unseen" }, page.say("compare.shares")),
    element("thead", {}, element("tr", {},
      element("th", { scope: "col", class: "one" }, page.say(NAMES[0])), element("th", { scope: "col" }, page.say("compare.looked.at")),
      element("th", { scope: "col", class: "two" }, page.say(NAMES[1])), element("th", { scope: "col", class: "difference" }, page.say("compare.difference")))),
    element("tbody", {}, rows),
    element("tfoot", {}, element("tr", {}, element("td", { colspan: 4, class: "quiet" },
      rest ? `${page.say("compare.more", { count: rest })} ` : "",
      page.say("compare.aside", { first: percent(first.kept), second: percent(second.kept) })))),
  );
};

// The colour scale of a picture.
const legend = (page, { most: end, signed }) => {
  const colours = [0, 0.25, 0.5, 0.75, 1].map((share) => (signed ? tint(2 * share - 1, page.dark) : shade(share, page.dark))).join(", ");
  return element("span", { class: "legend", "aria-hidden": "true" },
    figure(signed ? -end : 0, signed ? 3 : 0), element("i", { style: { background: `linear-gradient(to right, ${colours})` } }), figure(end, 3));
};

/** The view. */
export const createCompare = (page) => {
  const root = element("div", { class: "compare" });
  const canvases = new Canvases();
  const colour = (name) => getComputedStyle(root).getPropertyValue(name);
  let [found, grids, reading] = [null, [], null];
  const readout = element("p", { class: "readout quiet", "aria-live": "polite" });

  // The number of a cell, of all grids that have the same words there.
  const said = (grid, [r, c]) => {
    const at = ({ patch }) => patch.weights[r * patch.columns.length + c];
    const { rows, columns, queries, keys, hidden } = grid.patch;
    const pair = { query: isolated(labelled(queries[rows[r]])), key: isolated(labelled(keys[columns[c]])) };
    if (found.same) {
      const [one, two] = grids.map(at);
      return page.say("compare.cell.both", { ...pair, first: figure(one, 4), second: figure(two, 4), difference: `${two > one ? "+" : ""}${figure(two - one, 4)}` });
    }
    const value = hidden[r * columns.length + c] ? page.say("compare.hidden") : figure(at(grid), 4);
    return page.say("compare.cell", { ...pair, value, side: page.say(NAMES[grids.indexOf(grid)]) });
  };

  const read = (grid, cell) => {
    reading = cell && { grid, cell };
    for (const one of grids) one.paint(cell && (one === grid || found.same) ? cell : null);
    readout.textContent = cell ? said(grid, cell) : page.say("compare.hover");
  };

  const moved = (grid, event) => {
    const [dr, dc] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [];
    if (dr === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const [r, c] = reading?.grid === grid ? reading.cell : [Math.max(grid.pinned, 0) - dr, -dc];
    const { rows, columns } = grid.patch;
    read(grid, [Math.min(Math.max(r + dr, 0), rows.length - 1), Math.min(Math.max(c + dc, 0), columns.length - 1)]);
  };

  const pictures = () => {
    const [first, second] = found.sides;
    const patches = found.sides.map((side) => {
      const centre = found.same ? first : side;
      return patchOf(side.sight, around(page.shown(side.sight.queries), centre.unit.index), around(side.shown, centre.unit.index));
    });
    const end = Math.max(...patches.map((patch) => most(patch.weights)));
    const drawn = patches.map((patch, nth) => ({ patch, most: end, signed: false, name: page.say(NAMES[nth]), pinned: patch.rows.indexOf(found.sides[nth].unit.index) }));
    if (found.same) {
      const weights = patches[1].weights.map((weight, at) => weight - patches[0].weights[at]);
      const hidden = patches[0].hidden.map((one, at) => one & patches[1].hidden[at]);
      drawn.push({ patch: { ...patches[0], weights, hidden }, most: most(weights), signed: true, name: page.say("compare.second.less"), pinned: -1 });
    }
    found.drawn = drawn;
    grids = drawn.map((one, nth) => {
      const spoken = page.say("compare.grid", { name: one.name, rows: one.patch.rows.length, columns: one.patch.columns.length });
      const grid = gridOf(canvases, { ...one, page, colour, name: spoken, attributes: { "data-focus": `grid-${nth}` } });
      grid.element.addEventListener("pointermove", (event) => read(grid, grid.cellAt(event)));
      grid.element.addEventListener("pointerleave", () => read(grid, null));
      grid.element.addEventListener("keydown", (event) => moved(grid, event));
      grid.element.addEventListener("click", (event) => {
        const cell = grid.cellAt(event);
        if (!cell) return;
        const { first: token } = grid.patch.queries[grid.patch.rows[cell[0]]];
        page.set(nth === 1 && !found.same ? { partner: token, other: second.place } : { token, toward: "from", partner: null });
      });
      return grid;
    });
    const cut = patches.some((patch, nth) => patch.rows.length < page.shown(found.sides[nth].sight.queries).length);
    return element(
      "section",
      { class: "pictures" },
      element("h3", {}, page.say("compare.pictures")),
      element("p", { class: "quiet" }, page.say("compare.scale", { most: figure(end, 3) }), cut ? ` ${page.say("compare.cut")}` : "", found.same ? "" : ` ${page.say("compare.no.difference")}`),
      element("div", { class: `grids of-${grids.length}` }, grids.map((grid, nth) => element("figure", { style: { "max-width": `${Math.max(grid.width, 240)}px` } }, element("figcaption", {}, drawn[nth].name, legend(page, drawn[nth])), grid.element))),
      readout,
    );
  };

  const build = () => {
    const [title, ...others] = sentences(page, found, (unit) => element("bdi", { class: "word query" }, labelled(unit)));
    reading = null;
    root.replaceChildren(
      element("div", { class: "sides" }, sideCard(page, found, 0), sideCard(page, found, 1)),
      element("p", { class: "said" }, title),
      ...others.map((text) => element("p", { class: "also quiet" }, text)),
      table(page, found),
      pictures(),
    );
    canvases.sweep();
    readout.textContent = page.say("compare.hover");
  };

  const drawing = () => ({
    lines: sentences(page, found, (unit) => isolated(labelled(unit))).map((line) => line.join("")), pairs: pairsShown(found), names: NAMES.map((name) => page.say(name)), colour, inPoints,
  });

  const update = async () => {
    const current = page.current();
    const next = await compared(page);
    if (!current()) return;
    found = next;
    refocused(root, build);
  };

  return {
    element: root,
    update,
    numbers: () => (found ? numbersOfCompare(found) : { name: "compare", columns: [], rows: [] }),
    picture: () => (found ? pictureOfCompare(page, found, drawing()) : ""),
    destroy: () => canvases.clear(),
  };
};
