// The language of a text, as far as its letters say it; as in views/text_language.py.

import { ENGLISH } from "./catalogue.js";

/** Letters that Vietnamese alone has, and those that other languages have too. */
const OWN = /[ơưấầẩẫậắằẳẵặếềểễệốồổỗộớờởỡợứừửữựảẻỉỏủỷ]/u;
const SHARED = /[ăâđêôơưàáãèéìíòóõùúýĩũ\u1ea0-\u1ef9]/u;
const PAIR = [/đ/u, /[âêô\u1ea0-\u1ef9]/u];

/** Scripts of one language, the first that has a letter in the text. @type {[TextLanguage, RegExp][]} */
const SCRIPTS = [
  ["japanese", /[\u3041-\u30ff]/u],
  ["korean", /[\u1100-\u11ff\uac00-\ud7af]/u],
  ["chinese", /[\u3400-\u9fff]/u],
  ["thai", /[\u0e01-\u0e4e]/u],
];
const LATIN = /[A-Za-z\u00aa-\u024f\u1e00-\u1eff]/u;
const WORDS = 0.4;
const LETTERS = 0.5;

/** The language of a text whose letters tell it; null in Latin letters otherwise. @type {(text: string) => TextLanguage | null} */
export const textLanguage = (text) => {
  const plain = text.normalize("NFKC").toLowerCase();
  const letters = plain.match(/\p{L}/gu) ?? [];
  const foreign = letters.filter((letter) => !LATIN.test(letter));
  if (letters.length && foreign.length >= LETTERS * letters.length) {
    const joined = foreign.join("");
    return SCRIPTS.find(([, script]) => script.test(joined))?.[0] ?? "another";
  }
  const words = plain.split(/[^\p{L}\p{N}_]+/u).filter((word) => /\p{L}/u.test(word));
  const marked = words.filter((word) => SHARED.test(word)).length;
  const own = OWN.test(plain) || PAIR.every((part) => part.test(plain));
  return own && marked >= WORDS * words.length ? "vietnamese" : null;
};

/** The language of a text that a model, trained on English alone, doesn't know; null if it may. @type {(text: string, model: string) => TextLanguage | null} */
export const unknownLanguage = (text, model) => (ENGLISH.includes(model) ? textLanguage(text) : null);
