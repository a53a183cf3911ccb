// Running layers one after the other: what is kept of each, progress, and stopping.

import { Cancelled } from "../../kernel/serving.js";
import { Work } from "./attention.js";
import { Room } from "./placing.js";

const BREATH = 10; // milliseconds between two breaths of a job

/** What is awaited between two parts of a job: throws `Cancelled` once it is to stop. @param {Followed} options */
export const following = ({ cancelled, breathe }) => {
  let last = performance.now();
  return async () => {
    if (performance.now() - last > BREATH) {
      await breathe?.();
      last = performance.now();
    }
    if (cancelled?.()) throw new Cancelled();
  };
};

/** @type {HeadMask} */
export const EVERYWHERE = { kind: "all" };

/** Checks a text's tokens. @type {(ids: number[], config: LiveConfig) => void} */
export const checkIds = (ids, { vocabulary, positions }) => {
  if (ids.length < 1 || ids.length > positions) {
    throw new Error(`ids must be of 1 to ${positions} tokens, got ${ids.length}; take a shorter text`);
  }
  const wrong = ids.find((id) => !Number.isInteger(id) || id < 0 || id >= vocabulary);
  if (wrong !== undefined) throw new Error(`ids must be whole numbers below ${vocabulary}, got ${wrong}`);
};

/**
 * Run an encoder's layers on embedded tokens.
 * @param {{ kernel: Kernel, config: LiveConfig, layers: EncoderLayer[] }} model
 * @param {number[]} ids
 * @param {Float32Array} embedded (N, width), or the state before the first layer that is run
 * @param {RunOptions} options
 * @returns {Promise<LiveRun>}
 */
export const runEncoder = async ({ kernel, config, layers }, ids, embedded, options) => {
  const { width, headDim } = config;
  const { edits, ask, first = 0, told } = options;
  const keep = options.keep !== "last";
  const mask = options.mask ?? EVERYWHERE;
  const scale = options.scale ?? headDim ** -0.5;
  const N = ids.length;
  const next = following(options);
  /** @type {LiveRun} */
  const run = { kind: "encoder", ids: [...ids], layers: [], states: [] };
  const room = new Room(kernel);
  try {
    const x = room.put(embedded, width);
    const work = new Work(room, config, N);
    if (keep) run.states[first] = embedded;
    for (let number = first; number < layers.length; number++) {
      await next();
      const own = edits?.("encoder", number, N, N) ?? null;
      const layer = layers[number].over(x, { work, mask, scale, edits: own, keep, ask });
      if (layer) run.layers[number] = layer;
      if (keep || number === layers.length - 1) run.states[number + 1] = room.numbers(x).slice();
      told?.([number + 1, layers.length]);
    }
  } finally {
    room.leave();
  }
  return run;
};

/** A layer that looks at its own text, then feeds forward. */
export class EncoderLayer {
  /** @param {Attention} attention @param {FeedForward} feedForward */
  constructor(attention, feedForward) {
    this.attention = attention;
    this.feedForward = feedForward;
  }

  /** Over rows x, in place; the layer's attention, if it is kept. @param {Placed} x @param {Call} call */
  over(x, call) {
    const layer = this.attention.over(x, call);
    this.feedForward.over(x, call.work.inner);
    return layer;
  }
}
