// What was written into the residual stream at some tokens: their vectors before a layer, each a sum of its sources, in
// double precision. As Python's models/residual_stream.py. Source: Elhage et al., "A Mathematical Framework for
// Transformer Circuits" (2021).

import { attentionNames, isEncoderDecoder } from "../answers/parameters.js";
import { activated, product } from "./doubles.js";

/** The vectors of some tokens. */
class ResidualStream {
  /** @param {number} epsilon of its norms */
  constructor(epsilon) {
    this.epsilon = epsilon;
    /** @type {SourceName[]} */
    this.sources = [];
    /** What each source wrote, as it stands after the norms since then: a vector for each token. @type {Float64Array[][]} */
    this.parts = [];
    /** Other positions' vectors, treated as the tokens' own are, but no part of the sum. @type {Float64Array[]} */
    this.elsewhere = [];
  }

  /** The tokens' vectors. @returns {Float64Array[]} */
  get total() {
    return this.elsewhere.map((vector, token) => {
      const sum = new Float64Array(vector.length);
      for (const part of this.parts) for (let at = 0; at < sum.length; at++) sum[at] += part[token][at];
      return sum;
    });
  }

  /** @type {(source: SourceName, part: ArrayLike<number>[]) => void} */
  write(source, part) {
    this.sources.push(source);
    this.parts.push(part.map((vector) => Float64Array.from(vector)));
  }

  /** Write the same at every token. @type {(source: SourceName, vector: ArrayLike<number>) => void} */
  writeAll(source, vector) {
    this.write(source, this.elsewhere.map(() => vector));
  }

  /** A layer norm, linear with the scale that it has for these tokens. @type {(weight: Float32Array, bias: Float32Array, source: SourceName) => void} */
  norm(weight, bias, source) {
    const factors = this.total.map((sum) => {
      const size = Math.sqrt(centred(sum).reduce((squares, x) => squares + x * x, 0) / sum.length + this.epsilon);
      return Float64Array.from(weight, (number) => number / size);
    });
    /** @type {(vectors: Float64Array[]) => Float64Array[]} */
    const normed = (vectors) => vectors.map((vector, token) => centred(vector).map((x, at) => x * factors[token][at]));
    this.parts = this.parts.map(normed);
    this.elsewhere = normed(this.elsewhere);
    this.writeAll(source, bias);
  }
}

/** @type {(vector: Float64Array) => Float64Array} */
const centred = (vector) => {
  const mean = vector.reduce((sum, x) => sum + x, 0) / vector.length;
  return vector.map((x) => x - mean);
};

/** The names of a layer's norms and feed-forward layers. @type {(model: LiveModel, layer: number) => Record<"norm" | "inner" | "outer" | "last", string>} */
const namesOf = (model, layer) => {
  if (isEncoderDecoder(model)) {
    const name = `encoder.${layer}`;
    return {
      norm: `${name}.attention_norm`, inner: `${name}.feed_forward.0`, outer: `${name}.feed_forward.2`,
      last: `${name}.output_norm`,
    };
  }
  const name = `encoder.layer.${layer}`;
  return {
    norm: `${name}.attention.output.LayerNorm`, inner: `${name}.intermediate.dense`, outer: `${name}.output.dense`,
    last: `${name}.output.LayerNorm`,
  };
};

/**
 * The residual stream of some tokens of an encoder's run before a layer.
 * @param {LiveModel} model an encoder, or an encoder-decoder, of which it is the encoder
 * @param {LiveRun} run
 * @param {number[]} tokens their positions
 * @param {number[]} elsewhere other positions of them
 * @param {number} before the layer
 */
export const streamBefore = (model, run, tokens, elsewhere, before) => {
  const { weights, placing, config: { width, innerWidth, heads, headDim, epsilon, activation } } = model;
  const N = run.ids.length;
  const vector = (/** @type {string} */ name) => weights.vector(name, width);
  const rowsAt = (/** @type {Float32Array} */ rows, /** @type {number[]} */ places) =>
    places.map((place) => rows.subarray(place * width, (place + 1) * width));
  const stream = new ResidualStream(epsilon);
  const words = model.words(tokens.map((token) => run.ids[token]));
  stream.elsewhere = rowsAt(placing, elsewhere).map((row) => Float64Array.from(row));
  stream.write(["embedding", null, null], rowsAt(words, tokens.map((_, at) => at)));
  stream.write(["position", null, null], rowsAt(placing, tokens));
  if (!isEncoderDecoder(model)) {
    const name = "embeddings.LayerNorm";
    stream.norm(vector(`${name}.weight`), vector(`${name}.bias`), ["embedding_norm_bias", null, null]);
  }
  run.layers.slice(0, before).forEach(({ output }, layer) => {
    const { norm, inner, outer, last } = namesOf(model, layer);
    const attended = attentionNames(model, "encoder", layer).output;
    const W = weights.matrix(`${attended}.weight`, [width, width]);
    for (let head = 0; head < heads; head++) {
      const of = (/** @type {number} */ token) => output.subarray((head * N + token) * headDim, (head * N + token + 1) * headDim);
      stream.write(["head", layer, head], tokens.map((token) => product(of(token), W, null, head * headDim, width)));
    }
    stream.writeAll(["W_o_bias", layer, null], vector(`${attended}.bias`));
    stream.norm(vector(`${norm}.weight`), vector(`${norm}.bias`), ["attention_norm_bias", layer, null]);
    const widening = weights.matrix(`${inner}.weight`, [innerWidth, width]);
    const narrowing = weights.matrix(`${outer}.weight`, [width, innerWidth]);
    const bias = weights.vector(`${inner}.bias`, innerWidth);
    const hidden = stream.total.map((x) => activated(activation, product(x, widening, bias)));
    stream.write(["MLP", layer, null], hidden.map((x) => product(x, narrowing)));
    stream.writeAll(["MLP_bias", layer, null], vector(`${outer}.bias`));
    stream.norm(vector(`${last}.weight`), vector(`${last}.bias`), ["MLP_norm_bias", layer, null]);
  });
  return stream;
};
