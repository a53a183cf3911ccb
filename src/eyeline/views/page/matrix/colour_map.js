// The colours of a matrix on a scale, linear, logarithmic or by rank; with the marks of its legend.

import { ramp } from "../drawing/colour.js";
import { beyond } from "./scale_choice.js";

// A number's sign, exponent and 9 bits of its fraction: finer than a step of colour, and few enough to look up.
const SHIFT = 14;
const ENTRIES = 1 << 17;
const one = new Float32Array(1);
const bits = new Uint32Array(one.buffer);

/** A scale of colours. */
export class ColourMap {
  /**
   * @param {Scale} scale
   * @param {Float64Array} sample sorted weights, for the scale by rank
   * @param {boolean} dark
   * @param {boolean} clips whether there are columns beyond the scale
   */
  constructor(scale, sample, dark, clips = false) {
    this.scale = scale;
    this.sample = sample;
    this.dark = dark;
    this.clips = clips;
    /** @type {Uint32Array | null} Pixels by the first bits of a weight. */
    this.words = null;
  }

  /** Whether weights may lie beyond the scale. */
  get exceeded() {
    const { kind, most, end } = this.scale;
    return kind !== "rank" && (this.clips || beyond(most, end));
  }

  /** The place of a weight on the scale, 0 to 1. @param {number} weight */
  share(weight) {
    const { kind, from, end } = this.scale;
    if (kind === "linear") return Math.min(weight / end, 1);
    if (kind === "log") return Math.min(Math.max(Math.log(weight / from) / Math.log(end / from), 0), 1);
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

  /** Marks of a legend, as far as there is room for them. @returns {[place: number, weight: number][]} */
  get marks() {
    const { kind, from, end, most } = this.scale;
    if (kind === "linear") {
      const parts = { 1: 5, 2: 4, 5: 5 }[Number(end.toExponential()[0])] ?? 5;
      return Array.from({ length: parts + 1 }, (_, at) => [at / parts, (end * at) / parts]);
    }
    if (kind === "log") {
      const decades = Math.floor(Math.log10(end / from) + 1e-9);
      const powers = Array.from({ length: decades + 1 }, (_, step) => from * 10 ** step);
      const low = powers.filter((weight) => weight < end * (1 - 1e-9));
      return [...low.map((weight) => this._mark(weight)), [1, end]];
    }
    const last = this.sample.length - 1;
    if (last < 1) return [[1, most]];
    /** @type {(place: number) => [place: number, weight: number]} */
    const ranked = (place) => [place, this.sample[Math.round(place * last)]];
    return [...[0, 0.25, 0.5, 0.75].map(ranked), [1, most]];
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
