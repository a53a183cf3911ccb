// A model's tokenizer, from what Python's models/tokenizer_data.py says of it: BERT's, or one of letters.
import { pieceCutter } from "./pieces.js";
import { loneSurrogate, placesOf, stripped } from "./places.js";
import { quoted, refusedLetters, refusedPieces, TextRefused } from "./refusing.js";
import { wordSplitter } from "./splitting.js";

/**
 * A model's tokenizer.
 * @param {TokenizerData | PiecesData} data
 * @returns {LiveTokenizer}
 */
export const tokenizer = (data) => {
  const { name, positions } = data;
  const vocabulary = data.vocabulary.split("\n");
  const split = wordSplitter(data.words);
  const [before, after] = "before" in data ? [data.before, data.after] : [[], []];
  const cut = "before" in data ? pieceCutter(data, vocabulary) : letterCutter(data, vocabulary);

  /** @param {string} text */
  const read = (text) => {
    const lone = loneSurrogate(text);
    if (lone) {
      const values = { letter: quoted(lone.unit), place: lone.place };
      throw new TextRefused({ key: "live.text.unicode", values });
    }
    const places = placesOf(text);
    const found = cut(text);
    /** @type {<T>(values: T[], value: T) => T[]} */
    const around = (values, value) => [...before.map(() => value), ...values, ...after.map(() => value)];
    const ids = [...before, ...found.map(({ id }) => id), ...after];
    const pieces = ids.map((id) => vocabulary[id]);
    const starts = around(found.map(({ start }) => places[start]), -1);
    const ends = around(found.map(({ end }) => places[end]), -1);
    const special = around(found.map(() => false), true);
    const unknown = ids.flatMap((id, token) => {
      if (id !== data.unknown || special[token]) return [];
      // If the text itself contains [UNK], that token isn't unknown.
      const typed = stripped(text.slice(starts[token], ends[token]));
      return typed === "" || typed === pieces[token] ? [] : [token];
    });
    /** @type {LiveTokens} */
    const tokens = { text, ids, pieces, starts, ends, special, unknown, split: split(text) };
    return ids.length > positions ? { ...tokens, tooLong: positions } : tokens;
  };

  /** @type {LiveTokenizer["written"]} */
  const written = (ids, extra) => {
    const special = ids.map((id) => extra.includes(id));
    const pieces = ids.map((id) => vocabulary[id]);
    const texts = pieces.map((piece, token) => (special[token] ? "" : piece));
    let place = 0;
    const ends = texts.map((text) => (place += text.length));
    const starts = ends.map((end, token) => end - texts[token].length);
    const text = texts.join("");
    const of = (/** @type {number[]} */ all) => all.map((at, token) => (special[token] ? -1 : at));
    return { text, ids, pieces, starts: of(starts), ends: of(ends), special, unknown: [], split: split(text) };
  };

  /** @type {LiveTokenizer["refusal"]} */
  const refusal = (tokens) =>
    data.kind === "pieces"
      ? refusedPieces(tokens, name, positions)
      : refusedLetters(tokens, name, positions, vocabulary);

  return { name, positions, read, written, refusal };
};

/** What cuts a text into letters. @type {(data: TokenizerData, vocabulary: string[]) => ReturnType<typeof pieceCutter>} */
const letterCutter = (data, vocabulary) => {
  const ids = new Map(vocabulary.map((piece, id) => [piece, id]));
  return (text) =>
    Array.from(text, (letter, place) => ({ id: ids.get(letter) ?? data.unknown, start: place, end: place + 1 }));
};
