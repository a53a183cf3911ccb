// One head: its arrays, and its weights, exp(scale · q·k − lse) where a query may look, computed when they are asked for.

import { widened } from "../kernel/halves.js";
import { mayLook } from "./may_look.js";

const BLOCK = 1 << 18; // weights that are computed together: whole rows, and at least those of a panel
const PANEL = 8; // queries
const BLOCKS = 4; // blocks that a head keeps

/** A head's numbers in float32. @type {(numbers: Float32Array | Uint16Array) => Float32Array} */
const wide = (numbers) => (numbers instanceof Uint16Array ? widened(numbers) : numbers);

/** A head's q (N, D), k (M, D), v (M, E) or null, lse (N), its mask: where its queries may look, and what each weight is multiplied by, if anything. */
export class Head {
  /**
   * A mask of kind "bounds" has values and their shape, [N or 1, K, 2]; one of kind "bits" has values.
   * @param {HeadArrays} arrays
   * @param {Kernel | null} kernel null where the host gave its `weights`
   */
  constructor({ q, k, v, lse, N, M, D, E, scale, mask, factors, weights }, kernel) {
    /** As they came: float32, or float16's bits. The kernel keeps copies of these very arrays. */
    this.stored = { q, k, v };
    this.kernel = kernel;
    this.N = N;
    this.M = M;
    this.D = D;
    this.E = E;
    this.scale = scale;
    this.mask = mask;
    this.factors = factors ?? null;
    this._lse = lse;
    /** @type {{ q?: Float32Array, k?: Float32Array, v?: Float32Array }} */
    this.wide = {};
    /** @type {Map<number, Float32Array>} Rows of weights by the number of their block, the latest used last. */
    this.blocks = new Map();
    this.together = Math.min(Math.max(Math.floor(BLOCK / Math.max(M, 1) / PANEL) * PANEL, PANEL), Math.max(N, 1));
    if (weights) {
      this.together = Math.max(N, 1);
      this.blocks.set(0, weights);
    }
    this.bytes =
      [q, k, v, lse, mask.values, factors].reduce((sum, array) => sum + (array?.byteLength ?? 0), 0) +
      4 * Math.min(N, BLOCKS * this.together) * M;
  }

  get q() {
    return (this.wide.q ??= wide(this.stored.q));
  }

  get k() {
    return (this.wide.k ??= wide(this.stored.k));
  }

  get v() {
    return this.stored.v && (this.wide.v ??= wide(this.stored.v));
  }

  /** The log of each query's softmax denominator, (N); −∞ for one that may look at nothing. */
  get lse() {
    return this._lse;
  }

  /** What the kernel computes this head from. @returns {AttendCall & { lse: Float32Array }} */
  get call() {
    const { N, M, D, scale, mask, lse, stored: { q, k } } = this;
    return { H: 1, G: 1, N, M, D, E: 0, q, k, scale, mask, lse };
  }

  /**
   * Whether query i may look at key j.
   * @param {number} i
   * @param {number} j
   */
  allowed(i, j) {
    return mayLook(this.mask, i, j, this.M);
  }

  /**
   * q·k of query i and key j.
   * @param {number} i
   * @param {number} j
   */
  score(i, j) {
    const { q, k, D } = this;
    let [a, b, sum] = [i * D, j * D, 0];
    for (const end = a + D; a < end; a++, b++) sum += q[a] * k[b];
    return sum;
  }

  /** The log of the softmax denominator of query i. @param {number} i */
  base(i) {
    return this.lse[i];
  }

  /**
   * The weight that query i gives to key j.
   * @param {number} i
   * @param {number} j
   */
  weight(i, j) {
    return this._row(i)[j];
  }

  /**
   * The weights of query i on the keys [first, last), times `share`, added to `into`.
   * @param {number} i
   * @param {number} first
   * @param {number} last
   * @param {Float64Array} into
   * @param {number} share
   */
  row(i, first = 0, last = this.M, into = new Float64Array(last - first), share = 1) {
    const weights = this._row(i);
    for (let j = first; j < last; j++) into[j - first] += share * weights[j];
    return into;
  }

  /** The weights of all queries on key j. (N) @param {number} j @returns {Float32Array} */
  column(j) {
    const { N } = this;
    if (N <= this.together) return Float32Array.from({ length: N }, (_, i) => this.weight(i, j));
    return this._weights([0, N], [j, j + 1]);
  }

  /** All weights of query i. (M) @param {number} i */
  _row(i) {
    const { N, M, together, blocks } = this;
    const number = Math.floor(i / together);
    const first = number * together;
    const block = blocks.get(number) ?? this._weights([first, Math.min(first + together, N)], [0, M]);
    blocks.delete(number);
    blocks.set(number, block);
    for (const oldest of blocks.keys()) if (blocks.size > BLOCKS) blocks.delete(oldest);
    return block.subarray((i - first) * M, (i - first + 1) * M);
  }

  /**
   * @param {[first: number, last: number]} queries
   * @param {[first: number, last: number]} keys
   */
  _weights(queries, keys) {
    if (!this.kernel) throw new Error("weights must come from the host where no kernel runs, got none");
    const found = this.kernel.weights(this.call, queries, keys);
    const { factors, M } = this;
    if (factors) {
      const [[top], [left, right]] = [queries, keys];
      for (let at = 0; at < found.length; at++) {
        found[at] *= factors[(top + Math.floor(at / (right - left))) * M + left + (at % (right - left))];
      }
    }
    return found;
  }
}
