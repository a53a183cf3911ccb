// The page's language, and how numbers are written in it.

import { LANGUAGES } from "./words.js";

/** A language by its code, if the page's texts are in it. @type {(code: string) => Language | undefined} */
export const languageOf = (code) => LANGUAGES.find(([one]) => one === code)?.[0];

/** The reader's own language by the browser's, such as "vi-VN"; the first if the texts aren't in it. @type {() => Language} */
export const ownLanguage = () => languageOf((navigator.language ?? "").toLowerCase().split("-")[0]) ?? LANGUAGES[0][0];

/**
 * A number as the page writes it: a decimal point in every language, as in code, in formulas and on axes; between
 * thousands what the language has there.
 * @type {(page: { language: Language, say: (key: string) => string }, value: number, options?: Intl.NumberFormatOptions) => string}
 */
export const localNumber = (page, value, options) => {
  const thousands = page.say("number.thousands").slice(1, -3);
  return new Intl.NumberFormat(page.language, { numberingSystem: "latn", useGrouping: true, ...options }).formatToParts(value)
    .map((part) => (part.type === "group" ? thousands : part.type === "decimal" ? "." : part.value)).join("");
};
