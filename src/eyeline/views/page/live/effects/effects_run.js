// How much changes when each head of a run is cut, one after the other; as Python's answers/mattering.

import { sizesOf } from "../answers/layer_weights.js";

const TOGETHER = 128; // tokens of the variants that are run together

/** The effects of the heads of an encoder's run on a vector after the last layer: the mean of some tokens'. */
export class EffectsRun {
  /**
   * @param {Kernel} kernel
   * @param {Encoder} model
   * @param {LiveRun} run the run itself
   * @param {number[]} rows the tokens
   */
  constructor(kernel, model, run, rows) {
    this.kernel = kernel;
    this.model = model;
    this.run = run;
    this.rows = rows;
    const { layers, heads } = model.config;
    this.shape = [layers, heads];
    this.count = layers * heads;
    this.done = 0;
    this.together = togetherOf(run);
    this.stopped = false;
    /** The effect of each head, 1 − cosine; NaN for those that weren't cut. */
    this.heads = new Float32Array(this.count).fill(NaN);
    this.base = this._vector(run.states[layers]);
  }

  /** Whether all heads were cut, or it was stopped. */
  get over() {
    return this.stopped || this.done === this.count;
  }

  /**
   * Go on for some milliseconds: from the last layer to the first, since the fewer layers come after, the sooner a head
   * is done.
   * @param {number} milliseconds
   * @param {Followed} followed
   */
  async goOn(milliseconds, followed) {
    const end = performance.now() + milliseconds;
    const [layers, heads] = this.shape;
    while (!this.over && performance.now() < end) {
      const { done } = this;
      const [layer, first] = [layers - 1 - Math.floor(done / heads), done % heads];
      const effects = await this._effects(layer, first, Math.min(this.together, heads - first), followed);
      if (this.over || this.done !== done) continue; // another request stopped it meanwhile, or cut these heads
      this.heads.set(effects, layer * heads + first);
      this.done += effects.length;
    }
  }

  /**
   * What changes without the output of each of some heads. These variants are run together: as one line of copies of the
   * text, each of which looks at itself alone.
   * @type {(layer: number, first: number, count: number, followed: Followed) => Promise<number[]>}
   */
  async _effects(layer, first, count, { cancelled, breathe }) {
    const { run: { ids, layers, states }, model, shape: [depth, H] } = this;
    const N = ids.length;
    /** @type {EditsOfLayer} */
    const edits = (_, at) => {
      const own = tiled(layers[at].edits, count);
      return at === layer ? { ...own, gates: without(own?.gates, H, N, first, count) } : own;
    };
    const mask = count === 1 ? null : apart(N, count);
    const before = [];
    before[layer] = repeated(states[layer], count);
    const line = Array.from({ length: count }, () => ids).flat();
    const { states: after } = await model.run(line, { first: layer, states: before, keep: "last", mask, edits, cancelled, breathe });
    const { width } = model.config;
    return Array.from({ length: count }, (_, copy) => {
      const vector = this._vector(after[depth].subarray(copy * N * width, (copy + 1) * N * width));
      return Math.max(1 - cosine(this.base, vector), 0); // rounding may take a cosine past 1
    });
  }

  /** The mean of the tokens' vectors. @param {Float32Array} state */
  _vector(state) {
    const { width } = this.model.config;
    const sum = new Float64Array(width);
    for (const row of this.rows) for (let at = 0; at < width; at++) sum[at] += state[row * width + at];
    return sum;
  }

  /** The largest weight in a row of the tokens', the mean over these rows, for each head: (L, H). */
  looks() {
    const { kernel, run, rows, shape: [, heads] } = this;
    const found = new Float32Array(this.count);
    run.layers.forEach((layer, number) => {
      const { q, k, scale, mask, edits } = layer;
      const N = run.ids.length;
      const { flat, factors } = edits ?? {};
      const { weights } = kernel.attend({ ...sizesOf(layer, N, N), E: 0, q, k, scale, mask, flat, factors, ask: { largest: 1 } });
      if (!weights) throw new Error("the kernel must give the largest weights, gave none");
      for (let head = 0; head < heads; head++) {
        const sum = rows.reduce((so, row) => so + weights[head * N + row], 0);
        found[number * heads + head] = sum / rows.length;
      }
    });
    return found;
  }
}

/**
 * How many variants are run together: so many that their tokens fill the kernel's tiles, and one alone where the run's
 * own edits are of pairs of tokens.
 * @type {(run: LiveRun) => number}
 */
const togetherOf = ({ ids, layers }) => {
  const pairs = layers.some(({ edits }) => edits?.masks?.some(Boolean) || edits?.factors?.length);
  return pairs ? 1 : Math.max(1, Math.floor(TOGETHER / ids.length));
};

/** Each of some copies of N tokens looks at itself. @type {(N: number, copies: number) => HeadMask} */
const apart = (N, copies) => {
  const values = new Int32Array(2 * N * copies);
  for (let row = 0; row < N * copies; row++) {
    const start = row - (row % N);
    values.set([start, start + N], 2 * row);
  }
  return { kind: "bounds", shape: [N * copies, 1, 2], values };
};

/** @type {(numbers: Float32Array, times: number) => Float32Array} */
const repeated = (numbers, times) => {
  const made = new Float32Array(numbers.length * times);
  for (let copy = 0; copy < times; copy++) made.set(numbers, copy * numbers.length);
  return made;
};

/** A layer's edits, of copies of its tokens. @type {(edits: LayerEdits | null, copies: number) => LayerEdits | null} */
const tiled = (edits, copies) => {
  if (!edits?.gates || copies === 1) return edits;
  return { ...edits, gates: edits.gates.map((gate) => (typeof gate === "number" ? gate : repeated(gate, copies))) };
};

/**
 * The gates of H heads with head `first` cut in the first copy of N tokens, the next head in the next copy.
 * @type {(gates: LayerEdits["gates"], H: number, N: number, first: number, copies: number) => NonNullable<LayerEdits["gates"]>}
 */
const without = (gates, H, N, first, copies) => {
  const made = gates?.slice() ?? Array(H).fill(1);
  for (let copy = 0; copy < copies; copy++) {
    const gate = made[first + copy];
    const row = typeof gate === "number" ? new Float32Array(N * copies).fill(gate) : gate.slice();
    made[first + copy] = row.fill(0, copy * N, (copy + 1) * N);
  }
  return made;
};

/** @type {(a: Float64Array, b: Float64Array) => number} */
const cosine = (a, b) => {
  let [product, ofA, ofB] = [0, 0, 0];
  for (let at = 0; at < a.length; at++) {
    product += a[at] * b[at];
    ofA += a[at] * a[at];
    ofB += b[at] * b[at];
  }
  return product / (Math.sqrt(ofA) * Math.sqrt(ofB) || 1);
};
