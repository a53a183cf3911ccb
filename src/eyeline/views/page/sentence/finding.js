// Finding a text in a line: across words and pieces, whatever its case, accents and spaces.

/** Where each character of a folded text stands in the text itself. @typedef {{ text: string, places: number[] }} Folded */

/**
 * A text without case and accents, with đ as d and each space or line end as one space.
 * @type {(text: string) => Folded}
 */
const folded = (text) => {
  /** @type {string[]} */
  const parts = [];
  /** @type {number[]} */
  const places = [];
  let at = 0;
  for (const character of text) {
    const bare = character.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("đ", "d");
    const spaced = /\s/u.test(bare) ? (parts.at(-1) === " " ? "" : " ") : bare;
    for (const unit of spaced.split("")) {
      parts.push(unit);
      places.push(at);
    }
    at += character.length;
  }
  return { text: parts.join(""), places };
};

/** @type {WeakMap<TokenizedText, Folded>} */
const known = new WeakMap();

/**
 * The first units of all places of a text in a line, in reading order. Special tokens are found by their own text.
 * @type {(line: TokenizedText, units: Unit[], text: string) => number[]}
 */
export const placesOf = (line, units, text) => {
  const wanted = folded(text.trim()).text;
  if (!wanted) return [];
  const whole = known.get(line) ?? folded(line.text);
  known.set(line, whole);
  /** @type {Set<number>} */
  const found = new Set();
  for (const unit of units) if (unit.special && folded(unit.text).text.includes(wanted)) found.add(unit.index);
  const typed = units.filter((unit) => !unit.special && unit.end > unit.start);
  let next = 0;
  for (let at = whole.text.indexOf(wanted); at >= 0; at = whole.text.indexOf(wanted, at + 1)) {
    while (typed[next] && typed[next].end <= whole.places[at]) next += 1;
    if (typed[next]) found.add(typed[next].index);
  }
  return [...found].sort((one, other) => one - other);
};

/**
 * The place after (or before) a unit, round again at the ends, with its number from 1; null if there is none.
 * @type {(places: number[], from: number, step: number) => { unit: number, number: number } | null}
 */
export const following = (places, from, step) => {
  if (!places.length) return null;
  const ahead = places.findIndex((unit) => unit > from);
  const before = places.findLastIndex((unit) => unit < from);
  const at = step > 0 ? Math.max(ahead, 0) : before < 0 ? places.length - 1 : before;
  return { unit: places[at], number: at + 1 };
};
