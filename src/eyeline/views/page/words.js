// The interface's texts in each language, with {name} to be filled in. They come from the catalogue, src/eyeline/words.

/** Filled in by joining.py: each text by its key, in the order of LANGUAGES. @type {Record<string, string[]>} */
const WORDS = {};

/** Filled in by joining.py: the languages, by their codes and own names. @type {[code: Language, name: string][]} */
export const LANGUAGES = [];

/** The text of `key` in a language, if there is one. @type {(language: Language, key: string) => string | undefined} */
export const said = (language, key) => WORDS[key]?.[LANGUAGES.findIndex(([code]) => code === language)];

/**
 * The text of `key` in a language, with {names} filled in.
 * @type {(language: Language, key: string, values?: Values) => string}
 */
export const worded = (language, key, values = {}) => {
  const text = said(language, key);
  if (text === undefined) throw new Error(`the catalogue has no text "${key}"`);
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
};

/**
 * The keyboard shortcuts and their effects, in a language; those of all views have the view "page".
 * @type {(language: Language) => { view: string, keys: string[], text: string }[]}
 */
export const keyTexts = (language) =>
  Object.keys(WORDS)
    .filter((name) => /^keys\.\w+\./.test(name))
    .map((name) => {
      const [keys, ...text] = worded(language, name).split(": ");
      return { view: name.split(".")[1], keys: keys.split(" "), text: text.join(": ") };
    });
