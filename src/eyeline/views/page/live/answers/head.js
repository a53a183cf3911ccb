// The request "head": a head's queries, keys, values, lse and mask; as Python's requests/head.py.

import { mayLook } from "../../weights/may_look.js";
import { factorAt, factorsOf, maskOf, sizesOf } from "./layer_weights.js";
import { placeAt, traceAt } from "./refusal.js";

/** The kind of the mask that a layer's heads share; "bits" where they differ. @type {(layer: LiveLayer) => MaskKind} */
export const sharedKind = ({ mask }) => {
  if (!Array.isArray(mask)) return mask.kind;
  return mask.every(({ kind }) => kind === mask[0].kind) ? mask[0].kind : "bits";
};

/** A head's mask as booleans, (N, M). @type {(mask: HeadMask, N: number, M: number) => Uint8Array<ArrayBuffer>} */
const bitsOf = (mask, N, M) =>
  Uint8Array.from({ length: N * M }, (_, at) => Number(mayLook(mask, Math.floor(at / M), at % M, M)));

/** @type {(kernel: Kernel, traces: (LiveTrace | null)[], request: Record<string, any>) => LiveAnswer} */
export const answerHead = (_, traces, request) => {
  const trace = traceAt(traces, request);
  const [number, head] = placeAt(trace, request);
  const layer = trace.run.layers[number];
  const [N, M] = [trace.entry.queries.ids.length, (trace.entry.keys ?? trace.entry.queries).ids.length];
  const { H, G, D, E } = sizesOf(layer, N, M);
  const group = Math.floor(head / (H / G));
  /** @type {Record<string, ArrayBufferView<ArrayBuffer>>} */
  const named = {
    q: layer.q.slice(head * N * D, (head + 1) * N * D),
    k: layer.k.slice(group * M * D, (group + 1) * M * D),
    lse: layer.lse.slice(head * N, (head + 1) * N),
    v: layer.v.slice(group * M * E, (group + 1) * M * E),
  };
  const [kind, mask] = [sharedKind(layer), maskOf(layer, head)];
  /** @type {number[] | undefined} */
  let mask_shape;
  if (kind === "bits") {
    named.allowed = mask.kind === "bits" && mask.values ? new Uint8Array(mask.values) : bitsOf(mask, N, M);
    mask_shape = [N, M];
  } else if (kind === "bounds") {
    named.bounds = new Int32Array(mask.values ?? []);
    mask_shape = mask.shape;
  }
  const factors = factorsOf(layer, head, N, M);
  if (factors.some(({ by }) => by.some((one) => one !== 1))) {
    named.factors = Float32Array.from({ length: N * M }, (__, at) => factorAt(factors, Math.floor(at / M), at % M));
  }
  const arrays = Object.keys(named);
  return {
    reply: { shape: { N, M, D, E }, dtype: "float32", arrays, ...(mask_shape ? { mask_shape } : {}) },
    buffers: Object.values(named).map(({ buffer }) => buffer),
  };
};
