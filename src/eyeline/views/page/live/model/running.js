// Running layers one after the other: what is kept of each, progress, and stopping.

import { Cancelled } from "../../kernel/serving.js";
import { Work, masksOf } from "./attention.js";
import { Room } from "./placing.js";
import { editsOf } from "./shares.js";

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
 * Run an encoder's layers on embedded tokens: all of it here, or a share, and the other worker the rest.
 * @param {EncoderStack} model
 * @param {number[]} ids
 * @param {Float32Array} embedded (N, width), or the state before the first layer that is run
 * @param {RunOptions} options
 * @returns {Promise<LiveRun>}
 */
export const runEncoder = async (model, ids, embedded, options) => {
  const { kernel, config, layers, share, partner } = model;
  const { width, headDim, heads } = config;
  const { first = 0, keep = "all", told } = options;
  const N = ids.length;
  const next = following(options);
  const settings = {
    first, keep: keep === "all", ask: options.ask, mask: options.mask ?? EVERYWHERE,
    scale: options.scale ?? headDim ** -0.5,
  };
  const edits = layers.map((_, layer) => (layer < first ? null : options.edits?.("encoder", layer, N, N) ?? null));
  /** @type {LiveRun} */
  const run = { kind: "encoder", ids: [...ids], layers: [], states: [] };
  const room = new Room(kernel);
  const other = partner?.begin(room, embedded, edits, settings);
  try {
    const x = room.put(embedded, width);
    const work = new Work(room, config, share, N);
    if (settings.keep) run.states[first] = embedded;
    for (let number = first; number < layers.length; number++) {
      await next();
      const own = editsOf(edits[number], share, heads, N, N);
      const layer = await layers[number].over(x, { ...settings, work, edits: own, swap: other?.swap });
      if (layer) {
        const whole = other ? await other.joined(layer) : layer;
        run.layers[number] = { ...whole, edits: edits[number], mask: masksOf(edits[number], settings.mask) };
      }
      if (settings.keep || number === layers.length - 1) run.states[number + 1] = room.numbers(x).slice();
      told?.([number + 1, layers.length]);
    }
  } finally {
    other?.end();
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
  async over(x, call) {
    const layer = await this.attention.over(x, call);
    await this.feedForward.over(x, call);
    return layer;
  }
}
