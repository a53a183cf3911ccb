// What stands above the steps: the words to choose from, the remarks on the head, and the view's own controls.

import { button, element, phrase, tick } from "../drawing/dom.js";
import { percent } from "../drawing/labels.js";
import { wordPicker } from "../drawing/word_picker.js";
import { changeable } from "../weights/changes.js";
import { word } from "./elements.js";
import { largest } from "./walkthrough.js";

/**
 * The words to choose from, and the pieces of the chosen word if it has several.
 * @type {(page: Page, walk: Walkthrough) => (HTMLElement | null)[]}
 */
export const chooser = (page, walk) => {
  const { queries } = walk.trace;
  /** @type {(unit: Unit) => void} */
  const choose = (unit) => page.set({ token: unit.first, toward: "from" });
  const units = queries.units(page.state.unit);
  const chosen = queries.unitOf(walk.token, page.state.unit);
  const pieces = queries.pieces.slice(chosen.first, chosen.last);
  const own = { units: pieces, chosen: walk.token - chosen.first, name: page.say("steps.piece") };
  return [
    wordPicker({ units, chosen: chosen.index, name: page.say("steps.token"), focus: "query", choose }),
    pieces.length > 1
      ? element(
          "div",
          { class: "of-pieces" },
          element("span", { class: "caption" }, page.say("steps.pieces", { count: pieces.length })),
          wordPicker({ ...own, focus: "piece", choose }),
        )
      : null,
  ];
};

/** The title. @type {(page: Page, walk: Walkthrough) => HTMLElement} */
export const titleOf = (page, { number, layer, word: text }) =>
  element("h2", {}, phrase(page.say("steps.title", { head: number, layer }), { word: word(text, "query") }));

// The remark that this head is the default, and a button that chooses it.
/** @type {(page: Page, walk: Walkthrough) => Child} */
const notChosen = (page, { number, layer, trace }) => {
  const chosen = page.say(`head.${page.state.head}`, { lastHead: trace.heads - 1 });
  const take = button(page.say("steps.choose.head", { head: number }), () => page.set({ head: number }), {
    class: "plain",
    "data-focus": "head",
  });
  return [page.say("steps.hardest", { head: number, layer, chosen }), " ", take];
};

/** Remarks on the head. @type {(page: Page, walk: Walkthrough) => HTMLElement[]} */
export const remarks = (page, walk) => {
  const { head, trace, number } = walk;
  const { heads, key_heads: count } = trace.model;
  const together = heads / count;
  const key = Math.floor(number / together);
  const sharing = { first: key * together, last: (key + 1) * together - 1, key, lastKey: count - 1 };
  return [
    walk.given ? null : notChosen(page, walk),
    together > 1 ? page.say("steps.shared", sharing) : null,
    trace.positions === "rotary" && !walk.projections ? page.say("steps.turned") : null,
    trace.crossing ? page.say("steps.cross", { queries: head.N, keys: head.M }) : null,
    changeable(trace) ? null : page.say("steps.too.long"),
  ]
    .filter(Boolean)
    .map((remark) => element("p", { class: "remark" }, remark));
};

/**
 * The view's own controls: scores without ÷ √d, the removed keys, and a way back.
 * @type {(page: Page, walk: Walkthrough) => HTMLElement[]}
 */
export const controlsOf = (page, walk) => {
  const { removed, scaled } = page.state;
  if (!changeable(walk.trace)) return [];
  const parts = [];
  if (walk.before.scale !== 1) {
    const ticked = tick(page.say("steps.no.scale", { d: walk.head.D }), !scaled, (on) => page.set({ scaled: !on }));
    ticked.querySelector("input")?.setAttribute("data-focus", "scaled");
    parts.push(ticked);
  }
  const out = page.say("steps.removed", { count: removed.length });
  if (removed.length) parts.push(element("span", { class: "quiet" }, out));
  if (walk.changed || removed.length) {
    const as = () => page.set({ ahead: true, padded: 0, scaled: true, removed: [] });
    parts.push(button(page.say("steps.as.trained"), as, { class: "plain", "data-focus": "back" }));
  }
  return parts;
};

/**
 * One sentence on what one sees, for the title line.
 * @type {(page: Page, walk: Walkthrough) => string}
 */
export const sentenceOf = (page, walk) => {
  const { now, head } = walk;
  if (now.sum === 0) return page.say("steps.says.nothing", { word: walk.word });
  const top = largest(now.weights);
  const told = { word: walk.word, key: walk.label(top), share: percent(now.weights[top]), count: head.M };
  return page.say(top === walk.token && !walk.trace.crossing ? "steps.says.itself" : "steps.says", told);
};
