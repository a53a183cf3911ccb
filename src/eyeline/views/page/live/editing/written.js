// Edits in words, read and written as Python's edits/written.py.

import { NotOfForm, sitesOf, sitesWords, tokensOf, tokensWords } from "./chosen.js";
import { refused } from "./refusing.js";

const NAMES = ["cut", "reweight", "uniform", "gate"];
/** What takes another run, or means over texts. */
const ELSEWHERE = ["patch", "pattern", "mean"];
const KINDS = ["encoder", "decoder", "cross"];
const NAMED = 3; // the most edits in the name of a run
/** Letters without a space, or a quoted word with its escapes. */
const FIELD = /(?:"(?:[^"\\]|\\.)*"|[^\s"])+/g;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** The edit that words say. @type {(words: string) => LiveEdit} */
export const parse = (words) => {
  const fields = words.match(FIELD) ?? [];
  const [first = "", ...rest] = fields;
  const name = first.toLowerCase();
  if (ELSEWHERE.includes(name)) throw refused("elsewhere", { words });
  try {
    if (words.replace(FIELD, "").trim() || !NAMES.includes(name)) throw new NotOfForm();
    return made(/** @type {EditName} */ (name), rest);
  } catch (error) {
    throw error instanceof NotOfForm ? refused("form", { words }) : error;
  }
};

/** @type {(name: EditName, fields: string[]) => LiveEdit} */
const made = (name, fields) => {
  const has = KINDS.includes(fields[0]?.toLowerCase());
  const kind = has ? /** @type {AttentionKind} */ (fields[0].toLowerCase()) : null;
  const [sites, ...rest] = has ? fields.slice(1) : fields;
  if (sites === undefined) throw new NotOfForm();
  const [layers, heads] = sitesOf(sites);
  /** @type {Chosen[]} */
  let [queries, keys] = [null, null];
  /** @type {number | number[]} */
  let by = 0;
  if (name === "cut" || name === "reweight") {
    const tokens = rest.shift();
    if (!tokens?.includes(">")) throw new NotOfForm();
    [queries, keys] = tokensOf(tokens);
  }
  if (name === "gate" || name === "reweight") by = factorOf(rest.shift() ?? "0");
  if (rest.length) throw new NotOfForm();
  return { name, kind, layers, heads, queries, keys, by };
};

/** One number, or several with commas, one per position. @type {(words: string) => number | number[]} */
const factorOf = (words) => {
  const numbers = words.replace(/,$/, "").split(",");
  if (!numbers.every((number) => NUMBER.test(number) && Number.isFinite(Number(number)))) throw new NotOfForm();
  return words.includes(",") ? numbers.map(Number) : Number(numbers[0]);
};

/** A number as Python writes it, without ".0". @type {(number: number) => string} */
const numberWords = (number) => {
  const size = Math.abs(number);
  if (Object.is(number, -0)) return "-0";
  if (size === 0 || (size >= 1e-4 && size < 1e16)) return String(number);
  return number.toExponential().replace(/([+-])(\d)$/, "$10$2");
};

/** The words of an edit, which `parse` reads: of edits that are alike, the same. @type {(edit: LiveEdit) => string} */
export const wordsOf = ({ name, kind, layers, heads, queries, keys, by }) => {
  const said = [name, ...(kind ? [kind] : []), sitesWords(layers, heads)];
  if (name === "cut" || name === "reweight") said.push(`${tokensWords(queries)}>${tokensWords(keys)}`);
  if (name === "gate" || name === "reweight") {
    said.push(Array.isArray(by) ? `${by.map(numberWords).join(",")}${by.length > 1 ? "" : ","}` : numberWords(by));
  }
  return said.join(" ");
};

/** Edits in words for the name of a run: all of a few, else the first and how many more. @type {(words: string[]) => string[]} */
export const namesOf = (words) => {
  if (words.length <= NAMED) return words;
  return [...words.slice(0, NAMED - 1), `${words.length - NAMED + 1} more edits`];
};
