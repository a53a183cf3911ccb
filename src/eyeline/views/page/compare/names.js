// The names of the two sides: their texts; or where these are the same, what distinguishes them.

import { element } from "../drawing/dom.js";
import { labelled, named } from "../drawing/labels.js";

const LONG = 44; // characters of a text in a name
const BEFORE = 12; // of these, before the place where two texts begin to differ

/** @type {(text: string) => string} */
const shortened = (text) => (text.length > LONG ? `${text.slice(0, LONG - 1).trimEnd()}…` : text);

/** A compared word, within a text of ours. @type {(unit: Unit) => HTMLElement} */
export const wordOf = (unit) => element("bdi", { class: "word query" }, labelled(unit));

/** A layer and a head: "L5H2", "L5, mean of the heads". @type {(page: Page, place: Place) => string} */
export const placeName = (page, [, layer, head]) =>
  typeof head === "number" ? `L${layer}H${head}` : page.say(`compare.place.${head}`, { layer });

/** @typedef {(page: Page, side: ComparedSide) => string} Naming */
/** @type {Naming} */
const byText = (page, { trace }) => page.say("compare.text", { text: shortened(named(trace.queries.text)) });
/** The number of letters that two texts begin with alike. @type {(a: string, b: string) => number} */
const commonStart = (a, b) => {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
};

/** By where the texts first differ, if they begin alike. @type {Naming} */
const byEnd = (page, { trace }) => {
  const text = named(trace.queries.text);
  const others = page.traces.map((one) => named(one.queries.text)).filter((other) => other !== text);
  const alike = Math.max(0, ...others.map((other) => commonStart(text, other)));
  return page.say("compare.text", { text: shortened(`…${text.slice(Math.max(alike - BEFORE, 0))}`) });
};
/** @type {Naming} */
const byRun = (page, { trace }) => page.called(trace);
/** @type {Naming} */
const byPlace = (page, { place }) => placeName(page, place);
/** @type {Naming} */
const byWord = (page, { unit }) => page.say("compare.nth", { word: named(unit.text), number: unit.index + 1 });

/**
 * The names by the first of some ways by which they differ; by text, if they never do.
 * @type {(page: Page, sides: [ComparedSide, ComparedSide], ways: Naming[]) => [string, string]}
 */
const distinct = (page, [first, second], ways) => {
  for (const name of ways) {
    const [one, other] = [name(page, first), name(page, second)];
    if (one !== other) return [one, other];
  }
  return [byText(page, first), byText(page, second)];
};

/** The names of the sides. @type {(page: Page, sides: [ComparedSide, ComparedSide]) => [string, string]} */
export const namesOf = (page, sides) => distinct(page, sides, [byText, byEnd, byRun, byPlace, byWord]);

/**
 * The names of the two words' vectors, which depend on no layer and head.
 * @type {(page: Page, found: Comparison) => [string, string]}
 */
export const contextNames = (page, { sides }) => distinct(page, sides, [byText, byEnd, byRun, byWord]);

/** Whether both sides are at one place of one trace, and differ in their words alone. @type {(found: Comparison) => boolean} */
export const onePlace = ({ sides: [first, second] }) => first.place.every((part, at) => part === second.place[at]);

/**
 * The name of what is drawn in one part: special tokens, a decoder's first token, or both.
 * @type {(page: Page, sides: ComparedSide[]) => string}
 */
export const asideName = (page, sides) => {
  const units = sides.flatMap(({ attention }) => attention.keys.filter((key) => key.aside));
  if (units.every((unit) => unit.special)) return page.say("compare.special");
  const first = units.every((unit) => !unit.special && unit.text.trim());
  return page.say(first ? "compare.special.first" : "compare.special.both");
};
