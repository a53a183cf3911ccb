// The state of the page, and the words that restore it.

import { isLength } from "./cost/formula.js";
import { languageOf } from "./language.js";
import { parsed } from "./toy/example.js";
import { KINDS } from "./weights/kinds.js";

/** @type {Readonly<State>} Numbers that name something, such as a layer or a token, count from 0. */
const DEFAULTS = Object.freeze({
  view: "sentence",
  trace: 0,
  layer: 0,
  head: "mean", // a number, "mean" or "max"
  unit: "words", // or "pieces"
  special: "grey", // special tokens and others set aside: "grey" in one part, "shown" one by one, or left "out"
  token: null, // the pinned token
  toward: "from", // "from" it: whom it looks at; "to" it: who looks at it
  links: 5, // the number of links drawn, the strongest; or "all"
  order: "place", // of the overview: "place", "entropy", "distance", "aside", "pair" (token and key)
  kind: null, // of the overview: the kind of heads that doesn't fade; null for all
  colour: "looks", // of the overview: what its pictures show, "looks"; or "matters", what changes when each head is cut
  thumbnails: "own", // of the overview: whether each picture has its "own" scale, or all have one, "shared"
  scale: "auto", // of the matrix: "auto", "linear", "log", "rank"
  clipped: null, // keys whose columns don't count for the matrix's scale; null for the heavy ones
  box: null, // the visible part of the matrix, [top, left, bottom, right] in units; null for all
  ahead: true, // whether tokens may look ahead
  padded: 0, // the number of last tokens that are treated as padding
  scaled: true, // steps: whether scores are divided by √d
  step: null, // steps: the step to scroll to, 0 for x to 6; null for none
  removed: [], // steps: the removed keys
  edits: [], // what is changed in heads, in words: the run with these edits stands beside the text as trained
  key: null, // steps: the key whose products are shown, from 0; null for the one with most weight
  coordinate: null, // steps: the coordinate of queries and keys that is read; null for the largest product
  passed: null, // steps: the coordinate of values that is read; null for the largest
  other: null, // compare: the place of the other side, [trace, layer, head]
  partner: null, // compare: the token of the other side; null for the matching one
  toy: null, // the numbers of the toy, as toy/example.js writes them; null for the textbook's example
  scheme: null, // positions: the shown kind, "sinusoidal", "learned", "rotary"; null for the model's own
  placed: "none", // positions: what is added to the toy's queries and keys: "none", "sinusoidal"; or "rotary"
  shuffled: false, // positions: whether the toy's words are shuffled
  position: 8, // positions: the position that is read, and another one
  against: 3,
  n: null, // cost: the number of tokens; null for a thousand
  stop: null, // the stop of the lesson, from 0; null while it is closed
  done: [], // the stops of the lesson whose questions were answered
  own: [], // the traces of the reader's own sentences in the lesson, at most two
  language: null, // a code such as "vi"; null for the reader's own
  theme: null, // "light", "dark"; null for the reader's own
});

// Parsers of each key's text in words; undefined if the text is no value.

/** @type {(text: string) => number | undefined} */
export const index = (text) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined);

/** @type {(text: string) => number[] | undefined} */
const numbers = (text) => {
  const list = text.split(",").filter(Boolean).map(Number);
  return list.every((value) => Number.isFinite(value)) ? list : undefined;
};

/**
 * @template {string} T
 * @param {T[]} values
 * @returns {(text: string) => T | undefined}
 */
export const oneOf = (...values) => (text) => values.find((value) => value === text);

/** @type {(text: string) => HeadChoice | undefined} */
const headed = (text) => (text === "mean" || text === "max" ? text : index(text));

/** A trace; "2e" is the run of trace 2 with the state's edits: below 0 until it is found. @type {(text: string) => number | undefined} */
const run = (text) => (/^\d{1,9}e$/.test(text) ? -1 - Number(text.slice(0, -1)) : index(text));

/** What words write otherwise in an address, where each of them has a meaning of its own. */
const SIGNS = [[" ", "+"], ["#", "~"], [">", ":"]];

