// The summary of a comparison, in sentences.

import { phrase } from "../drawing/dom.js";
import { isolated, labelled, percent } from "../drawing/labels.js";
import { asideName, onePlace } from "./names.js";

const LEAST = 0.005; // smaller numbers round to 0 and aren't named

/** A difference in percentage points, with its sign. @type {(value: number, digits?: number) => string} */
export const points = (value, digits = 1) => {
  const text = Math.abs(100 * value).toFixed(digits);
  return `${Number(text) === 0 ? "" : value > 0 ? "+" : "−"}${text}`;
};

/**
 * The number of a pair's word in the second side minus that in the first; null for different words.
 * @type {(found: Comparison, pair: Pair) => number | null}
 */
export const changeOf = ({ sides: [first, second] }, [a, b, same]) =>
  same && a && b ? second.numbers[b.index] - first.numbers[a.index] : null;

/** The strongest keys, up to two, and what is set aside. @type {(page: Page, side: ComparedSide) => string} */
const mostOf = (page, side) => {
  const { trace, unit, numbers, shown, attention, aside } = side;
  const top = [...shown]
    .sort((a, b) => numbers[b] - numbers[a])
    .slice(0, 2)
    .filter((at, nth) => numbers[at] >= LEAST || (!nth && numbers[at] > 0));
  const named = top.map((at) => {
    const itself = !trace.crossing && at === unit.index;
    const word = itself ? page.say("compare.itself") : isolated(labelled(attention.keys[at]));
    return page.say("compare.taken", { word, share: percent(numbers[at]) });
  });
  if (aside >= LEAST) named.push(page.say("compare.taken", { word: asideName(page, [side]), share: percent(aside) }));
  const last = named.pop();
  if (last === undefined) return page.say("compare.nothing");
  return named.length ? page.say("compare.and", { first: named.join(", "), second: last }) : last;
};

/**
 * The word whose numbers differ most, if any differ.
 * @type {(found: Comparison) => { unit: Unit, difference: number } | null}
 */
const furthest = (found) => {
  /** @type {{ unit: Unit, difference: number } | null} */
  let most = null;
  for (const pair of found.pairs) {
    const [difference, [unit]] = [changeOf(found, pair) ?? 0, pair];
    if (unit && Math.abs(difference) > Math.abs(most?.difference ?? 0)) most = { unit, difference };
  }
  return most && Math.abs(most.difference) >= LEAST ? most : null;
};

/**
 * The sentences, each a list of texts and elements; `word` makes the element, or the text, of a unit.
 * @type {(page: Page, found: Comparison, word: (unit: Unit) => Child) => Child[][]}
 */
export const sentences = (page, found, word) => {
  const { sides: [first, second], names: [one, two] } = found;
  const alike = labelled(first.unit) === labelled(second.unit);
  const key = onePlace(found) ? "compare.said.words" : alike ? "compare.said" : "compare.said.two";
  const units = { word: word(first.unit), other: word(second.unit), one: isolated(one), two: isolated(two) };
  const all = [phrase(page.say(key), { ...units, first: mostOf(page, first), second: mostOf(page, second) })];
  if (!found.matched && page.state.partner === null) all.push(phrase(page.say("compare.unmatched"), { word: word(first.unit) }));
  const far = furthest(found);
  if (far) all.push(phrase(page.say("compare.furthest"), { word: word(far.unit), points: points(far.difference) }));
  return all;
};
