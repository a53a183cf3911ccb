// The groups of a text's tokens on which heads' weights are measured: what is set aside, the first token, special
// tokens, and punctuation.

import { stripped } from "../tokens/places.js";

/** Whether a text, apart from spaces around it, is only punctuation: Unicode's general category P. @type {(text: string) => boolean} */
export const isPunctuation = (text) => /^\p{P}+$/u.test(stripped(text));

/** The groups of which a token is in one at most. */
export const FIRST = 1;
export const SPECIAL = 2;
export const PUNCTUATION = 3;
/** Added to the group of a token that is set aside. */
export const ASIDE = 4;
/** How many groups there are, with the tokens that are in none. */
export const GROUPS = 8;

/** The group of each token of a text. (N) @type {(line: LineEntry) => Int32Array} */
export const groupsOf = ({ text, starts, ends, words, aside }) => {
  const groups = Int32Array.from(starts, (start, at) => {
    if (at === 0) return FIRST;
    if (start < 0) return SPECIAL;
    return isPunctuation(text.slice(start, ends[at])) ? PUNCTUATION : 0;
  });
  for (const word of aside) for (let at = words[word][0]; at < words[word][1]; at++) groups[at] += ASIDE;
  return groups;
};

/** Whether each word of a text is neither set aside nor punctuation. @type {(line: LineEntry) => boolean[]} */
export const areWords = ({ text, words, aside }) => {
  const out = new Set(aside);
  return words.map(([, , start, end], at) => start >= 0 && !out.has(at) && !isPunctuation(text.slice(start, end)));
};
