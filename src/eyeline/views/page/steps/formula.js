// Attention as the formula has it, softmax(q·kᵀ / √d)·v, for one query of one head, a function per step, in float64.
// Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1.

/** q·k coordinate by coordinate: what the score is the sum of. (D) */
export const products = ({ q, k, D }, i, j) => Float64Array.from({ length: D }, (_, d) => q[i * D + d] * k[j * D + d]);

/** The sums of the first one, two, … numbers. */
export const running = (numbers) => {
  let sum = 0;
  return numbers.map((number) => (sum += number));
};

/** How well each key answers the query: q·k. (M) */
const answers = (head, i) => Float64Array.from({ length: head.M }, (_, j) => head.score(i, j));

/** Scores with −∞ where the query may not look. (M) */
const masked = (scores, seen) => scores.map((score, j) => (seen[j] ? score : -Infinity));

/**
 * Weights that sum to 1: each exponential as a share of all. The largest score, `top`, is taken off first: that changes
 * no share, and keeps numbers small. A query that may look at nothing gives nothing.
 */
const softmax = (scores) => {
  const top = scores.reduce((most, score) => Math.max(most, score), -Infinity);
  const exponentials = scores.map((score) => (score === -Infinity ? 0 : Math.exp(score - top)));
  const sum = exponentials.reduce((total, part) => total + part, 0);
  const weights = exponentials.map((part) => (sum === 0 ? 0 : part / sum));
  return { top, exponentials, sum, weights, lse: sum === 0 ? -Infinity : top + Math.log(sum) };
};

/** What the query becomes: Σ w·v over the keys that it sees. (E) */
const mixed = ({ v, E }, weights, seen) => {
  const result = new Float64Array(E);
  for (let j = 0; j < weights.length; j++) {
    if (seen[j]) for (let e = 0; e < E; e++) result[e] += weights[j] * v[j * E + e];
  }
  return result;
};

/**
 * Every step of what query i of a head does.
 * @param head q (N, D), k (M, D), v (M, E) or null, its scale and mask
 * @param ahead whether it may look ahead; @param scaled whether scores are scaled; @param removed keys taken out
 */
export const stepsOf = (head, i, { ahead = true, scaled = true, removed = [] } = {}) => {
  const scale = scaled ? head.scale : 1;
  const gone = new Set(removed);
  const scores = answers(head, i);
  const times = scores.map((score) => score * scale);
  const seen = Array.from(times, (_, j) => head.allowed(i, j) && (ahead || j <= i) && !gone.has(j));
  const open = masked(times, seen);
  const found = softmax(open);
  const output = head.v && mixed(head, found.weights, seen);
  return { scores, scale, scaled: times, seen, masked: open, ...found, output };
};

/** The length of a vector. */
export const length = (vector) => Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0));

/** The cosine of the angle between two vectors; 0 where one has no length. */
const cosine = (a, b) => {
  const lengths = length(a) * length(b);
  return lengths > 0 ? a.reduce((sum, number, at) => sum + number * b[at], 0) / lengths : 0;
};
