// Shares: the weights that one unit gives or receives, divided by the query's total weight on the shown units.

const SURE = 0.3; // below this, 1 − (weight set aside) has too few digits, and the row is summed instead
const SLICE = 25; // milliseconds of work at a time, so that the page stays responsive
const ALL = 256; // the number of rows up to which all are summed
const LIKELY = 24; // in longer lines, the number of candidate rows for the strongest

/** @type {(row: Float64Array, units: Iterable<number>) => number} */
const summed = (row, units) => {
  let total = 0;
  for (const at of units) total += row[at];
  return total;
};

/**
 * The weights and shares of a query unit, with an entry for each key unit. Shares are of the weight on the shown units,
 * NaN for the others; `aside` is the others' share of the whole row.
 * @param {AttentionMap} attention
 * @param {number} unit
 * @param {number[]} shown
 */
export const given = (attention, unit, shown) => {
  const weights = attention.row(unit);
  const [whole, total] = [summed(weights, weights.keys()), summed(weights, shown)];
  const shares = new Float64Array(attention.M).fill(NaN);
  for (const at of shown) shares[at] = total > 0 ? weights[at] / total : 0;
  return { weights, shares, aside: whole > 0 ? (whole - total) / whole : 0 };
};

/** The total weight of query units on the shown key units. */
export class Totals {
  /**
   * @param {AttentionMap} attention
   * @param {number[]} shown
   */
  constructor(attention, shown) {
    this.attention = attention;
    this.shown = shown;
    this.known = new Float64Array(attention.N).fill(NaN);
    const kept = new Set(shown);
    const aside = attention.keys.filter((unit) => !kept.has(unit.index));
    // A row sums to 1, unless it is the maximum of several heads or fully hidden: then the weight that isn't set aside
    // is shown.
    this.quick = (attention.reduce === "mean" || attention.heads.length === 1) && 8 * aside.length < shown.length;
    if (!this.quick) return;
    this.known.fill(1);
    for (const { index } of aside) {
      attention.column(index).forEach((weight, at) => {
        this.known[at] -= weight;
      });
    }
    for (let at = 0; at < attention.N; at++) if (!(this.known[at] >= SURE)) this.known[at] = NaN;
  }

  /** The total of one query unit, summed if it isn't known yet. @param {number} unit */
  of(unit) {
    if (!this.knows(unit)) this.known[unit] = summed(this.attention.row(unit), this.shown);
    return this.known[unit];
  }

  /** @param {number} unit */
  knows(unit) {
    return !Number.isNaN(this.known[unit]);
  }

  /** An estimate of the total, without summing. @param {number} unit */
  about(unit) {
    return this.knows(unit) ? this.known[unit] : 1;
  }
}

/**
 * The weights and shares that a key unit receives from each query unit. Each share is of the weight that the query
 * gives to the shown units. In a long text shares are computed for the units `near` and the strongest, NaN for others.
 * Shares that aren't known after SLICE are left for the next call, and `whole` is false.
 * @param {AttentionMap} attention
 * @param {number} unit
 * @param {number[]} shown
 * @param {Totals} totals
 * @param {number[]} near
 */
export const received = (attention, unit, shown, totals, near = shown) => {
  const began = performance.now();
  const weights = attention.column(unit);
  const shares = new Float64Array(attention.N).fill(NaN);
  /** @type {(at: number) => number} */
  const about = (at) => weights[at] / totals.about(at);
  const likely = [...shown].sort((one, other) => about(other) - about(one));
  let whole = true;
  for (const at of new Set([...likely.slice(0, shown.length > ALL ? LIKELY : ALL), ...near])) {
    if (!totals.knows(at) && performance.now() - began > SLICE) {
      whole = false;
      continue;
    }
    const total = totals.of(at);
    shares[at] = total > 0 ? weights[at] / total : 0;
  }
  return { weights, shares, whole };
};

/**
 * The share of a row that each key unit receives on average; NaN for units that aren't shown. It is computed in slices,
 * so that the page stays responsive; null once `wanted` returns false.
 * @type {(
 *   attention: AttentionMap, queries: number[], keys: number[], wanted: () => boolean,
 * ) => Promise<Float64Array | null>}
 */
export const average = async (attention, queries, keys, wanted) => {
  const shares = new Float64Array(attention.M).fill(NaN);
  for (const at of keys) shares[at] = 0;
  let began = performance.now();
  for (const query of queries) {
    const row = attention.row(query);
    const total = summed(row, keys);
    if (total > 0) for (const at of keys) shares[at] += row[at] / total / queries.length;
    if (performance.now() - began > SLICE) {
      await new Promise((done) => void setTimeout(done));
      if (!wanted()) return null;
      began = performance.now();
    }
  }
  return shares;
};

/** The number of multiplications that all weights take. @type {(attention: AttentionMap) => number} */
export const work = (attention) => attention.heads.reduce((sum, head) => sum + head.N * head.M * head.D, 0);

/**
 * The indices of the largest numbers, largest first; of equal numbers, the first. Zeros are left out.
 * @type {(numbers: Float64Array, count: number) => number[]}
 */
export const strongest = (numbers, count) => {
  /** @type {number[]} */
  const best = [];
  for (let at = 0; at < numbers.length; at++) {
    if (!(numbers[at] > (best.length < count ? 0 : numbers[best[best.length - 1]]))) continue;
    let place = best.length;
    while (place > 0 && numbers[best[place - 1]] < numbers[at]) place -= 1;
    best.splice(place, 0, at);
    if (best.length > count) best.pop();
  }
  return best;
};

/**
 * The share drawn as a full bar or in full shade, and whether a longer bar has to be cut: one more than 4 times as long
 * as the next would flatten the others.
 * @type {(shares: Float64Array) => [full: number, cut: boolean]}
 */
export const ceiling = (shares) => {
  const [first, second] = strongest(shares, 2).map((at) => shares[at]);
  const count = shares.reduce((sum, share) => sum + (Number.isNaN(share) ? 0 : 1), 0);
  return count > 2 && 0 < 4 * second && 4 * second < first ? [1.5 * second, true] : [first ?? 1, false];
};

/**
 * The share drawn in full shade: as for bars, but at least twice the uniform share, so that a uniform row looks
 * uniform.
 * @type {(shares: Float64Array) => number}
 */
export const fullShade = (shares) => {
  const count = shares.reduce((sum, share) => sum + (share > 0 ? 1 : 0), 0);
  return Math.max(ceiling(shares)[0], Math.min(2 / Math.max(count, 1), 1));
};
