// BERT's normalizer: control characters, spaces, ideographs, accents and capitals; each character keeps its place.
// Equal to the tokenizers library, in places too (tests/test_page_live_tokens.py).
import { APART, BLANK, MARK, REMOVED } from "./characters.js";

const SPACE = 32;

/**
 * A text as the vocabulary has its pieces.
 * @param {number[]} codes the code points of a text
 * @param {number} start the place of the first
 * @param {CharacterTables} tables
 * @returns {AlignedText}
 */
export const normalized = (codes, start, tables) => {
  const places = codes.map((_, place) => start + place);
  /** @type {AlignedText} */
  let text = { codes, starts: places, ends: places.map((place) => place + 1) };
  text = only(text, (code) => !tables.is(REMOVED, code));
  text.codes = text.codes.map((code) => (tables.is(BLANK, code) ? SPACE : code));
  text = each(text, (code) => (tables.is(APART, code) ? [SPACE, code, SPACE] : undefined));
  text = only(decomposed(text, tables), (code) => !tables.is(MARK, code));
  return each(text, tables.lower);
};

/** Without some characters. @type {(text: AlignedText, keep: (code: number) => boolean) => AlignedText} */
const only = (text, keep) => {
  if (text.codes.every(keep)) return text;
  /** @type {AlignedText} */
  const kept = { codes: [], starts: [], ends: [] };
  text.codes.forEach((code, place) => {
    if (!keep(code)) return;
    kept.codes.push(code);
    kept.starts.push(text.starts[place]);
    kept.ends.push(text.ends[place]);
  });
  return kept;
};

/** Some replaced by several. @type {(text: AlignedText, by: (code: number) => number[] | undefined) => AlignedText} */
const each = (text, by) => {
  if (!text.codes.some(by)) return text;
  /** @type {AlignedText} */
  const made = { codes: [], starts: [], ends: [] };
  text.codes.forEach((code, place) => {
    for (const one of by(code) ?? [code]) {
      made.codes.push(one);
      made.starts.push(text.starts[place]);
      made.ends.push(text.ends[place]);
    }
  });
  return made;
};

/**
 * Decomposed, and the marks of each letter in the order of their classes. As in the library, places stay in order: a
 * character that replaces one takes the next place, one that is added the place before it.
 * @type {(text: AlignedText, tables: CharacterTables) => AlignedText}
 */
const decomposed = (text, tables) => {
  if (!text.codes.some((code) => tables.decomposed(code) || tables.classOf(code))) return text;
  const parts = text.codes.flatMap((code) =>
    (tables.decomposed(code) ?? [code]).map((one, nth) => ({ code: one, added: nth > 0, kind: tables.classOf(one) })),
  );
  for (let first = 0; first < parts.length; first++) {
    if (!parts[first].kind) continue;
    let last = first + 1;
    while (last < parts.length && parts[last].kind) last++;
    const marks = parts.slice(first, last).sort((a, b) => a.kind - b.kind);
    marks.forEach((mark, nth) => (parts[first + nth] = mark));
    first = last;
  }
  let next = 0;
  const places = parts.map(({ added }) => (added ? Math.max(next - 1, 0) : next++));
  return {
    codes: parts.map(({ code }) => code),
    starts: places.map((place) => text.starts[place]),
    ends: places.map((place) => text.ends[place]),
  };
};
