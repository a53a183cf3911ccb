// The request "projections": the vectors around a layer's attention, and a head's matrices; as Python's requests/projections.py.

import { attentionNames, isEncoderDecoder } from "./parameters.js";
import { placeAt, traceAt } from "./refusal.js";

/** @typedef {{ added: Float32Array<ArrayBuffer>, lengths: Float32Array<ArrayBuffer> }} Added */

/** @type {WeakMap<LiveLayer, Added>} What each layer's attention added: all its heads share it. */
const made = new WeakMap();

/**
 * What the heads' outputs (H, N, E), joined, add to the residual, (N, width), and the length of each head's part, (H, N).
 * @type {(output: Float32Array, W_o: Float32Array, b_o: Float32Array, heads: number, N: number) => Added}
 */
const addedBy = (output, W_o, b_o, heads, N) => {
  const width = b_o.length;
  const E = output.length / (heads * N);
  const sums = new Float64Array(N * width);
  const lengths = new Float32Array(heads * N);
  for (let head = 0; head < heads; head++) {
    for (let n = 0; n < N; n++) {
      const first = (head * N + n) * E;
      let square = 0;
      for (let row = 0; row < width; row++) {
        let part = 0;
        for (let e = 0, at = row * heads * E + head * E; e < E; e++, at++) part += W_o[at] * output[first + e];
        square += part * part;
        sums[n * width + row] += part;
      }
      lengths[head * N + n] = Math.sqrt(square);
    }
  }
  return { added: Float32Array.from(sums, (sum, at) => sum + b_o[at % width]), lengths };
};

/** The vectors and matrices of a head. @type {(kernel: Kernel, traces: (LiveTrace | null)[], request: Record<string, any>) => LiveAnswer} */
export const answerProjections = (_, traces, request) => {
  const trace = traceAt(traces, request);
  const [number, head] = placeAt(trace, request);
  const { entry, run, model } = trace;
  const { weights, config: { width } } = model;
  const names = attentionNames(model, entry.kind, number);
  const { heads, key_heads, head_dim: D, value_dim: E } = entry.model;
  const [layer, N] = [run.layers[number], entry.queries.ids.length];
  const group = Math.floor(head / (heads / key_heads));
  const b_o = weights.vector(`${names.output}.bias`, width);
  const outputs = `${names.output}.weight`;
  /** @type {[rows: number, columns: number]} */
  const joined = [width, heads * E];
  const around = made.get(layer) ?? addedBy(layer.output, weights.matrix(outputs, joined), b_o, heads, N);
  made.set(layer, around);
  /** @type {Record<string, [shape: number[], numbers: Float32Array]>} */
  const named = { x: [[N, width], layer.x ?? run.states[number]] };
  if (layer.keysX) named.keys_x = [[layer.keysX.length / width, width], layer.keysX];
  named.added = [[N, width], around.added];
  named.lengths = [[heads, N], around.lengths];
  for (const [letter, role, size, part, parts] of /** @type {const} */ ([
    ["q", "query", D, head, heads], ["k", "key", D, group, key_heads], ["v", "value", E, group, key_heads],
  ])) {
    const [first, last] = [part * size, (part + 1) * size];
    named[`W_${letter}`] = [[size, width], weights.matrix(`${names[role]}.weight`, [parts * size, width], first, last)];
    named[`b_${letter}`] = [[size], weights.vector(`${names[role]}.bias`, parts * size).subarray(first, last)];
  }
  named.W_o = [[width, E], weights.columns(outputs, joined, head * E, (head + 1) * E)];
  named.b_o = [[width], b_o];
  const embedded = number === 0 && entry.kind !== "cross"; // what cross-attention asks with was made by other layers
  if (embedded) {
    named.words = [[N, width], model.words(entry.queries.ids)];
    named.positions = [[N, width], model.placing.subarray(0, N * width)];
  }
  return {
    reply: {
      dtype: "float32",
      arrays: Object.keys(named),
      shapes: Object.fromEntries(Object.entries(named).map(([name, [shape]]) => [name, shape])),
      bias_length: Math.hypot(...b_o),
      norm_before: null,
      norm_after: "LayerNorm",
      norm_embedded: embedded && !isEncoderDecoder(model) ? "LayerNorm" : null,
      epsilon: 0,
    },
    buffers: Object.values(named).map(([, numbers]) => Float32Array.from(numbers).buffer),
  };
};
