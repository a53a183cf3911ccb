// The quantity that every view shows, and its scale: weights of the whole row, or shares of the shown words.

const ENDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];

/**
 * The end of a scale from zero: the smallest of 1, 2, 5, 10, 20, 50 and 100 % that isn't below any of the numbers. A
 * bar's length, a colour and a link's width are number / end. (The maximum of several heads never exceeds 1 either.)
 * @type {(numbers: Iterable<number>) => number}
 */
export const scaleEnd = (numbers) => {
  let most = 0;
  for (const number of numbers) if (number > most) most = number;
  return ENDS.find((end) => most <= end * (1 + 1e-9)) ?? most;
};

/** The number that a share of some numbers doesn't exceed; 0 for none. @type {(numbers: ArrayLike<number>, share: number) => number} */
export const quantile = (numbers, share) =>
  Float64Array.from(numbers).sort()[Math.floor(share * (numbers.length - 1))] ?? 0;

/**
 * The end of a scale that is easy to read: the smallest of `steps` times a power of ten that isn't below a number, but
 * for its last digits; 1 for 0. Above 1 %, with the usual steps, it is the end that every view's scale of weights has.
 * @type {(number: number, of?: { steps?: number[], noise?: number }) => number}
 */
export const roundEnd = (number, { steps = [1, 2, 5], noise = 1 + 1e-9 } = {}) => {
  if (!(number > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(number) + 1e-9);
  const times = steps.find((one) => number <= one * power * noise) ?? 10;
  return Number((times * power).toPrecision(2));
};

/**
 * The numbers of one row as the state asks for them, NaN where a unit isn't shown: its weights, of which those that
 * aren't shown take `aside`; or, if special tokens are left out, the shares of the shown units, which sum to 1.
 * @type {(row: Float64Array, shown: number[], special: SpecialTokens) => { numbers: Float64Array, aside: number }}
 */
export const quantities = (row, shown, special) => {
  const numbers = new Float64Array(row.length).fill(NaN);
  let [whole, total] = [0, 0];
  for (const weight of row) whole += weight;
  for (const at of shown) total += row[at];
  const divisor = special === "out" ? total : 1;
  for (const at of shown) numbers[at] = divisor > 0 ? row[at] / divisor : 0;
  return { numbers, aside: special === "out" ? 0 : Math.max(whole - total, 0) };
};
