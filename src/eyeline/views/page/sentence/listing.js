// What the list of bars and the bar of the whole row show of a reading.

import { element } from "../drawing/dom.js";
import { strongest } from "./row_numbers.js";
import { placed, titled } from "./unit_names.js";

const LISTED = 8; // bars
const PARTS = 12; // of the whole row, before the rest is one part
const LEAST = 0.004; // of the whole row: smaller parts wouldn't be seen, and belong to the rest

/** @type {WeakMap<Unit[], Set<string>>} The texts that occur more than once in a list of units. */
const repeats = new WeakMap();

/** @type {(units: Unit[]) => Set<string>} */
const repeated = (units) => {
  const known = repeats.get(units);
  if (known) return known;
  const [once, often] = [new Set(), new Set()];
  for (const { text } of units) (once.has(text) ? often : once).add(text);
  repeats.set(units, often);
  return often;
};

/**
 * The bars of the strongest units, and of the one pointed at; in a long text each has its number among the words.
 * @type {(page: Page, seen: Reading, pointed: number | null, long: boolean) => BarEntry[]}
 */
export const wordBars = (page, { numbers, units, own }, pointed, long) => {
  if (!numbers) return [];
  const places = strongest(numbers, LISTED);
  if (pointed !== null && numbers[pointed] > 0 && !places.includes(pointed)) places.push(pointed);
  const often = repeated(units);
  return places.map((at) => {
    const unit = units[at];
    const title = titled(page, unit, units);
    const numbered = !page.trace.image && !unit.special && unit.text.trim() && (long || often.has(unit.text));
    const place = numbered ? placed(page, unit, units) : "";
    return { at, name: at === own ? page.say("itself") : element("bdi", {}, title), title, number: numbers[at], place };
  });
};

/**
 * The parts of a row that sums to 1, the strongest first; `grey` is what is set aside.
 * @type {(page: Page, seen: Reading, grey: { name: string, number: number } | null) => RowPart[] | null}
 */
export const rowParts = (page, { numbers, units, end }, grey) => {
  if (!numbers) return null;
  const places = strongest(numbers, PARTS).filter((at) => numbers[at] >= LEAST);
  const shown = places.reduce((sum, at) => sum + numbers[at], 0);
  const whole = numbers.reduce((sum, number) => sum + (number > 0 ? number : 0), 0);
  const rest = { name: page.say("sentence.others"), number: whole - shown, depth: 0 };
  return [
    ...places.map((at) => ({ name: titled(page, units[at], units), number: numbers[at], depth: numbers[at] / end })),
    ...(rest.number > 1e-6 ? [rest] : []),
    ...(grey ? [{ ...grey, depth: null }] : []),
  ];
};
