// The first Transformer: an encoder reads, a decoder writes token by token. As Python's models/encoder_decoder.py.

import { Attention, Work } from "./attention.js";
import { Parts } from "./parts.js";
import { Room, rowsOf } from "./placing.js";
import { EVERYWHERE, EncoderLayer, checkIds, following, runEncoder } from "./running.js";

const LETTERS = "letters.weight";
/** @type {HeadMask} */
const CAUSAL = { kind: "causal" };

/** A layer that looks at its own text, then at the encoder's, then feeds forward. */
class DecoderLayer {
  /** @param {Attention} own @param {Attention} cross @param {FeedForward} feedForward */
  constructor(own, cross, feedForward) {
    this.own = own;
    this.cross = cross;
    this.feedForward = feedForward;
  }

  /**
   * Over rows x, in place.
   * @param {Placed} x
   * @param {Placed} context the encoder's rows
   * @param {Float32Array} keysX their numbers
   * @param {Placed} both memory for their keys and values
   * @param {Call} own
   * @param {Call} across
   */
  over(x, context, keysX, both, own, across) {
    const attended = this.own.over(x, own);
    const between = this.own.room.numbers(x).slice();
    const crossed = this.cross.across(x, context, both, across);
    this.feedForward.over(x, own.work.inner);
    if (!attended || !crossed) throw new Error("a decoder's layers must be kept, got none; say keep in its calls");
    return { own: attended, cross: { ...crossed, x: between, keysX } };
  }
}

/** The place of the largest number, the first of several. @type {(numbers: Float32Array) => number} */
const largest = (numbers) => numbers.reduce((best, number, at) => (number > numbers[best] ? at : best), 0);

/** The whole model, its weights in the kernel's memory. */
export class EncoderDecoder {
  /**
   * @param {Kernel} kernel
   * @param {string} name
   * @param {LiveConfig} config
   * @param {Tensors} weights
   */
  constructor(kernel, name, config, weights) {
    this.kernel = kernel;
    this.name = name;
    this.config = config;
    this.weights = weights;
    this.room = new Room(kernel);
    this.parts = new Parts(this.room, weights, config);
    const { width, positions, vocabulary } = config;
    /** What is added to each position's token, (positions, width). */
    this.placing = weights.matrix("positions.weight", [positions, width]);
    this.unembedding = this.parts.matrix(LETTERS, [vocabulary, width]);
    /** @type {EncoderLayer[]} */
    this.layers = [];
    /** @type {DecoderLayer[]} */
    this.decoder = [];
  }

  /** Read the next layer's weights; the layers left to read. */
  readLayer() {
    const { parts, layers, decoder, config } = this;
    const writes = layers.length === config.layers;
    const name = writes ? `decoder.${decoder.length}` : `encoder.${layers.length}`;
    /** @type {(part: string, across?: boolean) => Attention} */
    const attention = (part, across) => {
      const of = `${name}.${part}`;
      const names = { query: `${of}.query`, key: `${of}.key`, value: `${of}.value`, output: `${of}.output` };
      return new Attention(parts, { ...names, norm: `${of}_norm` }, across);
    };
    const own = attention("attention");
    const cross = writes ? attention("cross", true) : null;
    const feedForward = parts.feedForward(`${name}.feed_forward.0`, `${name}.feed_forward.2`, `${name}.output_norm`);
    if (cross) decoder.push(new DecoderLayer(own, cross, feedForward));
    else layers.push(new EncoderLayer(own, feedForward));
    return config.layers + config.decoderLayers - layers.length - decoder.length;
  }

  /** The tokens' embeddings times √width, (N, width). @param {number[]} ids */
  words(ids) {
    const { width, vocabulary } = this.config;
    const factor = Math.fround(width ** 0.5);
    const result = new Float32Array(ids.length * width);
    ids.forEach((id, at) => {
      const row = this.weights.matrix(LETTERS, [vocabulary, width], id, id + 1);
      result.set(row.map((number) => number * factor), at * width);
    });
    return result;
  }

  /** The tokens' embeddings: of words and positions, (N, width). @param {number[]} ids */
  embed(ids) {
    checkIds(ids, this.config);
    return this.words(ids).map((number, at) => number + this.placing[at]);
  }

  /**
   * Run the encoder over a text.
   * @param {number[]} ids
   * @param {RunOptions} options
   */
  async run(ids, options = {}) {
    const { first = 0, states } = options;
    return runEncoder(this, ids, states ? states[first] : this.embed(ids), options);
  }

  /**
   * Read a text and write another, the likeliest token each time, to the end; or what is given. Its runs are those of
   * the last step, since no token looks ahead.
   * @param {number[]} ids
   * @param {GenerateOptions} options
   * @returns {Promise<Generated>}
   */
  async generate(ids, options = {}) {
    const { target, told, edits } = options;
    const { start, end, mostWritten, layers } = this.config;
    const encoder = await this.run(ids, { edits, cancelled: options.cancelled, breathe: options.breathe });
    const context = encoder.states[layers];
    const given = target ? [...target, end] : null;
    const inputs = [start];
    const breath = following(options);
    for (;;) {
      await breath();
      const step = this._step(inputs, context, edits);
      const next = given ? given[inputs.length - 1] : step.likeliest;
      const { decoder, cross } = step;
      const written = { decoder, cross, inputs: [...inputs], written: [...inputs.slice(1), next] };
      told?.(written);
      if (next === end || inputs.length === mostWritten) return { encoder, ...written };
      inputs.push(next);
    }
  }

  /**
   * The decoder over the tokens so far, and the likeliest next one.
   * @param {number[]} ids
   * @param {Float32Array} context the encoder's vectors, (M, width)
   * @param {EditsOfLayer} [edits]
   */
  _step(ids, context, edits) {
    const { kernel, config: { width, headDim, vocabulary } } = this;
    const [N, M] = [ids.length, context.length / width];
    const embedded = this.embed(ids);
    /** @type {LiveRun} */
    const decoder = { kind: "decoder", ids: [...ids], layers: [], states: [embedded] };
    /** @type {LiveRun} */
    const cross = { kind: "cross", ids: [...ids], layers: [], states: decoder.states };
    const room = new Room(kernel);
    try {
      const [x, read] = [room.put(embedded, width), room.put(context, width)];
      const [work, both] = [new Work(room, this.config, N), room.rows(M, 2 * width)];
      const call = { work, scale: headDim ** -0.5, keep: true };
      for (const [number, layer] of this.decoder.entries()) {
        const own = { ...call, mask: CAUSAL, edits: edits?.("decoder", number, N, N) ?? null };
        const across = { ...call, mask: EVERYWHERE, edits: edits?.("cross", number, N, M) ?? null };
        const found = layer.over(x, read, context, both, own, across);
        decoder.layers.push(found.own);
        cross.layers.push(found.cross);
        decoder.states.push(room.numbers(x).slice());
      }
      const logits = room.rows(1, vocabulary);
      kernel.product(this.unembedding, rowsOf(x, N - 1, N), logits);
      return { decoder, cross, likeliest: largest(room.numbers(logits)) };
    } finally {
      room.leave();
    }
  }
}
