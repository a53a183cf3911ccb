// The request "sources": a score as a sum over pairs of what was written before at the query's token and at the key's.
// As Python's models/score_sources.py and requests/sources.py.

import { maskOf } from "../answers/layer_weights.js";
import { mayLook } from "../../weights/may_look.js";
import { attentionNames, isEncoderDecoder } from "../answers/parameters.js";
import { RequestRefused, placeAt, replied, traceAt, whole } from "../answers/refusal.js";
import { product } from "./doubles.js";
import { streamBefore } from "./residual_stream.js";

const MOST = 6; // sources, and pairs of them, that are named
const DIGITS = 6;

/** @type {LiveAnswerer} */
export const answerSources = (_, { traces }, request) =>
  replied(request, () => {
    const trace = traceAt(traces, request);
    const { entry, model } = trace;
    const N = entry.queries.ids.length;
    const [query, key] = ["query", "key"].map((name) => whole(request, name, 0, N - 1));
    const [layer, head] = placeAt(trace, request);
    if (isEncoderDecoder(model) && entry.kind !== "encoder") {
      throw new RequestRefused("trace", `trace must be of a text's own tokens, got ${entry.kind} of an encoder-decoder`);
    }
    checkSeen(trace, layer, head, query, key);
    return { reply: split(trace, layer, head, query, key), buffers: [] };
  });

/** Refuse a key that the query can't look at. @type {(trace: LiveTrace, layer: number, head: number, query: number, key: number) => void} */
const checkSeen = ({ entry: { queries }, run }, layer, head, query, key) => {
  if (mayLook(maskOf(run.layers[layer], head), query, key, queries.ids.length)) return;
  const [one, other] = [query, key].map((token) => {
    const text = queries.starts[token] < 0 ? "" : queries.text.slice(queries.starts[token], queries.ends[token]).trim();
    return `${text || queries.pieces[token]} (#${token})`;
  });
  const line = `key must be a token that ${one} can look at, got ${other}, which the mask or an edit hides from it`;
  throw new RequestRefused("trace", line);
};

/** The reply. @type {(trace: LiveTrace, layer: number, head: number, query: number, key: number) => Record<string, any>} */
const split = ({ model, run }, layer, head, query, key) => {
  const { weights, config: { width, headDim } } = model;
  const stream = streamBefore(model, run, [query, key], [query, query], layer);
  const names = attentionNames(model, "encoder", layer);
  const [first, last] = [head * headDim, (head + 1) * headDim];
  /** @type {(name: string) => { W: Float32Array, bias: Float32Array }} */
  const of = (name) => ({
    W: weights.matrix(`${name}.weight`, [width, width], first, last),
    bias: weights.vector(`${name}.bias`, width).subarray(first, last),
  });
  const [toQuery, toKey] = [of(names.query), of(names.key)];
  const q = [...stream.parts.map((part) => product(part[0], toQuery.W)), toQuery.bias];
  const k = [...stream.parts.map((part) => product(part[1], toKey.W)), toKey.bias];
  /** @type {SourceName[]} */
  const querySources = [...stream.sources, ["q_bias", null, null]];
  /** @type {SourceName[]} */
  const keySources = [...stream.sources, ["k_bias", null, null]];
  const { scale } = run.layers[layer];
  const table = q.map((one) => k.map((other) => scale * dot(one, other)));
  const own = keySources.findIndex(([name]) => name === "position");
  const position = product(stream.elsewhere[1], toKey.W);
  const there = summed(k).map((x, at) => x - k[own][at] + position[at]);
  const flat = table.flat();
  const pairs = largest(flat, (at) => [querySources[Math.floor(at / k.length)], keySources[at % k.length]]);
  return {
    score: short(scale * dot(summed(q), summed(k))),
    same_place: short(scale * dot(summed(q), there)),
    scheme: "added",
    query_sources: largest(table.map(sumOf), (at) => [querySources[at]]),
    key_sources: largest(k.map((_, at) => sumOf(table.map((row) => row[at]))), (at) => [keySources[at]]),
    pairs,
  };
};

/**
 * The values that are largest, up or down, with their names, and of the others how many they are and their sum.
 * @type {(values: number[], name: (at: number) => SourceName[]) => { largest: any[], others: number, sum: number }}
 */
const largest = (values, name) => {
  const order = values.map((_, at) => at).sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]));
  const rest = order.slice(MOST);
  return {
    largest: order.slice(0, MOST).map((at) => [...name(at), short(values[at])]),
    others: rest.length,
    sum: short(sumOf(rest.map((at) => values[at]))),
  };
};

/** @type {(numbers: number[]) => number} */
const sumOf = (numbers) => numbers.reduce((sum, x) => sum + x, 0);

/** @type {(vectors: ArrayLike<number>[]) => Float64Array} */
const summed = (vectors) =>
  Float64Array.from({ length: vectors[0].length }, (_, at) => vectors.reduce((sum, vector) => sum + vector[at], 0));

/** @type {(a: ArrayLike<number>, b: ArrayLike<number>) => number} */
const dot = (a, b) => {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += a[at] * b[at];
  return sum;
};

/** @type {(value: number) => number} */
const short = (value) => Number(value.toPrecision(DIGITS));
