// A run in the page as a trace: its entry in the header, and its heads' measures; as Python's views/page/message.py.

import { groupsOf } from "./groups.js";
import { sharedKind } from "./head.js";
import { kindsOf } from "./kinds.js";
import { PICTURE, readoutsOf, drawnByPage, rowSums, sizesOf } from "./layer_weights.js";
import { measured, pictured } from "./measures.js";
import { schemeOf } from "./positions.js";
import { SHORT } from "./products.js";

/**
 * What the layers of a run over a text are to read of their weights while they run, so that its trace needs no other
 * pass over them: `ask` of a model's run.
 * @type {(queries: LineEntry, keys?: LineEntry | null) => Readouts}
 */
export const askOf = (queries, keys = null) => {
  const across = keys ?? queries;
  return readoutsOf(groupsOf(across), queries.ids.length, across.ids.length, keys !== null);
};

/**
 * The trace of a run.
 * @type {(kernel: Kernel, source: LiveSource, run: LiveRun, about: LiveTraceOptions) => LiveTrace}
 */
export const traceOf = (kernel, { model, tokenizer }, run, { name, kind, queries, keys = null, edits = [] }) => {
  const across = keys ?? queries;
  const [N, M] = [queries.ids.length, across.ids.length];
  const groups = groupsOf(across);
  const ask = readoutsOf(groups, N, M, keys !== null);
  const layers = run.layers.map((layer) => asSent(layer, N));
  const sums = layers.map((layer) => rowSums(kernel, layer, N, M, ask));
  const { H, G, D, E } = sizesOf(layers[0], N, M);
  const cells = sums.map((one) => one.cells);
  const thumbnails = cells.every((one) => one !== null) ? pictured(cells, H) : null;
  /** @type {TraceEntry} */
  const entry = {
    name,
    model: { name: tokenizer.name, layers: layers.length, heads: H, key_heads: G, head_dim: D, value_dim: E },
    kind, queries, keys,
    values: true,
    layers: layers.map((layer) => ({ scale: layer.scale, mask: { kind: sharedKind(layer) } })),
    ...measured(layers, sums, N),
    kinds: kindsOf(layers, sums, groups, N, keys !== null),
    picture: drawnByPage(N, M) ? null : [Math.min(N, PICTURE), Math.min(M, PICTURE)],
    vectors: N <= SHORT,
    projections: "all",
    positions: schemeOf(model, kind),
    image: null,
    edits,
  };
  return { entry, model, tokenizer, run: { ...run, layers }, thumbnails };
};

/**
 * A layer whose weights are exp(scale · q·k − lse), but for the factors: a head that looks everywhere alike has queries
 * of zeros.
 * @type {(layer: LiveLayer, N: number) => LiveLayer}
 */
const asSent = (layer, N) => {
  const flat = layer.edits?.flat;
  if (!flat?.some(Boolean)) return layer;
  const q = layer.q.slice();
  const size = q.length / (layer.lse.length / N);
  flat.forEach((is, head) => is && q.fill(0, head * size, (head + 1) * size));
  return { ...layer, q };
};
