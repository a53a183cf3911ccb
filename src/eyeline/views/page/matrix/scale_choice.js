// The scale of a matrix's colours, chosen from its weights so that their structure is seen at once.

import { roundEnd } from "../weights/quantity.js";

const VISIBLE = 1 / 8; // the place on the ramp below which a colour is hardly told from nothing
const SEEN = 0.5; // the least part of all weight that a linear scale must make visible
const BEYOND = 0.01; // the largest part of the cells that may lie beyond a linear scale
const DECADES = 6; // of a logarithmic scale, at most
const NOISE = 1 + 1e-4; // what float32 numbers may exceed the end of their scale by

/**
 * Statistics of weights: the largest, and a sorted sample.
 * @typedef {{ most: number, sample: Float64Array }} Measured
 */

/**
 * A scale, from its palest to its strongest colour, and the reason for it: it reaches to the largest weight, to all but
 * a few weights (of which `part` is the share), is spread over powers of ten, or is by rank.
 * @typedef {{
 *   kind: ScaleKind, from: number, end: number, why: "most" | "few" | "spread" | "rank", most: number, part: number,
 * }} Scale
 */

/** @type {(tops: Iterable<number>, sample: Iterable<number>) => Measured} */
export const measured = (tops, sample) => {
  let most = 0;
  for (const top of tops) if (top > most) most = top;
  const sorted = Float64Array.from(sample).sort();
  return { most: most || (sorted[sorted.length - 1] ?? 0) || 1, sample: sorted };
};

/** Whether a weight lies beyond a scale. @type {(weight: number, end: number) => boolean} */
export const beyond = (weight, end) => weight > end * NOISE;

/**
 * The part of all weight in cells that are visible on a linear scale from zero to an end.
 * @type {(sample: Float64Array, end: number) => number}
 */
const visible = (sample, end) => {
  let [all, seen] = [0, 0];
  for (const weight of sample) {
    all += weight;
    if (weight >= VISIBLE * end) seen += weight;
  }
  return all > 0 ? seen / all : 1;
};

/** @type {(sample: Float64Array, end: number) => number} */
const partBeyond = (sample, end) => {
  let count = 0;
  for (let at = sample.length - 1; at >= 0 && beyond(sample[at], end); at--) count += 1;
  return count / Math.max(sample.length, 1);
};

/**
 * A logarithmic scale from the power of ten below the 5th percentile.
 * @type {(seen: Measured, end: number) => Scale}
 */
const logarithmic = ({ most, sample }, end) => {
  const faint = Math.floor(Math.log10(sample[Math.floor(sample.length / 20)] || end / 1e3));
  const over = Math.ceil(Math.log10(end) - 1e-9);
  const from = Number((10 ** Math.min(Math.max(faint, over - DECADES), over - 1)).toPrecision(1));
  return { kind: "log", from, end, why: "spread", most, part: 0 };
};

/**
 * The scale for some weights. By itself ("auto") it is linear up to the largest weight, if at least half of all weight
 * is then visible; else linear up to a round end that at most 1 % of the cells exceed; else logarithmic.
 * @type {(choice: ScaleChoice, seen: Measured) => Scale}
 */
export const scaleFor = (choice, seen) => {
  const { most, sample } = seen;
  const end = roundEnd(most, { noise: NOISE });
  if (choice === "rank") return { kind: "rank", from: sample[0] ?? 0, end: most, why: "rank", most, part: 0 };
  if (choice === "log") return logarithmic(seen, end);
  if (choice === "linear" || visible(sample, end) >= SEEN) {
    return { kind: "linear", from: 0, end, why: "most", most, part: 0 };
  }
  const lower = roundEnd(sample[Math.ceil((1 - BEYOND) * (sample.length - 1))] || end, { noise: NOISE });
  if (lower < end && visible(sample, lower) >= SEEN) {
    return { kind: "linear", from: 0, end: lower, why: "few", most, part: partBeyond(sample, lower) };
  }
  return logarithmic(seen, end);
};
