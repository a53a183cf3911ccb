// An encoder of the BERT family: embeddings, then layers of attention and feed-forward. As Python's models/encoder.py.

import { Attention } from "./attention.js";
import { Parts } from "./parts.js";
import { Room, rowsOf } from "./placing.js";
import { EncoderLayer, checkIds, runEncoder } from "./running.js";

const WORDS = "embeddings.word_embeddings.weight";

/** The whole model, its weights in the kernel's memory. */
export class Encoder {
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
    weights.stored(WORDS, [vocabulary, width]);
    /** What is added to each position's word: a vector, with the first token type's in it. (positions, width) */
    this.placing = weights.matrix("embeddings.position_embeddings.weight", [positions, width]);
    this.placed = this.room.put(this.placing, width);
    this.norm = this.parts.norm("embeddings.LayerNorm");
    /** @type {EncoderLayer[]} */
    this.layers = [];
  }

  /** Read the next layer's weights; returns how many are left to read. */
  readLayer() {
    this.layers.push(readLayer(this.parts, this.layers.length));
    return this.config.layers - this.layers.length;
  }

  /** The tokens' embeddings of words alone, (N, width). @param {number[]} ids */
  words(ids) {
    const { width, vocabulary } = this.config;
    const result = new Float32Array(ids.length * width);
    ids.forEach((id, at) => result.set(this.weights.matrix(WORDS, [vocabulary, width], id, id + 1), at * width));
    return result;
  }

  /** The tokens' embeddings: of words and positions, normed, (N, width). @param {number[]} ids */
  embed(ids) {
    checkIds(ids, this.config);
    const room = new Room(this.kernel);
    try {
      const x = room.put(this.words(ids), this.config.width);
      this.norm.over(x, rowsOf(this.placed, 0, ids.length));
      return room.numbers(x).slice();
    } finally {
      room.leave();
    }
  }

  /**
   * Run the model over a text.
   * @param {number[]} ids
   * @param {RunOptions} options
   */
  async run(ids, options = {}) {
    const { first = 0, states } = options;
    return runEncoder(this, ids, states ? states[first] : this.embed(ids), options);
  }
}

/** A layer. @type {(parts: Parts, number: number) => EncoderLayer} */
export const readLayer = (parts, number) => {
  const name = `encoder.layer.${number}`;
  const own = `${name}.attention.self`;
  const attention = new Attention(parts, {
    query: `${own}.query`, key: `${own}.key`, value: `${own}.value`,
    output: `${name}.attention.output.dense`, norm: `${name}.attention.output.LayerNorm`,
  });
  const output = `${name}.output`;
  const feedForward = parts.feedForward(`${name}.intermediate.dense`, `${output}.dense`, `${output}.LayerNorm`);
  return new EncoderLayer(attention, feedForward);
};