/** The edits in an address. @type {(text: string) => string[]} */
const edited = (text) => {
  const edits = text.split(";").map((one) => SIGNS.reduce((all, [sign, other]) => all.replaceAll(other, sign), one));
  return edits.filter((one) => /^[a-z]+ [\w ,.#>-]+$/.test(one));
};

/** The same as a text of an address. @type {(edits: string[]) => string} */
const editsWritten = (edits) =>
  edits.map((one) => SIGNS.reduce((all, [sign, other]) => all.replaceAll(sign, other), one)).join(";");

/** Older addresses have yes and no. @type {(text: string) => SpecialTokens | undefined} */
const aside = (text) => (text === "yes" ? "shown" : text === "no" ? "grey" : oneOf("grey", "shown", "out")(text));

/** A position in the pictures of positions. @type {(text: string) => number | undefined} */
const within64 = (text) => (Number(text) < 64 ? index(text) : undefined);

/** @type {(text: string) => boolean | undefined} */
const yesNo = (text) => (text === "yes" ? true : text === "no" ? false : undefined);

/** @type {(text: string) => Box | undefined} */
const boxed = (text) => {
  const [top, left, bottom, right, ...more] = numbers(text) ?? [];
  return right === undefined || more.length ? undefined : [top, left, bottom, right];
};

/** @type {(text: string) => Place | undefined} */
const placed = (text) => {
  const [trace, layer, head] = text.split(",");
  const found = [run(trace ?? ""), index(layer ?? ""), headed(head ?? "")];
  return found.includes(undefined) ? undefined : /** @type {Place} */ (found);
};

/** @type {{ [K in keyof State]: (text: string) => State[K] | undefined }} */
const READ = {
  view: oneOf("sentence", "steps", "matrix", "overview", "compare", "toy", "positions", "cost"),
  trace: run,
  layer: index,
  head: headed,
  edits: edited,
  unit: oneOf("words", "pieces"),
  special: aside,
  token: index,
  toward: oneOf("from", "to"),
  links: (text) => (text === "all" ? "all" : text === "5" ? 5 : undefined),
  order: oneOf("place", "entropy", "distance", "aside", "pair"),
  kind: oneOf(...KINDS),
  colour: oneOf("looks", "matters"),
  thumbnails: oneOf("own", "shared"),
  scale: oneOf("auto", "linear", "log", "rank"),
  clipped: numbers,
  box: boxed,
  ahead: yesNo,
  padded: index,
  scaled: yesNo,
  step: index,
  removed: numbers,
  key: index,
  coordinate: index,
  passed: index,
  partner: index,
  toy: (text) => (parsed(text) ? text : undefined),
  scheme: oneOf("sinusoidal", "learned", "rotary"),
  placed: oneOf("none", "sinusoidal", "rotary"),
  shuffled: yesNo,
  position: within64,
  against: within64,
  n: (text) => (isLength(Number(text)) ? Number(text) : undefined),
  stop: index,
  done: numbers,
  own: numbers,
  other: placed,
  language: languageOf,
  theme: oneOf("light", "dark"),
};

/** The text of a value in words. @type {(value: State[keyof State]) => string} */
const written = (value) => {
  if (value === null) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (!Array.isArray(value)) return String(value);
  return value.map((one) => (typeof one === "number" ? Number(one.toFixed(2)) : one)).join();
};

/** A whole state from some settings, with defaults for the rest. @type {(given?: Partial<State>) => State} */
export const filled = (given = {}) => ({ ...DEFAULTS, ...given });

/**
 * The words that restore a state: "layer=5 head=mean token=2"; settings equal to those of `fresh` are left out.
 * @type {(state: Record<string, any>, fresh: Record<string, any>) => string}
 */
export const wordsOf = (state, fresh) =>
  Object.keys(fresh).filter((key) => JSON.stringify(state[key]) !== JSON.stringify(fresh[key]))
    .map((key) => `${key}=${key === "edits" ? editsWritten(state[key]) : written(state[key])}`)
    .join(" ");

/** The decoded part after the "#" of an address; or plain words. @type {(text: string) => string} */
export const wordsIn = (text) => {
  const words = text.slice(text.lastIndexOf("#") + 1).trim();
  try {
    return decodeURIComponent(words);
  } catch {
    return words;
  }
};

/**
 * The settings named by words, without invalid ones. Words are separated by spaces or by "&". Another page's state has
 * its own parsers and defaults.
 * @type {(words: string, read?: Record<string, (text: string) => any>, defaults?: Record<string, any>) => Record<string, any>}
 */
export const settingsOf = (words, read = READ, defaults = DEFAULTS) => {
  /** @type {Record<string, any>} */
  const found = {};
  for (const word of words.split(/[\s&]+/)) {
    const [key, text] = word.split(/=(.*)/s);
    if (!Object.hasOwn(read, key) || text === undefined) continue;
    const value = text === "none" && defaults[key] === null ? null : read[key](text);
    if (value !== undefined) found[key] = value;
  }
  return found;
};

/**
 * The state with all numbers within the ranges of the traces; without traces, nothing of one is chosen.
 * @type {(state: State, traces: Trace[]) => State}
 */
export const within = (state, traces) => {
  if (!traces.length) return { ...state, trace: 0, layer: 0, token: null, key: null, other: null, partner: null, own: [] };
  /** @type {(value: number, count: number) => number} */
  const bounded = (value, count) => Math.min(Math.max(value, 0), count - 1);
  const trace = bounded(state.trace, traces.length);
  const { depth, heads, model, queries, keys } = traces[trace];
  const line = state.toward === "from" ? queries : keys;
  /** @type {(value: HeadChoice, count: number) => HeadChoice} */
  const head = (value, count) => (typeof value === "number" ? bounded(value, count) : value);
  /** @type {(at: number | null, count: number) => number | null} */
  const place = (at, count) => (at === null ? null : bounded(at, count));
  let { other, partner } = state;
  if (other) {
    const at = bounded(other[0], traces.length);
    partner = place(partner, traces[at].queries.length);
    other = [at, bounded(other[1], traces[at].depth), head(other[2], traces[at].heads)];
  }
  /** @type {(tokens: number[]) => number[]} */
  const there = (tokens) => tokens.filter((token) => Number.isInteger(token) && token >= 0 && token < keys.length);
  const [top, left, bottom, right] = state.box ?? [0, 0, 0, 0];
  return {
    ...state,
    trace,
    other,
    box: top < bottom && left < right ? state.box : null,
    layer: bounded(state.layer, depth),
    head: head(state.head, heads),
    token: place(state.token, line.length),
    key: place(state.key, keys.length),
    padded: bounded(state.padded, Math.max(keys.length, 1)),
    step: place(state.step, 7),
    coordinate: place(state.coordinate, model.head_dim),
    passed: place(state.passed, Math.max(model.value_dim, 1)),
    partner,
    clipped: state.clipped && there(state.clipped),
    removed: there(state.removed),
    own: state.own.filter((at) => Number.isInteger(at) && at >= 0 && at < traces.length).slice(0, 2),
  };
};
