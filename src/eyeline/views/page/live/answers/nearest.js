// The request "nearest": the words of the vocabulary that are nearest to a word's vectors; as Python's models/vocabulary.py.

import { embeddingName, isEncoderDecoder } from "./parameters.js";
import { RequestRefused, traceAt, whole } from "./refusal.js";

const COUNT = 5; // words for each vector
const UNLEARNED = 0.8; // the cosine with the rows of tokens that stand in no text, from which a row was never learned

/** @typedef {{ ids: number[], texts: string[], lengths: number[], row: (id: number) => ArrayLike<number> }} Vocabulary */

/** @type {WeakMap<LiveModel, Vocabulary>} The words of each model. */
const kept = new WeakMap();

/** @type {(kernel: Kernel, traces: (LiveTrace | null)[], request: Record<string, any>) => LiveAnswer} */
export const answerNearest = (_, traces, request) => {
  const { entry, run, model, tokenizer } = traceAt(traces, request);
  const N = entry.queries.ids.length;
  const first = whole(request, "token", 0, N - 1);
  const last = whole(request, "last", first + 1, N);
  if (isEncoderDecoder(model) && entry.kind !== "encoder") {
    throw new RequestRefused("trace", "trace must have its model's vocabulary, got one of a model without");
  }
  const words = kept.get(model) ?? vocabularyOf(model, tokenizer);
  kept.set(model, words);
  const vectors = run.states.map((state) => meanOf(state, state.length / N, first, last));
  return { reply: { words: nearestTo(words, vectors) }, buffers: [] };
};

/** The mean of rows [first, last). @type {(state: Float32Array, width: number, first: number, last: number) => Float64Array} */
const meanOf = (state, width, first, last) => {
  const mean = new Float64Array(width);
  for (let at = first * width; at < last * width; at++) mean[at % width] += state[at] / (last - first);
  return mean;
};

/** For each vector the words with the largest cosines. @type {(words: Vocabulary, vectors: Float64Array[]) => [text: string, cosine: number][][]} */
const nearestTo = ({ ids, texts, lengths, row }, vectors) => {
  const directions = vectors.map((vector) => {
    const length = lengthOf(vector) || 1;
    return Float32Array.from(vector, (number) => number / length);
  });
  /** @type {[place: number, cosine: number][][]} */
  const best = vectors.map(() => []);
  const widened = new Float32Array(vectors[0].length);
  ids.forEach((id, place) => {
    widened.set(row(id));
    directions.forEach((direction, at) => {
      const cosine = dot(widened, direction) / lengths[place];
      const found = best[at];
      if (found.length === COUNT && !(cosine > found[COUNT - 1][1])) return;
      const before = found.findIndex((one) => cosine > one[1]);
      found.splice(before < 0 ? found.length : before, 0, [place, cosine]);
      found.length = Math.min(found.length, COUNT);
    });
  });
  return best.map((found) => found.map(([place, cosine]) => [texts[place], Number(cosine.toFixed(6))]));
};

/** @type {(a: Float32Array, b: Float32Array) => number} */
const dot = (a, b) => {
  let [even, odd] = [0, 0];
  for (let at = 0; at < a.length; at += 2) {
    even += a[at] * b[at];
    odd += a[at + 1] * b[at + 1];
  }
  return even + odd;
};

/** @type {(vector: ArrayLike<number>) => number} */
const lengthOf = (vector) => {
  let sum = 0;
  for (let at = 0; at < vector.length; at++) sum += vector[at] * vector[at];
  return Math.sqrt(sum);
};

/**
 * The whole words of a model's vocabulary: tokens of letters alone, which don't go on with a word (##s), but for those
 * that were never learned: their rows still lie beside those of tokens that stand in no text. Source: Land and Bartolo,
 * "Fishing for Magikarp" (2024).
 * @type {(model: LiveModel, tokenizer: TokenizerData | PiecesData) => Vocabulary}
 */
const vocabularyOf = (model, tokenizer) => {
  const row = rowsOf(model);
  const pieces = tokenizer.vocabulary.split("\n");
  const special = "whole" in tokenizer ? tokenizer.whole : [];
  const apart = new Set(special);
  const ids = pieces.map((_, id) => id);
  const outside = ids.filter((id) => apart.has(id) || /^\[unused\d+\]$/.test(pieces[id]));
  const mean = new Float64Array(model.config.width);
  for (const id of outside) {
    const [numbers, length] = [row(id), lengthOf(row(id)) || 1];
    for (let at = 0; at < mean.length; at++) mean[at] += numbers[at] / length;
  }
  const bound = UNLEARNED * (lengthOf(mean) || 1);
  /** @type {Vocabulary} */
  const words = { ids: [], texts: [], lengths: [], row };
  for (const id of ids) {
    if (apart.has(id) || !/^\p{L}+$/u.test(pieces[id])) continue;
    const [numbers, length] = [row(id), lengthOf(row(id)) || 1];
    let sum = 0;
    for (let at = 0; at < mean.length; at++) sum += numbers[at] * mean[at];
    if (outside.length && sum / length >= bound) continue;
    words.ids.push(id);
    words.texts.push(pieces[id]);
    words.lengths.push(length);
  }
  return words;
};

/** The rows of a model's embedding matrix, up to a factor each, which changes no cosine. @type {(model: LiveModel) => Vocabulary["row"]} */
const rowsOf = (model) => {
  const { weights, config: { width, vocabulary } } = model;
  const name = embeddingName(model);
  const { int8, float32 } = weights.stored(name, [vocabulary, width]);
  const stored = int8 ?? float32;
  if (stored) return (id) => stored.subarray(id * width, (id + 1) * width);
  return (id) => weights.matrix(name, [vocabulary, width], id, id + 1);
};
