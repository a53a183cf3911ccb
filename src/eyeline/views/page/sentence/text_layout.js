// The layout of a text: its units in place, the gaps between them, and labels for units without text.

import { named } from "../drawing/labels.js";

const segmenter = globalThis.Intl?.Segmenter && new Intl.Segmenter("und", { granularity: "grapheme" });

/**
 * The grapheme boundaries of a text: never within an emoji or before an accent.
 * @type {(text: string, first: number, last: number) => Set<number> | null}
 */
const seams = (text, first, last) => {
  if (!segmenter) return null;
  const places = new Set([first, last]);
  for (const { index } of segmenter.segment(text.slice(first, last))) places.add(first + index);
  return places;
};

/** @type {(unit: Unit) => boolean} */
const blank = (unit) => !unit.special && !unit.text.trim();

/**
 * The parts of the units [first, last) of a line, in order; `labelled` are the units without text that are drawn.
 * @type {(line: TokenizedText, units: Unit[], first: number, last: number, labelled: Set<number>) => TextItem[]}
 */
export const laidOut = (line, units, first, last, labelled) => {
  const { text } = line;
  const here = units.slice(first, last);
  const spoken = here.filter((unit) => !unit.special);
  let cursor = first === 0 ? 0 : (spoken[0]?.start ?? text.length);
  const end = last === units.length ? text.length : spoken.reduce((most, unit) => Math.max(most, unit.end), cursor);
  const whole = seams(text, cursor, end);
  /** @type {TextItem[]} */
  const items = [];
  /** @type {(until: number) => void} */
  const gap = (until) => {
    if (until > cursor) items.push({ gap: text.slice(cursor, until) });
    cursor = Math.max(cursor, until);
  };
  for (let at = 0; at < here.length; at++) {
    const unit = here[at];
    if (unit.special || blank(unit)) {
      if (!labelled.has(unit.index)) continue;
      if (!unit.special) gap(unit.start);
      items.push({ unit, label: named(unit.text) });
      continue;
    }
    gap(unit.start);
    const group = [unit];
    let until = unit.end;
    for (let next = here[at + 1]; next && !next.special; next = here[at + group.length]) {
      const cut = next.start < until || (whole && next.start === until && !whole.has(until));
      if (!cut) break;
      group.push(next);
      until = Math.max(until, next.end);
    }
    if (group.length > 1) {
      items.push({ whole: text.slice(cursor, until), units: group });
      at += group.length - 1;
    } else if (until > cursor) items.push({ unit, text: text.slice(cursor, until) });
    else items.push({ unit, label: named(unit.text || line.tokens[unit.first].piece) });
    cursor = Math.max(cursor, until);
  }
  gap(end);
  return items;
};
