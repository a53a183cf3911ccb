// A word in two contexts: how its two vectors part from layer to layer, and what each is then near.

import { button, element, phrase } from "../drawing/dom.js";
import { labelled, named } from "../drawing/labels.js";
import { refocused } from "../drawing/word_picker.js";
import { contextNames, wordOf } from "./names.js";
import { nearTable } from "./near_table.js";
import { namedWords, nearestOf } from "./parting.js";
import { riverOf } from "./river.js";

const SHORT = 128; // the most tokens of a text whose vectors are kept, as traces/keep.py has it
const LONGEST = 60; // characters of a text in a command
const LONG = 13; // the number of layers from which the table of nearest words is folded up

/** Go to the field for a new text; on a phone it is in the drawer. */
const goToPrompt = () => {
  /** @type {HTMLElement | null} */
  const field = document.querySelector(".eyeline .prompt textarea");
  /** @type {HTMLElement | null} */
  const opener = document.querySelector(".eyeline .opener");
  if (field && !field.checkVisibility()) opener?.click();
  field?.focus();
};

/** How to see the word in another text. @type {(page: Page, side: ComparedSide) => Child} */
const another = (page, { trace: { queries, model }, unit }) => {
  if (page.header.can.run) return button(page.say("compare.another.run"), goToPrompt, { class: "plain" });
  const text = queries.text.length > LONGEST ? "…" : named(queries.text);
  const by = model.name === "minilm" ? "" : ` --model ${named(model.name)}`;
  const command = `eyeline compare "${text}" "…" --token ${labelled(unit)}${by} --html page.html`;
  return element("code", { class: "how" }, command);
};

/**
 * The section: its element, and `end`, which ends it.
 * @type {(room: DrawingRoom, found: Comparison, parting: Parting | null) => { element: HTMLElement, end(): void }}
 */
export const contextOf = (room, found, parting) => {
  const { page } = room;
  const { sides: [first, second] } = found;
  const names = contextNames(page, found);
  /** @type {(...said: Child[]) => { element: HTMLElement, end(): void }} */
  const note = (...said) => ({ element: element("p", { class: "quiet context-note" }, said), end: () => {} });
  if (!parting) {
    const both = first.trace.vectors && second.trace.vectors;
    return note(page.say(both ? "compare.vectors.models" : "compare.vectors.none", { most: SHORT }));
  }
  if (parting.itself) {
    return note(page.say(page.traces.length > 1 ? "compare.another.itself" : "compare.another"), " ", another(page, first));
  }

  const chosen = page.state.layer;
  const choose = (/** @type {number} */ layer) => {
    const [trace, , head] = second.place;
    const own = page.state.other || page.traces.length === 1;
    page.set(own ? { layer, other: [trace, layer, head] } : { layer });
  };
  const same = labelled(first.unit) === labelled(second.unit);
  const words = { word: wordOf(first.unit), other: wordOf(second.unit) };
  const below = element("div", { class: "near-words" });
  let river = riverOf(room, { names, parting, near: null, chosen, choose });
  const section = element(
    "section",
    { class: "context" },
    element("h3", {}, phrase(page.say(same ? "compare.parting" : "compare.parting.two"), words)),
    element("p", { class: "quiet" }, page.say("compare.parting.how")),
    river.element,
    below,
  );
  nearestOf(page, found.sides).then((near) => {
    if (!section.isConnected) return;
    if (!near) {
      below.replaceChildren(element("p", { class: "quiet" }, page.say("compare.near.lacking"), " ", another(page, first)));
      return;
    }
    river.end();
    const full = riverOf(room, { names, parting, near, chosen, choose });
    refocused(section, () => river.element.replaceWith(full.element));
    river = full;
    const left = near[0].findLastIndex((list, at) => namedWords(list).length || namedWords(near[1][at]).length);
    const gone = left >= 0 && left < near[0].length - 1 ? page.say("compare.near.left", { layer: left }) : "";
    below.replaceChildren(...(gone ? [element("p", { class: "quiet" }, gone)] : []), nearTable(page, names, near, !page.narrow.matches && parting.cosines.length <= LONG));
  });
  return { element: section, end: () => river.end() };
};
