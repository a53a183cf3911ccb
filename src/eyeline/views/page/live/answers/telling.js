// The telling head: where a reader sees at once that one word looks at another; as Python's answers/telling.py.

import { areWords } from "./groups.js";
import { headCall } from "./layer_weights.js";
import { short } from "./measures.js";

// Labels of heads whose weights say little about words: where a word stands, or where nothing is to be looked at.
const PLAIN = ["previous", "next", "same", "sink", "separator"];
const SEARCHED = 512; // only words among so many first tokens look
const ENOUGH = 0.5; // the part of the sharpest weight that one on a word that isn't adjacent must have

/** The sharpest weights so far. */
class Best {
  /**
   * @param {boolean} crossing whether queries and keys are different texts
   * @param {boolean} plain whether the heads are those that say little about words
   */
  constructor(crossing, plain) {
    this.crossing = crossing;
    this.plain = plain;
    /** @type {Partial<Record<Opening["why"], [weight: number, layer: number, head: number, query: number, key: number]>>} */
    this.found = {};
  }

  /**
   * Search a head's weights of some words, the rows, on the words of the keys: sums over a key's tokens, means over a
   * query's.
   * @param {Kernel} kernel
   * @param {LiveTrace} trace
   * @param {number} layer
   * @param {number} head
   * @param {number[]} rows
   */
  search(kernel, { entry, run }, layer, head, rows) {
    const across = entry.keys ?? entry.queries;
    const [N, M] = [entry.queries.ids.length, across.ids.length];
    const [top, bottom] = [entry.queries.words[rows[0]][0], entry.queries.words[rows[rows.length - 1]][1]];
    const weights = kernel.weights(headCall(run.layers[layer], head, N, M), [top, bottom], [0, M]);
    const words = areWords(across);
    for (const row of rows) {
      const [first, last] = entry.queries.words[row];
      words.forEach((isWord, key) => {
        if (!isWord || (!this.crossing && key === row)) return;
        const [left, right] = across.words[key];
        let sum = 0;
        for (let i = first - top; i < last - top; i++) for (let j = left; j < right; j++) sum += weights[i * M + j];
        const weight = sum / (last - first);
        if (weight > 0) this.add(weight, layer, head, row, key);
      });
    }
  }

  /**
   * @param {number} weight
   * @param {number} layer
   * @param {number} head
   * @param {number} query
   * @param {number} key
   */
  add(weight, layer, head, query, key) {
    /** @type {(why: Opening["why"]) => void} */
    const better = (why) => {
      if (weight > (this.found[why]?.[0] ?? 0)) this.found[why] = [weight, layer, head, query, key];
    };
    if (this.crossing && !this.plain) return better("across");
    if (this.plain) return better("plain");
    better("near");
    if (Math.abs(query - key) > 1) better("far");
  }

  /** @type {(entry: TraceEntry) => Opening | null} */
  chosen({ queries, keys }) {
    const { across, far, near, plain } = this.found;
    const enough = far && near && far[0] >= ENOUGH * near[0];
    const [why, found] = across ? ["across", across] : enough ? ["far", far] : near ? ["near", near] : ["plain", plain];
    if (!found) return null;
    const [weight, layer, head, query, key] = found;
    return {
      layer, head, token: queries.words[query][0], key: (keys ?? queries).words[key][0], weight: short(weight),
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
export const openingOf = (kernel, trace, token = null, layer = null) => {
  const { entry } = trace;
  const L = entry.layers.length;
  const first = Math.max(0, L - Math.max(2, Math.ceil(L / 3)));
  const layers = layer === null ? Array.from({ length: L - first }, (_, at) => first + at) : [layer];
  const rows = looking(entry.queries, token);
  if (!rows.length) return null;
  /** @type {(plain: boolean) => Opening | null} */
  const among = (plain) => {
    const best = new Best(entry.keys !== null, plain);
    for (const at of layers) {
      for (let head = 0; head < entry.model.heads; head++) {
        const kinds = entry.kinds?.[at][head] ?? {};
        if (plain || !PLAIN.some((name) => name in kinds)) best.search(kernel, trace, at, head, rows);
      }
    }
    return best.chosen(entry);
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
