// The compare view: the same word in two texts, or one text in two layers or heads: how its two vectors part from layer
// to layer, what it looks at on either side, and the difference.

import { butterfly } from "./butterfly.js";
import { Canvases } from "../drawing/canvases.js";
import { compareTable } from "./table.js";
import { contextOf } from "./context.js";
import { element, phrase } from "../drawing/dom.js";
import { createGrids } from "./grids.js";
import { labelled } from "../drawing/labels.js";
import { onePlace, placeName, wordOf } from "./names.js";
import { forgottenFrom, placePickers } from "../pickers.js";
import { partingOf, furthestFall } from "./parting.js";
import { patchesOf } from "./patches.js";
import { svgOf } from "../drawing/svg.js";
import { sentences } from "./summary.js";
import { compared } from "./sides.js";
import { refocused, wordPicker } from "../drawing/word_picker.js";

/** @typedef {Comparison & { patches: [Patch, Patch], parting: Parting | null }} Shown */

/**
 * A side: its words to choose from, and its pickers.
 * @type {(page: Page, found: Shown, nth: number) => HTMLElement}
 */
const sideOf = (page, found, nth) => {
  const side = found.sides[nth];
  const [trace] = side.place;
  /** @type {(place: Place) => void} */
  const moved = (place) => {
    const other = found.sides[1].place;
    const fresh = place[0] === trace ? {} : nth ? { partner: null } : forgottenFrom(page, trace, place[0]);
    page.set(nth ? { other: place, ...fresh } : { trace: place[0], layer: place[1], head: place[2], other, ...fresh });
  };
  /** @type {(unit: Unit) => void} */
  const choose = ({ first }) =>
    page.set(nth ? { other: side.place, partner: first } : { token: first, toward: "from", partner: null });
  const name = page.say("compare.word", { side: found.names[nth] });
  return element(
    "section",
    { class: "side", "aria-label": found.names[nth] },
    element("i", { class: nth ? "dot hollow" : "dot", "aria-hidden": "true" }),
    wordPicker({ units: side.attention.queries, chosen: side.unit.index, name, focus: `word-${nth}`, choose }),
    element("div", { class: "pickers", "data-focus": `side-${nth}` }, placePickers(page, side.place, moved)),
  );
};

/** What the weights are of. @type {(page: Page, found: Comparison) => Child[]} */
const weightsTitle = (page, { sides: [first, second] }) => {
  const [here, there] = [first, second].map(({ place }) => placeName(page, place));
  if (here !== there) return [page.say("compare.weights.two", { here, there })];
  return labelled(second.unit) === labelled(first.unit)
    ? phrase(page.say("compare.weights.word"), { word: wordOf(first.unit), place: here })
    : [page.say("compare.weights", { place: here })];
};

/** The view. @type {(page: Page) => View} */
export const createCompare = (page) => {
  const second = page.typing?.createSecond() ?? null; // never rebuilt: it is typed in
  const body = element("div", { class: "compared" });
  const root = element("div", { class: "compare" }, second?.element, body);
  /** @type {(name: string) => string} */
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const room = { page, canvases: new Canvases(), colour };
  const grids = createGrids(room);
  /** @type {Shown | null} */
  let found = null;
  let endContext = () => {};

  /** @type {(shown: Shown) => void} */
  const build = (shown) => {
    const [main, ...others] = sentences(page, shown, wordOf);
    endContext();
    const context = contextOf(room, shown, shown.parting);
    endContext = context.end;
    body.replaceChildren(
      element("div", { class: "sides" }, sideOf(page, shown, 0), sideOf(page, shown, 1)),
      context.element,
      element(
        "section",
        { class: "looked" },
        element("h3", {}, weightsTitle(page, shown)),
        element("p", { class: "said" }, main),
        others.map((sentence) => element("p", { class: "also quiet" }, sentence)),
        butterfly(page, shown),
      ),
      grids.build(shown),
    );
    room.canvases.sweep();
  };

  const update = async () => {
    const current = page.current();
    const next = await compared(page);
    const parting = await partingOf(page, next.sides);
    if (!current()) return;
    const shown = { ...next, patches: patchesOf(page, next), parting };
    found = shown;
    second?.update(next.sides[1].trace, next.sides[0].trace);
    refocused(body, () => build(shown));
  };

  const sentence = () => {
    if (!found) return "";
    const fall = found.parting && !found.parting.itself ? furthestFall(found.parting) : null;
    if (!fall) return sentences(page, found, labelled)[0].join("");
    const [word, other] = found.sides.map(({ unit }) => labelled(unit));
    const values = { word, other, layer: fall.layer, from: fall.from.toFixed(2), to: fall.to.toFixed(2) };
    return page.say(word === other ? "compare.sentence" : "compare.sentence.two", values);
  };

  return {
    element: root,
    uses: ["unit", "special"],
    places: () => (found ? (onePlace(found) ? found.sides.slice(0, 1) : found.sides).map(({ place }) => place) : []),
    sentence,
    update,
    numbers: () => (found ? compareTable(found) : { name: "compare", columns: [], rows: [] }),
    picture: () => svgOf(root, [...body.children]),
    destroy: () => {
      endContext();
      room.canvases.clear();
    },
  };
};
