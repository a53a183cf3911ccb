// A tokenized text as the page's header has it, as Python's `of_tokens(...).entry()` in traces/tokenized_text.py.
import { leftStripped } from "./places.js";
import { grouped } from "./splitting.js";

/**
 * The entry of a tokenized text.
 * @param {LiveTokens} tokens
 * @param {{ causal: boolean, prompt?: number | null }} options whether attention is causal: the first word is then set
 *   aside; and how many tokens are a prompt, if the others were generated
 * @returns {LineEntry}
 */
export const lineEntry = (tokens, { causal, prompt = null }) => {
  const { words, spans } = grouped(tokens);
  const places = placesOfPieces(tokens, words, spans);
  const entries = unitsOf(words, spans, places);
  const shown = entries.flatMap(({ extra }, unit) => (extra ? [] : [unit]));
  // The first word stays if no other would be left.
  const kept = new Set(causal && !(shown.length === 1 && shown[0] === 0) ? shown.filter((unit) => unit > 0) : shown);
  return {
    text: tokens.text,
    ids: [...tokens.ids],
    pieces: [...tokens.pieces],
    starts: places.map(([start]) => start),
    ends: places.map(([, end]) => end),
    words: entries.map(({ word }) => word),
    aside: entries.flatMap((_, unit) => (kept.has(unit) ? [] : [unit])),
    prompt,
    unknown: [...tokens.unknown],
  };
};

/** Words, special tokens and bare spaces, in reading order: tokens [first, last) and their place in the text. */
const unitsOf = (
  /** @type {number[]} */ words,
  /** @type {[number, number][]} */ spans,
  /** @type {[number, number][]} */ places,
) => {
  /** @type {{ word: LineEntry["words"][number], extra: boolean }[]} */
  const units = [];
  words.forEach((word, token) => {
    if (word < 0) units.push({ word: [token, token + 1, ...places[token]], extra: true });
    else if (token && words[token - 1] === word) units[units.length - 1].word[1] = token + 1;
    else units.push({ word: [token, token + 1, ...spans[word]], extra: false });
  });
  return units;
};

/** The place of each piece, with the marks after it that the tokenizer dropped, without spaces before it; -1 if special. */
const placesOfPieces = (
  /** @type {LiveTokens} */ tokens,
  /** @type {number[]} */ words,
  /** @type {[number, number][]} */ spans,
) => {
  const starts = [...new Set(tokens.starts.filter((_, token) => !tokens.special[token]))].sort((a, b) => a - b);
  let after = 0;
  return tokens.ids.map((_, token) => {
    if (tokens.special[token]) return /** @type {[number, number]} */ ([-1, -1]);
    let [start, end] = [tokens.starts[token], tokens.ends[token]];
    const last = words[token] < 0 ? end : spans[words[token]][1];
    while (after < starts.length && starts[after] < end) after++;
    end = Math.max(end, after < starts.length ? Math.min(last, starts[after]) : last);
    if (words[token] >= 0) start = end - leftStripped(tokens.text.slice(start, end)).length;
    return /** @type {[number, number]} */ ([start, end]);
  });
};
