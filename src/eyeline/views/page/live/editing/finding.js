// The tokens of an edit's words, found in a text as Python's traces/word_search.py finds them.

import { refused } from "./refusing.js";

const NAMED = 12; // the most words that an error names
const PLACES = 6; // the most places that it names

/** @type {(text: string) => string} */
const composed = (text) => text.normalize("NFC").split(/\s+/).filter(Boolean).join(" ");
/** Without case: as capitals, then small, as "ß" is "ss" then. @type {(text: string) => string} */
const folded = (text) => composed(text).toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFC");
/** How alike a word and the text must be, the strictest first. @type {((text: string) => string)[]} */
const ALIKE = [(text) => text, composed, folded];

/** A range of tokens as edits name it. @type {(range: [first: number, last: number]) => string} */
const place = ([first, last]) => (last - first === 1 ? `#${first}` : `#${first}-${last - 1}`);

/**
 * The tokens [first, last) of each place where words of a text, or several in a row, are alike to a word.
 * @type {(word: string, line: LineEntry) => [first: number, last: number][]}
 */
const matches = (word, { text, words, pieces }) => {
  /** @type {[number, number][]} */
  const named = words.flatMap(([first, last, start]) => (start < 0 && pieces[first] === word ? [[first, last]] : []));
  if (named.length) return named;
  const longest = 4 * word.length + 8;
  for (const alike of ALIKE) {
    const goal = alike(word);
    /** @type {[number, number][]} */
    const found = [];
    for (let unit = 0; unit < words.length; unit++) {
      const [first, , start] = words[unit];
      for (let end = unit; end < words.length; end++) {
        const [, last, from, to] = words[end];
        if (start < 0 || from < 0 || to - start > longest) break;
        if (alike(text.slice(start, to)) !== goal) continue;
        found.push([first, last]);
        unit = end;
        break;
      }
    }
    if (found.length) return found;
  }
  return [];
};

/** The words of a text, the first of many. @type {(line: LineEntry) => string} */
const wordsOf = ({ text, words }) => {
  const all = [...new Set(words.flatMap(([, , start, end]) => (start < 0 ? [] : [text.slice(start, end)])))].filter((one) => one.trim());
  return all.slice(0, NAMED).join(", ") + (all.length > NAMED ? ", …" : "");
};

/**
 * A choice of tokens with positions in place of words.
 * @type {(chosen: Chosen, line: LineEntry, side: "queries" | "keys") => Chosen}
 */
export const found = (chosen, line, side) => {
  if (!Array.isArray(chosen)) return chosen;
  return chosen.flatMap((one) => {
    if (typeof one === "number") return [one];
    const word = one.trim();
    const places = word ? matches(word, line) : [];
    if (!places.length) throw refused("missing", { side, word: one, words: wordsOf(line) });
    if (places.length > 1) {
      const shown = places.slice(0, PLACES).map(place).join(", ");
      throw refused("repeated", { side, word: one, count: places.length, places: shown });
    }
    const [[first, last]] = places;
    return Array.from({ length: last - first }, (_, at) => first + at);
  });
};
