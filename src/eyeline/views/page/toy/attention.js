// softmax(QKᵀ/√d)·V for all tokens of a toy, a function per step, in float64.
// Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1.

/** The scaled score beyond which eˣ is taken of its distance from the row's largest, lest it overflow. */
const FAR = 30;

/** The inner product. @type {(one: number[], other: number[]) => number} */
export const dot = (one, other) => one.reduce((sum, number, at) => sum + number * other[at], 0);

/** @type {(numbers: number[]) => number} */
const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

/** Whether query i may look at key j. @type {(mask: ToyMask, i: number, j: number, count: number) => boolean} */
export const looks = (mask, i, j, count) => {
  if (mask === "causal") return j <= i;
  return mask === "none" || j < count - 1;
};

/**
 * All steps: `scores` q·k, `quotients` of them by √d, `open` with −∞ where the mask hides a key, eˣ of these and their
 * sums by row, `weights`, `output`. `shifts` is what is subtracted before eˣ, 0 unless a row's scores are very large.
 * @param {Toy} toy
 */
export const attended = ({ q, k, v, scaled, mask }) => {
  const root = scaled ? Math.sqrt(q[0].length) : 1;
  const scores = q.map((query) => k.map((key) => dot(query, key)));
  const quotients = scores.map((row) => row.map((score) => score / root));
  const open = quotients.map((row, i) => row.map((score, j) => (looks(mask, i, j, k.length) ? score : -Infinity)));
  const shifts = open.map((row) => {
    const top = Math.max(...row);
    return Number.isFinite(top) && Math.abs(top) > FAR ? top : 0;
  });
  const exponentials = open.map((row, i) => row.map((score) => Math.exp(score - shifts[i])));
  const sums = exponentials.map(total);
  const weights = exponentials.map((row, i) => row.map((part) => (sums[i] ? part / sums[i] : 0)));
  const output = weights.map((row) => v[0].map((_, e) => total(row.map((weight, j) => weight * v[j][e]))));
  return { root, scores, quotients, open, shifts, exponentials, sums, weights, output };
};
