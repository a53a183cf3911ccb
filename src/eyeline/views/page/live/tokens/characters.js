// What a BERT tokenizer does with each character, from Python's tables: the browser's Unicode has another version.
import { codesOf } from "./places.js";

/** What may be true of a character. */
export const REMOVED = 1;
export const BLANK = 2;
export const APART = 4;
export const MARK = 8;
export const BETWEEN = 16;
export const PUNCTUATION = 32;

const POINTS = 0x110000;
const HANGUL = { first: 0xac00, count: 11172, l: 0x1100, v: 0x1161, t: 0x11a7, vs: 21, ts: 28 };

/**
 * The tables that answer for a code point.
 * @param {PiecesData["characters"]} data
 * @returns {CharacterTables}
 */
export const characterTables = (data) => {
  const flags = new Uint8Array(POINTS);
  /** @type {(runs: CharacterRuns, flag: number) => void} */
  const set = (runs, flag) => {
    for (let i = 0, at = 0; i < runs.length; i += 2) {
      at += runs[i];
      for (const end = at + runs[i + 1]; at < end; at++) flags[at] |= flag;
    }
  };
  set(data.removed, REMOVED);
  set(data.blank, BLANK);
  set(data.apart, APART);
  set(data.marks, MARK);
  set(data.between, BETWEEN);
  set(data.punctuation, PUNCTUATION);
  /** @type {Map<number, number>} */
  const classes = new Map();
  for (let i = 0, at = 0; i < data.classes.length; i += 3) {
    at += data.classes[i];
    for (const end = at + data.classes[i + 1]; at < end; at++) classes.set(at, data.classes[i + 2]);
  }
  const [decomposed, lower] = [replacements(data.decomposed), replacements(data.lower)];
  return {
    is: (flag, code) => (flags[code] & flag) !== 0,
    classOf: (code) => classes.get(code) ?? 0,
    decomposed: (code) => decomposed.get(code) ?? (data.classes.length ? syllable(code) : undefined),
    lower: (code) => lower.get(code),
  };
};

/** @param {ReplacedCharacters} data */
const replacements = ({ steps, texts }) => {
  /** @type {Map<number, number[]>} */
  const found = new Map();
  const lines = texts.split("\n");
  let code = 0;
  steps.forEach((step, index) => found.set((code += step), codesOf(lines[index])));
  return found;
};

/**
 * The letters of a syllable of Hangul. Source: the Unicode Standard, section 3.12.
 * @type {(code: number) => number[] | undefined}
 */
const syllable = (code) => {
  const place = code - HANGUL.first;
  if (place < 0 || place >= HANGUL.count) return undefined;
  const { l, v, t, vs, ts } = HANGUL;
  const letters = [l + Math.floor(place / (vs * ts)), v + Math.floor((place % (vs * ts)) / ts)];
  return place % ts ? [...letters, t + (place % ts)] : letters;
};
