// From weights to the colours of a matrix: linear, by the logarithm, or by rank; with marks for a legend.

import { ramp } from "../drawing/colour.js";

// A number's sign, exponent and 9 bits of its fraction: finer than a step of colour, and few enough to look up.
const SHIFT = 14;
const ENTRIES = 1 << 17;
const one = new Float32Array(1);
const bits = new Uint32Array(one.buffer);

/** What is known of the weights that were seen: the robust largest, and a sample of them, sorted. */
export const measured = (tops, sample) => {
  const sorted = Float64Array.from(tops).sort();
  const seen = Float64Array.from(sample).sort();
  // One row in fifty may hold a weight beyond the scale.
  const top = sorted.length ? sorted[sorted.length - 1 - Math.floor((sorted.length - 1) / 50)] : 0;
  return { top: top || seen.at(-1) || 1, most: sorted.at(-1) ?? 0, sample: seen };
};

/** A scale of colours. */
export class ColourMap {
  /** A scale of a kind, "linear", "log" or "rank", for what `measured` found; `clips`: whether columns don't count. */
  constructor(kind, seen, dark, clips = false) {
    Object.assign(this, { kind, dark, clips, top: seen.top, most: seen.most, sample: seen.sample });
    // By the logarithm the palest is the power of ten below one in twenty, one to six powers below the top.
    const faint = Math.floor(Math.log10(seen.sample[Math.floor(seen.sample.length / 20)] || this.top / 1e3));
    const over = Math.ceil(Math.log10(this.top) - 1e-9);
    this.floor = 10 ** Math.min(Math.max(faint, over - 6), over - 1);
    this.words = null; // pixels by the first bits of a weight
  }

  /** Where on the scale a weight stands, 0 to 1. */
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

  /** The colour of a weight, [red, green, blue]. */
  colour(weight) {
    return ramp(this.dark)[Math.round(this.share(weight) * 255)];
  }

  /** Paint weights as pixels, 0xAABBGGRR each; what is NaN stays clear. */
  paint(weights, pixels) {
    const words = (this.words ??= this._table());
    const looked = new Uint32Array(weights.buffer, weights.byteOffset, weights.length);
    for (let at = 0; at < pixels.length; at++) pixels[at] = words[looked[at] >>> SHIFT];
  }

  /** Marks of a legend: [place on the scale 0 to 1, weight]. */
  get marks() {
    if (this.kind === "linear") {
      const power = 10 ** Math.floor(Math.log10(this.top));
      const step = [0.2, 0.25, 0.5, 1, 2].map((times) => times * power).find((one) => this.top / one <= 5);
      const marks = [];
      for (let at = 0; at * step < 0.84 * this.top; at++) marks.push([(at * step) / this.top, at * step]);
      return [...marks, [1, this.top]];
    }
    if (this.kind === "log") {
      const decades = Math.floor(Math.log10(this.top / this.floor) + 1e-9);
      const powers = Array.from({ length: decades + 1 }, (_, step) => this.floor * 10 ** step);
      const marks = powers.map((weight) => [this.share(weight), weight]).filter(([place]) => place < 0.8);
      return [...marks, [1, this.top]];
    }
    const last = this.sample.length - 1;
    if (last < 1) return [[1, this.top]];
    return [...[0, 0.25, 0.5, 0.75].map((place) => [place, this.sample[Math.round(place * last)]]), [1, this.most]];
  }

  _table() {
    const words = new Uint32Array(ENTRIES);
    const packed = ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    const colours = ramp(this.dark).map(packed);
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
