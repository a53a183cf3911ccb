// The colour map of a matrix: linear, logarithmic or by rank; with the marks of its legend.

import { ramp } from "../drawing/colour.js";

// A number's sign, exponent and 9 bits of its fraction: finer than a step of colour, and few enough to look up.
const SHIFT = 14;
const ENTRIES = 1 << 17;
const one = new Float32Array(1);
const bits = new Uint32Array(one.buffer);

/**
 * Statistics of the computed weights.
 * @typedef {{ top: number, most: number, sample: Float64Array }} Measured
 */

/**
 * A robust maximum of the weights, and a sorted sample of them.
 * @type {(tops: Iterable<number>, sample: Iterable<number>) => Measured}
 */
export const measured = (tops, sample) => {
  const sorted = Float64Array.from(tops).sort();
  const seen = Float64Array.from(sample).sort();
  // One row in fifty may hold a weight beyond the scale.
  const top = sorted.length ? sorted[sorted.length - 1 - Math.floor((sorted.length - 1) / 50)] : 0;
  const [most, last] = [sorted[sorted.length - 1] ?? 0, seen[seen.length - 1]];
  return { top: top || last || 1, most, sample: seen };
};

/** A scale of colours. */
export class ColourMap {
  /**
   * @param {ScaleKind} kind
   * @param {Measured} seen the weights' statistics
   * @param {boolean} dark
   * @param {boolean} clips whether there are clipped columns
   */
  constructor(kind, seen, dark, clips = false) {
    this.kind = kind;
    this.dark = dark;
    this.clips = clips;
    this.top = seen.top;
    this.most = seen.most;
    this.sample = seen.sample;
    // On the logarithmic scale the palest colour is the power of ten below the 5th percentile, one to six powers below
    // the top.
    const faint = Math.floor(Math.log10(seen.sample[Math.floor(seen.sample.length / 20)] || this.top / 1e3));
    const over = Math.ceil(Math.log10(this.top) - 1e-9);
    this.floor = 10 ** Math.min(Math.max(faint, over - 6), over - 1);
    /** @type {Uint32Array | null} Pixels by the first bits of a weight. */
    this.words = null;
  }

  /** The place of a weight on the scale, 0 to 1. @param {number} weight */
  share(weight) {
    if (this.kind === "linear") return Math.min(weight / this.top, 1);
    if (this.kind === "log") {
      return Math.min(Math.max(Math.log(weight / this.floor) / Math.log(this.top / this.floor), 0), 1);
    }
    const { sample } = this;
    let [low, high] = [0, sample.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sample[middle] < weight) low = middle + 1;
      else high = middle;
    }
    return sample.length > 1 ? Math.min(low / (sample.length - 1), 1) : 1;
  }

  /** The colour of a weight. @param {number} weight */
  colour(weight) {
    return ramp(this.dark)[Math.round(this.share(weight) * 255)];
  }

  /**
   * Paint weights as pixels, 0xAABBGGRR each; NaN stays transparent.
   * @param {Float32Array} weights
   * @param {Uint32Array} pixels
   */
  paint(weights, pixels) {
    const words = (this.words ??= this._table());
    const looked = new Uint32Array(weights.buffer, weights.byteOffset, weights.length);
    for (let at = 0; at < pixels.length; at++) pixels[at] = words[looked[at] >>> SHIFT];
  }

  /** Marks of a legend. @returns {[place: number, weight: number][]} */
  get marks() {
    if (this.kind === "linear") {
      const power = 10 ** Math.floor(Math.log10(this.top));
      const step = [0.2, 0.25, 0.5, 1].map((times) => times * power).find((size) => this.top / size <= 5) ?? 2 * power;
      /** @type {[place: number, weight: number][]} */
      const marks = [];
      for (let at = 0; at * step < 0.84 * this.top; at++) marks.push([(at * step) / this.top, at * step]);
      return [...marks, [1, this.top]];
    }
    if (this.kind === "log") {
      const decades = Math.floor(Math.log10(this.top / this.floor) + 1e-9);
      const powers = Array.from({ length: decades + 1 }, (_, step) => this.floor * 10 ** step);
      const low = powers.filter((weight) => this.share(weight) < 0.8);
      return [...low.map((weight) => this._mark(weight)), [1, this.top]];
    }
    const last = this.sample.length - 1;
    if (last < 1) return [[1, this.top]];
    /** @type {(place: number) => [place: number, weight: number]} */
    const ranked = (place) => [place, this.sample[Math.round(place * last)]];
    return [...[0, 0.25, 0.5, 0.75].map(ranked), [1, this.most]];
  }

  /**
   * @param {number} weight
   * @returns {[place: number, weight: number]}
   */
  _mark(weight) {
    return [this.share(weight), weight];
  }

  _table() {
    const words = new Uint32Array(ENTRIES);
    /** @type {(colour: RGB) => number} */
    const packed = ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    const colours = ramp(this.dark).map(packed);
    /** @type {(weight: number) => number} */
    const word = (weight) => colours[Math.round(this.share(weight) * 255)];
    const [from, to] = [(127 - 50) << 9, 128 << 9]; // 2⁻⁵⁰ to 2
    words.fill(word(0), 0, from);
    for (let at = from; at < to; at++) {
      bits[0] = at << SHIFT;
      words[at] = word(one[0]);
    }
    words.fill(word(Infinity), to, 255 << 9);
    return words;
  }
}
