// Attention by the formula, softmax(q·kᵀ / √d)·v, for one query of one head, a function per step, in float64.
// Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1.

import { seenBy } from "../weights/changes.js";

/**
 * The products of q and k by coordinate, whose sum is the score. (D)
 * @type {(head: Head, i: number, j: number) => Float64Array}
 */
export const products = ({ q, k, D }, i, j) => Float64Array.from({ length: D }, (_, d) => q[i * D + d] * k[j * D + d]);

/** @type {HeadChanges} */
const UNCHANGED = { ahead: true, padded: 0, scaled: true, removed: [] };

/** The running sums of numbers. @type {(numbers: Float64Array) => Float64Array} */
export const running = (numbers) => {
  let sum = 0;
  return numbers.map((number) => (sum += number));
};

/** The score of each key: q·k. (M) @type {(head: Head, i: number) => Float64Array} */
const answers = (head, i) => Float64Array.from({ length: head.M }, (_, j) => head.score(i, j));

/** Scores with −∞ where the query may not look. (M) @type {(scores: Float64Array, seen: boolean[]) => Float64Array} */
const masked = (scores, seen) => scores.map((score, j) => (seen[j] ? score : -Infinity));

/**
 * Weights that sum to 1: each exponential divided by the sum. The largest score, `top`, is subtracted first, which
 * changes no weight and avoids overflow. A query that may look at no key has weights 0.
 * @param {Float64Array} scores
 */
const softmax = (scores) => {
  const top = scores.reduce((most, score) => Math.max(most, score), -Infinity);
  const exponentials = scores.map((score) => (score === -Infinity ? 0 : Math.exp(score - top)));
  const sum = exponentials.reduce((total, part) => total + part, 0);
  const weights = exponentials.map((part) => (sum === 0 ? 0 : part / sum));
  return { top, exponentials, sum, weights, lse: sum === 0 ? -Infinity : top + Math.log(sum) };
};

/** The output of the query: Σ w·v over the keys that it sees. (E) */
/** @type {(v: Float32Array, E: number, weights: Float64Array, seen: boolean[]) => Float64Array} */
const mixed = (v, E, weights, seen) => {
  const result = new Float64Array(E);
  for (let j = 0; j < weights.length; j++) {
    if (seen[j]) for (let e = 0; e < E; e++) result[e] += weights[j] * v[j * E + e];
  }
  return result;
};

/**
 * All steps for query i of a head, unchanged or changed: without looking ahead, with the last tokens as padding,
 * without scaling, or with keys removed.
 * @param {Head} head
 * @param {number} i
 * @param {HeadChanges} changes
 */
export const stepsOf = (head, i, changes = UNCHANGED) => {
  const scale = changes.scaled ? head.scale : 1;
  const scores = answers(head, i);
  const times = scores.map((score) => score * scale);
  const seen = Array.from(seenBy(head, i, changes), Boolean);
  const open = masked(times, seen);
  const found = softmax(open);
  const output = head.v && mixed(head.v, head.E, found.weights, seen);
  return { scores, scale, scaled: times, seen, masked: open, ...found, output };
};
