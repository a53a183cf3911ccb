// The numbers of a row or a column of weights, as the state asks for them: weights, or shares of the shown keys.

import { isDistribution, isReweighted } from "../weights/attention_map.js";
import { quantities } from "../weights/quantity.js";

const SURE = 0.3; // below this, 1 − (weight set aside) has too few digits, and the row is summed instead
const SLICE = 25; // milliseconds of work at a time, so that the page stays responsive
const ALL = 256; // the number of rows up to which all are summed
const LIKELY = 24; // in longer lines, the number of candidate rows for the strongest

/** The sum of a row on some units. @type {(row: Float64Array, units: Iterable<number>) => number} */
export const summed = (row, units) => {
  let total = 0;
  for (const at of units) total += row[at];
  return total;
};

/**
 * The weights of a query unit, and its numbers: NaN for key units that aren't shown, which take `aside`.
 * @param {AttentionMap} attention
 * @param {number} unit
 * @param {number[]} shown
 * @param {SpecialTokens} special
 */
export const given = (attention, unit, shown, special) => {
  const weights = attention.row(unit);
  return { weights, ...quantities(weights, shown, special) };
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
    // A row sums to 1, unless it is the maximum of several heads, reweighted or fully hidden: then the weight that isn't set aside
    // is shown.
    this.quick = isDistribution(attention) && !isReweighted(attention) && 8 * aside.length < shown.length;
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
 * The weights that a key unit receives, and the numbers of the `shown` query units, NaN for others. If they are shares,
 * `totals` are what each query gives to the shown keys: in a long text shares are computed for the units `near` and the
 * strongest, and those that aren't known after SLICE are left for the next call, and `whole` is false.
 * @param {AttentionMap} attention
 * @param {number} unit
 * @param {number[]} shown
 * @param {Totals | null} totals
 * @param {number[]} near
 */
export const received = (attention, unit, shown, totals, near = shown) => {
  const began = performance.now();
  const weights = attention.column(unit);
  const numbers = new Float64Array(attention.N).fill(NaN);
  if (!totals) {
    for (const at of shown) numbers[at] = weights[at];
    return { weights, numbers, whole: true };
  }
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
    numbers[at] = total > 0 ? weights[at] / total : 0;
  }
  return { weights, numbers, whole };
};

/**
 * The numbers that each key unit receives on average over `queries`, and the others' `aside`. They are computed in
 * slices, so that the page stays responsive; null once `wanted` returns false.
 * @type {(
 *   attention: AttentionMap, queries: number[], keys: number[], special: SpecialTokens, wanted: () => boolean,
 * ) => Promise<Averages | null>}
 */
export const average = async (attention, queries, keys, special, wanted) => {
  const numbers = new Float64Array(attention.M).fill(NaN);
  for (const at of keys) numbers[at] = 0;
  let [aside, began] = [0, performance.now()];
  for (const query of queries) {
    const row = quantities(attention.row(query), keys, special);
    for (const at of keys) numbers[at] += row.numbers[at] / queries.length;
    aside += row.aside / queries.length;
    if (performance.now() - began > SLICE) {
      await new Promise((done) => void setTimeout(done));
      if (!wanted()) return null;
      began = performance.now();
    }
  }
  return { numbers, aside };
};

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
