// Characters of a text: Python counts them, JavaScript counts UTF-16 code units.

/** The spaces of Python's str.strip. */
const SPACES = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
const BEFORE = new RegExp(`^${SPACES}`);
const AFTER = new RegExp(`${SPACES}$`);

/** The code points of a text. @type {(text: string) => number[]} */
export const codesOf = (text) => Array.from(text, (character) => /** @type {number} */ (character.codePointAt(0)));

/**
 * The UTF-16 place of each of a text's characters, and of its end.
 * @type {(text: string) => number[]}
 */
export const placesOf = (text) => {
  const places = [];
  let place = 0;
  for (const character of text) {
    places.push(place);
    place += character.length;
  }
  places.push(place);
  return places;
};

/**
 * The first surrogate without its partner, and how many characters are before it.
 * @type {(text: string) => { unit: string, place: number } | null}
 */
export const loneSurrogate = (text) => {
  const found = /[\ud800-\udfff]/u.exec(text);
  return found && { unit: found[0], place: codesOf(text.slice(0, found.index)).length };
};

/** Without the spaces before it, as Python's str.lstrip. @type {(text: string) => string} */
export const leftStripped = (text) => text.replace(BEFORE, "");

/** Without the spaces around it, as Python's str.strip. @type {(text: string) => string} */
export const stripped = (text) => leftStripped(text).replace(AFTER, "");
