// How each unit of a text looks: its fill, its marks, and its accessible name.

import { lightOn, shade } from "../drawing/colour.js";
import { onScale } from "../drawing/labels.js";
import { strongest } from "./row_numbers.js";
import { called, titled } from "./unit_names.js";

/** @type {(page: Page, seen: Reading, side: Side, units: Unit[], unit: number, hidden: boolean) => string} */
const label = (page, seen, side, units, unit, hidden) => {
  const name = called(page, units[unit], units);
  const { numbers, end } = seen;
  if (seen.one?.side === side && seen.one.unit === unit && numbers) {
    /** @type {(at: number) => string} */
    const named = (at) => (at === seen.own ? page.say("itself") : titled(page, seen.units[at], seen.units));
    const names = strongest(numbers, 3).map((at) => `${named(at)} ${onScale(numbers[at], end)}`).join(", ");
    return page.say(`sentence.label.${seen.kind}`, { name, names: names || page.say("nothing") });
  }
  if (hidden) return page.say("sentence.label.hidden", { name });
  if (seen.side !== side || !numbers || !(numbers[unit] >= 0)) return name;
  return page.say("sentence.label.share", { name, share: onScale(numbers[unit], end) });
};

/**
 * The look of a unit, an index in the `units` of a side: `hidden` if the mask hides it from the selected unit.
 * @type {(page: Page, seen: Reading, side: Side, units: Unit[], unit: number, drawn: {
 *   hidden: boolean, pointed: boolean,
 * }) => Look}
 */
export const lookOf = (page, seen, side, units, unit, { hidden, pointed }) => {
  const [there, one] = [seen.side === side, seen.one?.side === side && seen.one.unit === unit];
  const kinds = [
    one && `asked ${seen.kind}`, one && seen.one?.pinned && "pinned", there && !one && pointed && "pointed",
    hidden && "barred",
  ];
  const name = label(page, seen, side, units, unit, hidden);
  const entry = { kind: kinds.filter(Boolean).join(" "), label: name };
  const depth = there && seen.numbers && !hidden ? seen.numbers[unit] / seen.end : 0;
  if (!(depth > 0)) return entry;
  return { ...entry, fill: shade(depth, page.dark), light: lightOn(depth, page.dark) };
};
