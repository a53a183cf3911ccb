// The requests "overview" and "picture": heads' weights as means of cells; as Python's requests/overview.py and picture.py.

import { mayLook } from "../../weights/may_look.js";
import { headCall } from "./layer_weights.js";
import { RequestRefused, placeAt, span, traceAt, whole } from "./refusal.js";

const CELLS = 1 << 20; // the most cells of a picture

/** The thumbnails of all heads. @type {(kernel: Kernel, traces: (LiveTrace | null)[], request: Record<string, any>) => LiveAnswer} */
export const answerOverview = (_, traces, request) => {
  const { entry: { model, picture }, thumbnails } = traceAt(traces, request);
  if (!picture || !thumbnails) throw new RequestRefused("trace", "trace must have pictures, and each cell of this one's is one weight");
  const { bytes, most } = thumbnails;
  return {
    reply: { shape: [model.layers, model.heads, ...picture] },
    buffers: [bytes.slice().buffer, most.slice().buffer],
  };
};

/** A region of a head's weights. @type {(kernel: Kernel, traces: (LiveTrace | null)[], request: Record<string, any>) => LiveAnswer} */
export const answerPicture = (kernel, traces, request) => {
  const trace = traceAt(traces, request);
  const { entry, run } = trace;
  const [layer, head] = placeAt(trace, request);
  const [N, M] = [entry.queries.ids.length, (entry.keys ?? entry.queries).ids.length];
  const [queries, keys] = [span(request, "queries", N), span(request, "keys", M)];
  const rows = whole(request, "rows", 1, queries[1] - queries[0]);
  const columns = whole(request, "columns", 1, keys[1] - keys[0]);
  if (rows * columns > CELLS) {
    throw new RequestRefused("rows", `rows × columns must be at most ${CELLS}, got ${rows} × ${columns}`);
  }
  const cells = pooled(kernel, headCall(run.layers[layer], head, N, M), queries, keys, rows, columns);
  return { reply: { shape: [rows, columns] }, buffers: [cells.buffer] };
};

/**
 * The mean weight of each cell of a region of a head.
 * @type {(kernel: Kernel, call: HeadCall, queries: [number, number], keys: [number, number], rows: number, columns: number) => Float32Array<ArrayBuffer>}
 */
const pooled = (kernel, { q, k, lse, factors, D, mask, ...call }, [top, bottom], [left, right], rows, columns) => {
  const { gridMean } = kernel.attend({
    ...call, D, N: bottom - top, M: right - left, firstQuery: top, firstKey: left,
    q: q.subarray(top * D, bottom * D), k: k.subarray(left * D, right * D), lse: lse.subarray(top, bottom),
    factors: factors.map(({ by, columns: of }) => ({ by: by.subarray(top, bottom), columns: of.subarray(left, right) })),
    mask: partOf(mask, call.M, [top, bottom], [left, right]), ask: { grid: { rows, columns, mean: true } },
  });
  return new Float32Array(gridMean ?? []);
};

/**
 * The mask of some queries and keys, of M in all.
 * @type {(mask: HeadMask, M: number, queries: [number, number], keys: [number, number]) => HeadMask}
 */
const partOf = (mask, M, [top, bottom], [left, right]) => {
  if (!mask.values) return mask;
  const width = right - left;
  const bits = (/** @type {unknown} */ _, /** @type {number} */ at) =>
    Number(mayLook(mask, top + Math.floor(at / width), left + (at % width), M));
  const shape = [bottom - top, width];
  return { kind: "bits", shape, values: Uint8Array.from({ length: shape[0] * width }, bits) };
};
