// What one layer of attention over n tokens costs, and an RNN (a GRU) of the same width.

/** The numbers of tokens that the view takes. */
export const LEAST = 8;
export const MOST = 1e6;
const NUMBER = 4; // bytes of a float32

/** Multiplications a second that are assumed where nothing was measured: an RNN's wait for one another. */
export const ASSUMED = { attention: 5e10, recurrent: 1e10 };

/** Whether a number is a number of tokens that the view takes. @type {(n: number) => boolean} */
export const isLength = (n) => Number.isInteger(n) && n >= LEAST && n <= MOST;

/** The nearest number of tokens that the view takes. @type {(n: number) => number} */
export const bounded = (n) => Math.round(Math.min(Math.max(n, LEAST), MOST));

/**
 * The counts for n tokens. Attention: `cells` of one head's matrix; `products`, the multiplications of scores and of
 * weights · values, 2·n²·d in each head; `projections`, those of W_q, W_k, W_v and W_o; bytes of the matrices of all
 * heads, and of what must be kept without them: the output and each row's sum. The RNN: three gates, each of the input
 * and of the state; its states.
 * @type {(n: number, sizes: LayerSizes) => {
 *   attention: { cells: number, products: number, projections: number, matrix: number, without: number, waits: number },
 *   recurrent: { cells: number, products: number, projections: number, without: number, waits: number },
 * }}
 */
export const costOf = (n, { heads, head_dim }) => {
  const width = heads * head_dim;
  return {
    attention: {
      cells: n * n,
      products: 2 * n * n * width,
      projections: 4 * n * width * width,
      matrix: heads * n * n * NUMBER,
      without: n * (width + heads) * NUMBER,
      waits: 1,
    },
    recurrent: {
      cells: n,
      products: 3 * n * width * width,
      projections: 3 * n * width * width,
      without: n * width * NUMBER,
      waits: n,
    },
  };
};

/** The number of tokens whose matrices fit in some bytes. @type {(bytes: number, sizes: LayerSizes) => number} */
export const fitting = (bytes, { heads }) => Math.floor(Math.sqrt(bytes / (heads * NUMBER)));

/**
 * The time for n tokens from measured points: between them on the straight line of the logarithms; beyond them it
 * grows as n to the power of `power`, and is `guessed`.
 * @type {(n: number, points: TimePoints, power: number) => { seconds: number, guessed: boolean }}
 */
const timeAt = (n, points, power) => {
  const [[first, least], [last, most]] = [points[0], points[points.length - 1]];
  if (n < first) return { seconds: least * (n / first) ** power, guessed: true };
  if (n > last) return { seconds: most * (n / last) ** power, guessed: true };
  const at = Math.max(points.findIndex(([tokens]) => tokens >= n), 1);
  const [[from, before], [to, after]] = [points[at - 1], points[at]];
  const share = Math.log(n / from) / Math.log(to / from);
  return { seconds: before * (after / before) ** share, guessed: false };
};

/**
 * The seconds of attention (q, k and v given) and of the RNN for n tokens: measured, or estimated from their
 * multiplications.
 * @type {(n: number, growth: MeasuredGrowth | null) => Record<"attention" | "recurrent", { seconds: number, guessed: boolean }>}
 */
export const timesOf = (n, growth) => {
  if (growth) {
    return {
      attention: timeAt(n, growth.attention.points, 2),
      recurrent: timeAt(n, growth.recurrent.points, 1),
    };
  }
  const { attention, recurrent } = costOf(n, USUAL);
  return {
    attention: { seconds: attention.products / ASSUMED.attention, guessed: true },
    recurrent: { seconds: recurrent.products / ASSUMED.recurrent, guessed: true },
  };
};

/** The sizes of the layer that `eyeline bench growth` measures. @type {LayerSizes} */
export const USUAL = { heads: 8, head_dim: 64 };

/** A number of tokens in two digits, as one drags. @type {(n: number) => number} */
export const neat = (n) => {
  const step = 10 ** Math.max(Math.floor(Math.log10(n)) - 1, 0);
  return bounded(Math.round(n / step) * step);
};

/** The next number of tokens in two digits, up or down. @type {(n: number, by: 1 | -1) => number} */
export const stepped = (n, by) => {
  const step = 10 ** Math.max(Math.floor(Math.log10(by < 0 ? n - 1 : n)) - 1, 0);
  return bounded(by > 0 ? Math.floor(n / step + 1) * step : Math.ceil(n / step - 1) * step);
};
