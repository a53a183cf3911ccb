// The numbers of a toy, and the text that holds them in the page's address.

import { dot } from "./attention.js";

const MOST = { tokens: 8, width: 4, number: 1000, letters: 40 };
const MASKS = /** @type {ToyMask[]} */ (["none", "causal", "padding"]);

/** The textbook's example: of "flies", 0.45 comes from "time", 0.10 from itself, 0.45 from "arrow". @type {Toy} */
export const EXAMPLE = {
  words: ["time", "flies", "arrow"],
  q: [[0.5, -1.5], [1, 1], [0, -1]],
  k: [[1.5, 0.5], [0.4, -0.5], [0.5, 1.5]],
  v: [[2, 0], [-1, 1], [0, 2]],
  scaled: true,
  mask: "none",
  row: 1,
};

/** The word that is added as the fourth, and the numbers of every added word: the first of them, then zeros. */
const ADDED = { word: "fast", q: [1, 0.5], k: [0.5, 0.5], v: [1, -1] };

export const LARGEST = MOST.number;

/** A number in at most three decimals. @type {(value: number) => number} */
export const tidy = (value) => Number(Math.min(Math.max(value, -LARGEST), LARGEST).toFixed(3)) + 0;

/** Signs that mean something in the address or in this text become $XX. @type {(word: string) => string} */
const coded = (word) =>
  word.replace(/[^\p{L}\p{N}\p{M}-]/gu, (sign) =>
    [...new TextEncoder().encode(sign)].map((byte) => `$${byte.toString(16).padStart(2, "0")}`).join(""),
  );

/** @type {(text: string) => string} */
const decoded = (text) => decodeURIComponent(text.replaceAll("$", "%"));

/**
 * A toy as a text: "time:0.5,-1.5:1.5,0.5:2,0;…/causal/unscaled/row0", of each word its query, key and value.
 * @type {(toy: Toy) => string}
 */
export const written = ({ words, q, k, v, scaled, mask, row }) => {
  const tokens = words.map((word, at) => [coded(word), ...[q, k, v].map((rows) => rows[at].map(tidy).join())].join(":"));
  const settings = [mask === "none" ? null : mask, scaled ? null : "unscaled", `row${row}`];
  return [tokens.join(";"), ...settings.filter(Boolean)].join("/");
};

/** @type {(text: string) => number[] | null} */
const vector = (text) => {
  const parts = text.split(",");
  const numbers = parts.map((part) => (part.trim() === "" ? NaN : Number(part)));
  const sound = numbers.every((number) => Math.abs(number) <= MOST.number) && numbers.length <= MOST.width;
  return sound ? numbers.map(tidy) : null;
};

/** @type {(text: string) => { word: string, vectors: number[][] } | null} */
const token = (text) => {
  const [name, ...parts] = text.split(":");
  const vectors = parts.map(vector);
  if (!name || vectors.length !== 3) return null;
  try {
    const word = decoded(name).slice(0, MOST.letters);
    return word.trim() ? { word, vectors: vectors.filter((one) => one !== null) } : null;
  } catch {
    return null; // $ without two hexadecimal digits
  }
};

/** The toy that a text describes; null if it describes none. @type {(text: string) => Toy | null} */
export const parsed = (text) => {
  const [first, ...settings] = text.split("/");
  const tokens = first.split(";").map(token);
  if (tokens.length > MOST.tokens) return null;
  const found = tokens.filter((one) => one !== null);
  const [q, k, v] = [0, 1, 2].map((at) => found.map(({ vectors }) => vectors[at]));
  if (found.length < tokens.length || found.some(({ vectors }) => vectors.length < 3)) return null;
  const [D, E] = [q[0].length, v[0].length];
  if ([...q, ...k].some((one) => one.length !== D) || v.some((one) => one.length !== E)) return null;
  const row = Number(settings.find((one) => /^row\d$/.test(one))?.slice(3) ?? 0);
  return {
    words: found.map(({ word }) => word), q, k, v,
    scaled: !settings.includes("unscaled"),
    mask: MASKS.find((mask) => settings.includes(mask)) ?? "none",
    row: Math.min(row, found.length - 1),
  };
};

/** The toy that the state describes. @type {(page: Page) => Toy} */
export const toyOf = ({ state: { toy } }) => (toy ? parsed(toy) : null) ?? EXAMPLE;

/** @type {(numbers: number[], width: number) => number[]} */
const fitted = (numbers, width) => Array.from({ length: width }, (_, at) => numbers[at] ?? 0);

/** The toy with one more word, unless it has as many as it may have. @type {(toy: Toy) => Toy} */
export const withOneMore = (toy) => {
  if (toy.words.length >= MOST.tokens) return toy;
  const word = toy.words.includes(ADDED.word) ? `x${toy.words.length}` : ADDED.word;
  const [D, E] = [toy.q[0].length, toy.v[0].length];
  return {
    ...toy,
    words: [...toy.words, word],
    q: [...toy.q, fitted(ADDED.q, D)], k: [...toy.k, fitted(ADDED.k, D)], v: [...toy.v, fitted(ADDED.v, E)],
  };
};

/** Whether it may have one more word. @type {(toy: Toy) => boolean} */
export const hasRoom = ({ words }) => words.length < MOST.tokens;

/** The toy with words in another order: row i is what was row order[i]. @type {(toy: Toy, order: number[]) => Toy} */
export const ordered = (toy, order) => ({
  ...toy,
  words: order.map((at) => toy.words[at]),
  q: order.map((at) => toy.q[at]), k: order.map((at) => toy.k[at]), v: order.map((at) => toy.v[at]),
  row: Math.max(order.indexOf(toy.row), 0),
});

/** The toy without a word. @type {(toy: Toy, out: number) => Toy} */
export const without = (toy, out) => ordered(toy, toy.words.map((_, at) => at).filter((at) => at !== out));

/** The toy with vectors of another width: numbers are dropped, or 0 is added. @type {(toy: Toy, width: number) => Toy} */
export const widened = (toy, width) => {
  /** @type {(rows: number[][]) => number[][]} */
  const all = (rows) => rows.map((row) => fitted(row, width));
  return { ...toy, q: all(toy.q), k: all(toy.k), v: all(toy.v) };
};

/** The toy with one number changed. @type {(toy: Toy, cell: ToyCell, value: number) => Toy} */
export const changed = (toy, { part, row, column }, value) => {
  if (part !== "q" && part !== "k" && part !== "v") return toy;
  const rows = toy[part].map((numbers, at) =>
    at === row ? numbers.map((number, of) => (of === column ? tidy(value) : number)) : numbers,
  );
  return { ...toy, [part]: rows };
};

/**
 * The toy in which a query's score for a key is `score`: the key is moved along the query, which is the smallest move
 * that does it. Other queries' scores for this key move with it. Nothing changes if the query is 0.
 * @type {(toy: Toy, row: number, key: number, score: number) => Toy}
 */
export const scored = (toy, row, key, score) => {
  const [query, old] = [toy.q[row], toy.k[key]];
  const length = dot(query, query);
  if (!length) return toy;
  const missing = score - dot(query, old);
  const moved = old.map((number, at) => tidy(number + (missing * query[at]) / length));
  return { ...toy, k: toy.k.map((one, at) => (at === key ? moved : one)) };
};

/** Whether two toys are the same. @type {(one: Toy, other: Toy) => boolean} */
export const same = (one, other) => written(one) === written(other);
