// The telling head: where a reader sees at once that one word looks at another; as Python's answers/telling.py.

import { areWords } from "./groups.js";
import { headCall } from "./layer_weights.js";
import { short } from "./measures.js";

// Labels of heads whose weights say little about words: where a word stands, or where nothing is to be looked at.
const PLAIN = ["previous", "next", "same", "sink", "separator"];
const SEARCHED = 512; // only words among so many first tokens look
const STEP = 1e6; // weights are compared in millionths: beyond that they are rounded otherwise by another kernel
const ENOUGH = 0.5; // the part of the sharpest weight that one on a word that isn't adjacent must have

/** The sharpest weights so far. */
class Best {
  /**
   * @param {TraceEntry} entry
   * @param {boolean} plain whether the heads are those that say little about words
   */
  constructor({ queries, keys }, plain) {
    const across = keys ?? queries;
    this.queries = queries;
    this.across = across;
    this.crossing = keys !== null;
    this.plain = plain;
    /** The words that may be looked at, and the tokens [first, last) of each. */
    this.words = areWords(across).flatMap((isWord, at) => (isWord ? [at] : []));
    this.firsts = Int32Array.from(this.words, (at) => across.words[at][0]);
    this.lasts = Int32Array.from(this.words, (at) => across.words[at][1]);
    /** @type {Partial<Record<Opening["why"], [weight: number, layer: number, head: number, query: number, key: number]>>} */
    this.found = {};
    this.enough = 0; // a weight up to this betters nothing: one on a word further away may be as large
  }

  /**
   * Search a head's weights of some words, the rows, on the words of the keys: sums over a key's tokens, means over a
   * query's.
   * @param {Kernel} kernel
   * @param {LiveRun} run
   * @param {number} layer
   * @param {number} head
   * @param {number[]} rows
   */
  search(kernel, run, layer, head, rows) {
    const { queries, words, firsts, lasts, crossing } = this;
    const [N, M] = [queries.ids.length, this.across.ids.length];
    const [top, bottom] = [queries.words[rows[0]][0], queries.words[rows[rows.length - 1]][1]];
    const weights = kernel.weights(headCall(run.layers[layer], head, N, M), [top, bottom], [0, M]);
    for (const row of rows) {
      const [first, last] = queries.words[row];
      const tokens = weights.subarray((first - top) * M, (first - top + 1) * M);
      for (let at = M, others = (last - first) * M; at < others; at++) {
        tokens[at % M] += weights[(first - top) * M + at]; // of a word of several tokens, the sum
      }
      for (let at = 0; at < words.length; at++) {
        let sum = tokens[firsts[at]];
        for (let token = firsts[at] + 1; token < lasts[at]; token++) sum += tokens[token];
        const weight = sum / (last - first);
        if (weight > this.enough && (crossing || words[at] !== row)) this.add(weight, layer, head, row, words[at]);
      }
    }
  }

  /**
   * @param {number} exact the weight
   * @param {number} layer
   * @param {number} head
   * @param {number} query
   * @param {number} key
   */
  add(exact, layer, head, query, key) {
    const weight = Math.round(exact * STEP) / STEP;
    const far = Math.abs(query - key) > 1;
    /** @type {Opening["why"][]} */
    const names = this.crossing ? ["across"] : far ? ["near", "far"] : ["near"];
    for (const why of this.plain ? /** @type {const} */ (["plain"]) : names) {
      if (weight > (this.found[why]?.[0] ?? 0)) this.found[why] = [weight, layer, head, query, key];
    }
    const { across, far: other, plain } = this.found;
    this.enough = (across ?? other ?? plain)?.[0] ?? 0;
  }

  /** The best of them. @returns {Opening | null} */
  chosen() {
    const { across, far, near, plain } = this.found;
    const enough = far && near && far[0] >= ENOUGH * near[0];
    const [why, found] = across ? ["across", across] : enough ? ["far", far] : near ? ["near", near] : ["plain", plain];
    if (!found) return null;
    const [weight, layer, head, query, key] = found;
    return {
      layer, head, token: this.queries.words[query][0], key: this.across.words[key][0], weight: short(weight),
      why: /** @type {Opening["why"]} */ (why),
    };
  }
}

/**
 * The sharpest weight of one word on another among the heads of the last third of the layers, at least two, or of one
 * layer; null if no word may look at another. Among equal weights the first in the order of layers, heads, queries and
 * keys is taken.
 * @type {(kernel: Kernel, trace: LiveTrace, token?: number | null, layer?: number | null) => Opening | null}
 */
export const openingOf = (kernel, { entry, run }, token = null, layer = null) => {
  const L = entry.layers.length;
  const first = Math.max(0, L - Math.max(2, Math.ceil(L / 3)));
  const layers = layer === null ? Array.from({ length: L - first }, (_, at) => first + at) : [layer];
  const rows = looking(entry.queries, token);
  if (!rows.length) return null;
  /** @type {(plain: boolean) => Opening | null} */
  const among = (plain) => {
    const best = new Best(entry, plain);
    for (const at of layers) {
      for (let head = 0; head < entry.model.heads; head++) {
        const kinds = entry.kinds?.[at][head] ?? {};
        if (plain || !PLAIN.some((name) => name in kinds)) best.search(kernel, run, at, head, rows);
      }
    }
    return best.chosen();
  };
  return among(false) ?? among(true);
};

/** The words that look: that of a token; or all, of the first tokens of a long text. @type {(line: LineEntry, token: number | null) => number[]} */
const looking = (line, token) => {
  const words = areWords(line);
  return words.map((_, at) => at).filter((at) => {
    const [first, last] = line.words[at];
    return token === null ? words[at] && last <= SEARCHED : first <= token && token < last;
  });
};
