// Why a model can't run a text: the page's text of each key words it as Python does.
import { codesOf, placesOf } from "./places.js";

const SHOWN = 20; // characters of a text without words
const NAMED = { "\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\" };

/** Thrown for a text that can't be tokenized: the page's text that says why, and its values. */
export class TextRefused extends Error {
  /** @param {TextRefusal} refusal */
  constructor(refusal) {
    super(refusal.key);
    this.key = refusal.key;
    this.values = refusal.values;
  }
}

/**
 * A text as Python's repr writes it: in quotes, with escapes for what isn't seen.
 * @type {(text: string) => string}
 */
export const quoted = (text) => {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const shown = Array.from(text, (character) => {
    if (character in NAMED) return NAMED[/** @type {keyof typeof NAMED} */ (character)];
    if (character === quote) return `\\${quote}`;
    if (character === " " || !/[\p{C}\p{Z}]/u.test(character)) return character;
    const code = /** @type {number} */ (character.codePointAt(0));
    const digits = code.toString(16);
    return code < 256 ? `\\x${digits.padStart(2, "0")}` : code < 65536 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
  });
  return `${quote}${shown.join("")}${quote}`;
};

/**
 * Letters in order, those in a row as a range: "space , A-C z", as Python's traces/letters.py.
 * @type {(letters: string[]) => string}
 */
const ranges = (letters) => {
  /** @type {string[][]} */
  const runs = [];
  for (const letter of letters) {
    const run = runs[runs.length - 1];
    const last = run?.[run.length - 1];
    const next = last !== undefined && letter.codePointAt(0) === /** @type {number} */ (last.codePointAt(0)) + 1;
    if (next && /^[\p{L}\p{N}]+$/u.test(last + letter)) run.push(letter);
    else runs.push([letter]);
  }
  const named = runs.map((run) => (run.length > 2 ? `${run[0]}-${run[run.length - 1]}` : run.join(" ")));
  return named.map((name) => (name === " " ? "space" : name)).join(" ");
};

/**
 * Why a model of pieces can't run a text's tokens; null if it can.
 * @type {(tokens: LiveTokens, model: string, positions: number) => TextRefusal | null}
 */
export const refusedPieces = (tokens, model, positions) => {
  const count = tokens.ids.length;
  const long = count > positions ? { key: "live.text.long", values: { model, positions, count } } : null;
  return refusedWords(tokens) ?? long;
};

/**
 * Why a model of letters can't run a text's letters; null if it can.
 * @type {(tokens: LiveTokens, model: string, room: number, vocabulary: string[]) => TextRefusal | null}
 */
export const refusedLetters = (tokens, model, room, vocabulary) => {
  const [first] = tokens.unknown;
  if (first !== undefined) {
    const [start, end] = [tokens.starts[first], tokens.ends[first]];
    const known = vocabulary.filter((piece) => codesOf(piece).length === 1).sort((a, b) => codesOf(a)[0] - codesOf(b)[0]);
    const letter = quoted(tokens.text.slice(start, end));
    const place = placesOf(tokens.text).indexOf(start);
    return { key: "live.text.letters", values: { model, letters: ranges(known), letter, place } };
  }
  const count = tokens.ids.length;
  return count > room ? { key: "live.text.many", values: { model, room, count } } : refusedWords(tokens);
};

/** @type {(tokens: LiveTokens) => TextRefusal | null} */
const refusedWords = ({ text, ids, starts, ends, special, split }) => {
  // A token is in a word if it overlaps one; a token of no width is, if it is at one.
  const inWord = ids.some(
    (_, token) =>
      !special[token] && split.some(([first, last]) => first < Math.max(ends[token], starts[token] + 1) && last > starts[token]),
  );
  if (inWord) return null;
  return { key: "live.text.empty", values: { text: quoted(Array.from(text).slice(0, SHOWN).join("")) } };
};
