// The names of the two sides: their texts; or where these are the same, what distinguishes them.

import { named } from "../drawing/labels.js";

const LONG = 44; // characters of a text in a name

/** @type {(text: string) => string} */
const shortened = (text) => (text.length > LONG ? `${text.slice(0, LONG - 1).trimEnd()}…` : text);

/** A layer and a head: "L5H2", "L5, mean of the heads". @type {(page: Page, place: Place) => string} */
export const placeName = (page, [, layer, head]) =>
  typeof head === "number" ? `L${layer}H${head}` : page.say(`compare.place.${head}`, { layer });

/**
 * The two names, which differ unless the sides are the same.
 * @type {(page: Page, sides: [ComparedSide, ComparedSide]) => [string, string]}
 */
export const namesOf = (page, sides) => {
  /** @type {(name: (side: ComparedSide) => string) => [string, string]} */
  const both = (name) => [name(sides[0]), name(sides[1])];
  /** @type {(side: ComparedSide) => string} */
  const text = ({ trace }) => page.say("compare.text", { text: shortened(named(trace.queries.text)) });
  const ways = [
    text,
    (/** @type {ComparedSide} */ { trace }) => page.called(trace),
    (/** @type {ComparedSide} */ { place }) => placeName(page, place),
    (/** @type {ComparedSide} */ { unit }) =>
      page.say("compare.nth", { word: named(unit.text), number: unit.index + 1 }),
  ];
  const found = ways.map(both).find(([one, other]) => one !== other);
  return found ?? both(text);
};
