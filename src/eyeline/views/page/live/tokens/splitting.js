// The words of a text, as Python's models/tokens.py finds them: by offsets, as typed.
import { codesOf, placesOf } from "./places.js";

/** A word, on the kinds of its characters: tokens.py says what each kind is, and why. */
const WORD = /(?:l[mz]*(?:\.(?=l))?|d[mz]*(?:[.,](?=d))?)+|ff[mz]*|[fi][mz]*|[p.,](?:m|zp?)*|[mz]+/g;

/** @typedef {[start: number, end: number]} Span */

/**
 * What splits a text into words: the places of each, in UTF-16 units.
 * @param {TokenizerData["words"]} data
 * @returns {(text: string) => Span[]}
 */
export const wordSplitter = ({ letters, lengths }) => {
  const kinds = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  lengths.forEach((length, run) => kinds.fill(letters.charCodeAt(run), at, (at += length)));
  return (text) => {
    const places = placesOf(text);
    const line = codesOf(text).map((code) => String.fromCharCode(kinds[code])).join("");
    return Array.from(line.matchAll(WORD), ({ 0: word, index }) => [places[index], places[index + word.length]]);
  };
};

/**
 * The word of each token, -1 for none, and the place of each word that has a token; as tokens.py's `number_words`.
 * A token is never split: the words that it overlaps become one.
 * @param {LiveTokens} tokens
 * @returns {{ words: number[], spans: Span[] }}
 */
export const grouped = (tokens) => {
  const limits = tokens.split;
  /** How many words end at or before a place; and how many begin before it. */
  const ended = (/** @type {number} */ place) => countBefore(limits.length, (word) => limits[word][1] <= place);
  const begun = (/** @type {number} */ place) => countBefore(limits.length, (word) => limits[word][0] < place);
  const overlapped = tokens.ids.map((_, token) => {
    if (tokens.special[token]) return null;
    const [start, end] = [tokens.starts[token], tokens.ends[token]];
    const [first, last] = [ended(start), begun(Math.max(end, start + 1))];
    return first < last ? { first, last } : null;
  });
  // Words that a token joins: each but the first of those that it overlaps is joined to the one before.
  const changes = new Int32Array(limits.length + 1);
  for (const one of overlapped) {
    if (!one) continue;
    changes[one.first + 1]++;
    changes[one.last]--;
  }
  const whole = new Int32Array(limits.length);
  let [joined, count] = [0, 0];
  for (let word = 0; word < limits.length; word++) {
    joined += changes[word];
    if (!joined) count++;
    whole[word] = count - 1;
  }
  const used = [...new Set(overlapped.flatMap((one) => (one ? [whole[one.first]] : [])))].sort((a, b) => a - b);
  const numbers = new Map(used.map((word, number) => [word, number]));
  /** @type {Span[]} */
  const spans = [];
  whole.forEach((word, part) => {
    const number = numbers.get(word);
    if (number === undefined) return;
    if (spans[number]) spans[number][1] = limits[part][1];
    else spans[number] = [...limits[part]];
  });
  return { words: overlapped.map((one) => (one ? /** @type {number} */ (numbers.get(whole[one.first])) : -1)), spans };
};

/** How many of the numbers from 0 something is true of, if it is true of none after one that it isn't true of. */
const countBefore = (/** @type {number} */ count, /** @type {(number: number) => boolean} */ is) => {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (is(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
};
