// The attention map of a view: the weights of one head, or the mean or maximum of several, from unit to unit.

import { ChangedHead } from "./changes.js";

/** Weights between the units of a trace: the sum over key pieces and the mean over query pieces, so rows sum to 1. */
export class AttentionMap {
  /**
   * @param {Head[]} heads the heads, of one layer
   * @param {"mean" | "max"} reduce the reduction over heads; irrelevant with one head
   * @param {Unit[]} queries the units of the queries
   * @param {Unit[]} keys the units of the keys
   */
  constructor(heads, reduce, queries, keys) {
    this.heads = heads;
    this.reduce = reduce;
    this.queries = queries;
    this.keys = keys;
    this.N = queries.length;
    this.M = keys.length;
    /** Whether its weights are other than the model's: the host, which has only these, can't make its pictures. */
    this.changed = heads.some((head) => head instanceof ChangedHead);
    this.plain = [...queries, ...keys].every((unit) => unit.last - unit.first === 1); // no unit has several tokens
  }

  /**
   * Whether any token of query unit i may look at any of key unit j.
   * @param {number} i
   * @param {number} j
   */
  allowed(i, j) {
    const [query, key] = [this.queries[i], this.keys[j]];
    return this.heads.some((head) => {
      for (let a = query.first; a < query.last; a++) {
        for (let b = key.first; b < key.last; b++) if (head.allowed(a, b)) return true;
      }
      return false;
    });
  }

  /**
   * The weights of query unit i on the key units [first, last).
   * @param {number} i
   * @param {number} first
   * @param {number} last
   */
  row(i, first = 0, last = this.M) {
    const { first: top, last: bottom } = this.queries[i];
    const [left, right] = [this.keys[first]?.first ?? 0, this.keys[last - 1]?.last ?? 0];
    return this._over((head) => {
      const tokens = new Float64Array(right - left);
      for (let a = top; a < bottom; a++) head.row(a, left, right, tokens, 1 / (bottom - top));
      return this.plain ? tokens : this._added(tokens, left, first, last);
    });
  }

  /**
   * The weights of the query units [first, last) on key unit j.
   * @param {number} j
   * @param {number} first
   * @param {number} last
   */
  column(j, first = 0, last = this.N) {
    const { first: left, last: right } = this.keys[j];
    return this._over((head) => {
      const result = new Float64Array(last - first);
      for (let b = left; b < right; b++) {
        const tokens = head.column(b);
        for (let i = first; i < last; i++) {
          const { first: top, last: bottom } = this.queries[i];
          for (let a = top; a < bottom; a++) result[i - first] += tokens[a] / (bottom - top);
        }
      }
      return result;
    });
  }

  /**
   * @param {Float64Array} tokens
   * @param {number} offset
   * @param {number} first
   * @param {number} last
   */
  _added(tokens, offset, first, last) {
    const result = new Float64Array(last - first);
    for (let unit = first; unit < last; unit++) {
      for (let b = this.keys[unit].first; b < this.keys[unit].last; b++) result[unit - first] += tokens[b - offset];
    }
    return result;
  }

  /** @param {(head: Head) => Float64Array} numbers */
  _over(numbers) {
    const [result, ...others] = this.heads.map(numbers);
    for (const other of others) {
      for (let at = 0; at < result.length; at++) {
        result[at] = this.reduce === "max" ? Math.max(result[at], other[at]) : result[at] + other[at];
      }
    }
    if (this.reduce === "mean" && others.length) {
      for (let at = 0; at < result.length; at++) result[at] /= this.heads.length;
    }
    return result;
  }
}

/** Whether rows sum to 1: the maximum of several heads is no distribution. @type {(attention: AttentionMap) => boolean} */
export const isDistribution = ({ reduce, heads }) => reduce === "mean" || heads.length === 1;

/** Whether some weights were multiplied after the softmax, so that rows don't sum to 1. @type {(attention: AttentionMap) => boolean} */
export const isReweighted = ({ heads }) => heads.some(({ factors }) => factors);

/** The number of multiplications that all weights take. @type {(attention: AttentionMap) => number} */
export const work = ({ heads }) => heads.reduce((sum, { N, M, D }) => sum + N * M * D, 0);
