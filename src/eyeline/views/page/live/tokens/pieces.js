// BERT's tokenizer: a text cut into words, and these into the longest pieces that the vocabulary has.
// Equal to the tokenizers library (tests/test_page_live_tokens.py). Source: Devlin et al., "BERT" (2019).
import { BETWEEN, PUNCTUATION, characterTables } from "./characters.js";
import { normalized } from "./normal.js";
import { codesOf } from "./places.js";

/** A piece of a text: its id, and its place in code points. @typedef {{ id: number, start: number, end: number }} Piece */

/**
 * What cuts a text into pieces, without those around it.
 * @param {PiecesData} data
 * @param {string[]} vocabulary
 * @returns {(text: string) => Piece[]}
 */
export const pieceCutter = (data, vocabulary) => {
  const tables = characterTables(data.characters);
  /** @type {Map<string, number>} */
  const ids = new Map(vocabulary.map((piece, id) => [piece, id]));
  const most = Math.max(...vocabulary.map((piece) => piece.length));
  const whole = data.whole.map((id) => vocabulary[id]);
  // The longest first: where one begins with another, the library takes the longer.
  const asTyped = whole.sort((a, b) => b.length - a.length).map((piece) => piece.replace(/[^\w]/g, "\\$&"));
  const typed = asTyped.length ? new RegExp(asTyped.join("|"), "g") : null;

  /** The pieces of one word. @type {(word: AlignedText, first: number, last: number) => Piece[]} */
  const ofWord = (word, first, last) => {
    const unknown = [{ id: data.unknown, start: word.starts[first], end: word.ends[last - 1] }];
    if (last - first > data.longest) return unknown;
    const characters = word.codes.slice(first, last).map((code) => String.fromCodePoint(code));
    /** @type {Piece[]} */
    const found = [];
    let from = 0;
    while (from < characters.length) {
      let to = Math.min(characters.length, from + most);
      let id;
      for (; to > from; to--) {
        id = ids.get((from ? data.prefix : "") + characters.slice(from, to).join(""));
        if (id !== undefined) break;
      }
      if (id === undefined) return unknown;
      found.push({ id, start: word.starts[first + from], end: word.ends[first + to - 1] });
      from = to;
    }
    return found;
  };

  /** Append the pieces of text without pieces as typed. @type {(found: Piece[], text: string, start: number) => void} */
  const addText = (found, text, start) => {
    const normal = normalized(codesOf(text), start, tables);
    let first = 0;
    const close = (/** @type {number} */ last) => {
      if (last > first) found.push(...ofWord(normal, first, last));
    };
    normal.codes.forEach((code, place) => {
      const between = tables.is(BETWEEN, code);
      if (!between && !tables.is(PUNCTUATION, code)) return;
      close(place);
      if (!between) found.push(...ofWord(normal, place, place + 1));
      first = place + 1;
    });
    close(normal.codes.length);
  };

  return (text) => {
    /** @type {Piece[]} */
    const found = [];
    let [after, place] = [0, 0]; // in UTF-16 units, and in code points
    for (const match of typed ? text.matchAll(typed) : []) {
      addText(found, text.slice(after, match.index), place);
      const start = place + codesOf(text.slice(after, match.index)).length;
      place = start + codesOf(match[0]).length;
      found.push({ id: /** @type {number} */ (ids.get(match[0])), start, end: place });
      after = match.index + match[0].length;
    }
    addText(found, text.slice(after), place);
    return found;
  };
};
