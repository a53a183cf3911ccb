// The names of units in texts: the unit's own text, and its number among the words.

import { isolated, named } from "../drawing/labels.js";
import { localNumber } from "../language.js";

/**
 * The place of a unit among the patches of the trace's image, from 0, row by row; null if it is no patch.
 * @type {(page: Page, unit: Unit) => number | null}
 */
export const patchOf = ({ trace: { image } }, unit) => {
  const at = image ? unit.first - image.first : -1;
  return image && at >= 0 && at < image.rows * image.columns ? at : null;
};

/**
 * A unit's name: its text; where one character is split over several units, with its number among them: "🦜 2/3"; for a
 * patch of an image its row and column.
 * @type {(page: Page, unit: Unit, units: Unit[]) => string}
 */
export const titled = (page, unit, units) => {
  if (patchOf(page, unit) !== null) return unit.text;
  /** @type {(one: Unit | undefined) => boolean} */
  const same = (one) => one !== undefined && !one.special && one.start === unit.start && one.end === unit.end;
  let [from, to] = [unit.index, unit.index];
  if (!unit.special) {
    while (same(units[from - 1])) from -= 1;
    while (same(units[to + 1])) to += 1;
  }
  return from === to ? named(unit.text) : `${named(unit.text)} ${unit.index - from + 1}/${to - from + 1}`;
};

/**
 * @type {WeakMap<Unit[], { numbers: number[], count: number }>} Each unit's number among the words, and their count.
 */
const counts = new WeakMap();

/** @type {(units: Unit[]) => { numbers: number[], count: number }} */
const counted = (units) => {
  const known = counts.get(units);
  if (known) return known;
  let count = 0;
  const numbers = units.map((unit) => (count += unit.special || !unit.text.trim() ? 0 : 1));
  const found = { numbers, count };
  counts.set(units, found);
  return found;
};

/**
 * The number of a unit among the words of its line, from 1, as texts name it: "word 3".
 * @type {(page: Page, unit: Unit, units: Unit[]) => string}
 */
export const placed = (page, unit, units) => {
  const number = localNumber(page, counted(units).numbers[unit.index]);
  return page.say(page.state.unit === "words" ? "sentence.place.word" : "sentence.place.piece", { number });
};

/**
 * The accessible name of a unit: its text, and its number among the words ("word 3 of 7").
 * @type {(page: Page, unit: Unit, units: Unit[]) => string}
 */
export const called = (page, unit, units) => {
  const word = titled(page, unit, units);
  if (patchOf(page, unit) !== null) return word;
  if (unit.special) return page.say("sentence.special", { word });
  if (!unit.text.trim()) return page.say("sentence.bare", { word });
  const { numbers, count } = counted(units);
  const key = page.state.unit === "words" ? "sentence.word" : "sentence.piece";
  return page.say(key, { word, number: numbers[unit.index], count });
};

/**
 * The names of key units that are set aside, each once: special tokens, a decoder's first word, spaces, control characters.
 * @type {(page: Page, aside: Unit[], word: (unit: Unit) => string) => string[]}
 */
export const asideNames = (page, aside, word) => {
  const names = aside.map((unit) => {
    if (unit.special) return isolated(named(unit.text));
    if (!unit.text.trim()) return page.say("aside.spaces");
    if (page.trace.keys.wordOf[unit.first]) return page.say("aside.controls");
    return page.say("aside.first", { word: word(unit) });
  });
  return [...new Set(names)];
};
