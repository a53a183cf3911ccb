// The walkthrough of the steps view: its head, its token, the steps with and without the changes, and the shown keys.

import { stepsOf } from "./formula.js";
import { labelled } from "../drawing/labels.js";
import { AttentionMap } from "../weights/attention_map.js";
import { changesOf } from "../weights/changes.js";
import { projectionsOf } from "../weights/projections.js";
import { most } from "../drawing/vector_strips.js";

const SHOWN = 24; // the number of keys shown for a long line

/**
 * The token of the walkthrough: the pinned one, or the first of the first word.
 * @type {(of: { state: State, trace: Trace }) => number}
 */
export const tokenOf = ({ state, trace }) => {
  const pinned = trace.crossing && state.toward === "to" ? null : state.token;
  if (pinned !== null && pinned < trace.queries.length) return pinned;
  return (trace.queries.words.find((word) => !word.aside) ?? trace.queries.words[0]).first;
};

/**
 * The head of the layer with the largest weight on one word.
 * @type {(page: Page, token: number) => Promise<number>}
 */
const hardest = async (page, token) => {
  const { host, state, trace } = page;
  const own = trace.queries.wordOf[token];
  /** @type {(word: Unit) => boolean} */
  const asked = (word) => !trace.crossing && word.index === own && !word.special;
  const counted = trace.keys.words.filter((word) => !word.aside || asked(word));
  const wanted = Array.from({ length: trace.heads }, (_, head) => host.head(trace, state.layer, head));
  const heads = await Promise.all(wanted);
  const given = heads.map((head) => {
    const row = new AttentionMap([head], "mean", trace.queries.words, trace.keys.words).row(own);
    return counted.reduce((top, word) => Math.max(top, row[word.index]), 0);
  });
  return given.indexOf(Math.max(...given));
};

/**
 * The shown keys: all, or those with the largest weights with or without the changes, and the needed ones.
 * @type {(now: StepsOf, before: StepsOf, needed: number[]) => number[]}
 */
const chosenKeys = (now, before, needed) => {
  const all = Array.from(now.weights.keys());
  if (all.length <= SHOWN) return all;
  /** @type {(j: number) => number} */
  const weight = (j) => Math.max(now.weights[j], before.weights[j]);
  const top = all.sort((a, b) => weight(b) - weight(a)).slice(0, SHOWN);
  return [...new Set([...top, ...needed])].sort((a, b) => a - b);
};

/** The coordinate with the largest absolute value. @type {(values: Float64Array) => number} */
export const largest = (values) => {
  let at = 0;
  for (let index = 1; index < values.length; index++) if (Math.abs(values[index]) > Math.abs(values[at])) at = index;
  return at;
};

/** The data that the view shows. @param {Page} page */
export const walked = async (page) => {
  const { state, trace } = page;
  const token = tokenOf(page);
  const given = typeof state.head === "number";
  const number = typeof state.head === "number" ? state.head : await hardest(page, token);
  const [head, projections] = await Promise.all([
    page.host.head(trace, state.layer, number),
    projectionsOf(page, trace, state.layer, number),
  ]);
  const selfish = !trace.crossing;
  const changes = changesOf(state, trace);
  const before = stepsOf(head, token);
  const now = changes ? stepsOf(head, token, changes) : before;
  const changed = now.scale !== before.scale || now.seen.some((seen, j) => seen !== before.seen[j]);
  const pinned = trace.crossing && state.toward === "to" ? state.token : null;
  const key = state.key ?? pinned ?? largest(changed && now.sum === 0 ? before.weights : now.weights);
  const keys = chosenKeys(now, before, [key, ...(selfish ? [token] : [])]);
  const shown = new Set(keys);
  const rest = now.weights.reduce((sum, weight, j) => (shown.has(j) ? sum : sum + weight), 0);
  const { queries, keys: line } = trace;
  const values = head.v ?? new Float32Array(0);
  /** @type {(j: number) => Float32Array} */
  const keyOf = (j) => head.k.subarray(j * head.D, (j + 1) * head.D);
  /** @type {(j: number) => Float32Array} */
  const valueOf = (j) => values.subarray(j * head.E, (j + 1) * head.E);
  /** @type {(j: number) => Float64Array} */
  const passedOn = (j) => Float64Array.from(valueOf(j), (value) => (now.seen[j] ? value * now.weights[j] : 0));
  /** @type {(j: number) => string} */
  const label = (j) => labelOf(line, j);
  /** @type {(j: number) => string} */
  const kindOf = (j) => (changes?.removed.includes(j) ? "out" : now.seen[j] ? "" : "unseen-key");
  /** @type {(j: number) => boolean} */
  const aside = (j) => line.unitOf(j, "pieces").aside;
  return {
    trace, layer: state.layer, number, given, head, projections, token, key, keys, now, before, changed,
    padded: changes?.padded ?? 0,
    rest: { count: head.M - keys.length, weight: rest },
    removed: new Set(changes?.removed ?? []),
    query: head.q.subarray(token * head.D, (token + 1) * head.D),
    keyOf, valueOf, passedOn, label, kindOf, aside,
    word: labelOf(queries, token),
  };
};

/** The label of a token. @type {(line: TokenizedText, token: number) => string} */
const labelOf = (line, token) => labelled(line.pieces[token]);

/**
 * The ends of the colour scales: of the query, the keys, the values, and the weighted values.
 * @type {(walk: Walkthrough) => StepsRoom["ends"]}
 */
export const endsOf = ({ query, keys, keyOf, valueOf, passedOn, now, before }) => ({
  query: most(query),
  keys: most(...keys.map(keyOf)),
  values: most(...keys.map(valueOf)),
  taken: most(...keys.map(passedOn), now.output ?? [], before.output ?? []),
});

/**
 * How the scores are scaled: "divided" by √d, "times" a number, or "plain".
 * @type {(walk: Walkthrough, scale: number) => "divided" | "times" | "plain"}
 */
export const scaling = ({ head }, scale) => {
  if (Math.abs(scale * Math.sqrt(head.D) - 1) < 1e-4) return "divided";
  return scale === 1 ? "plain" : "times";
};
