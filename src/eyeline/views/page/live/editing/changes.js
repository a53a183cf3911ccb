// The request "changes": what another run of a text changed; as Python's requests/changes.py.

import { sizesOf } from "../answers/layer_weights.js";
import { short } from "../answers/measures.js";
import { whole } from "../answers/refusal.js";
import { refused } from "./refusing.js";

const HEADS = 12; // how many heads are named
const ROWS = 1024; // the most tokens of a text of which all rows are compared
const TOGETHER = 1 << 22; // weights of a layer that are compared at once
const MOVED = 0.005; // a head whose row moved by more has turned

/** @type {(trace: LiveTrace) => [N: number, M: number]} */
const lengths = ({ entry: { queries, keys } }) => [queries.ids.length, (keys ?? queries).ids.length];

/**
 * How much of each row of a layer's weights moved, ½ Σ |after − before|, (H, last − first).
 * @type {(kernel: Kernel, layers: LiveLayer[], rows: [first: number, last: number], N: number, M: number) => Float64Array}
 */
const moved = (kernel, layers, [first, last], N, M) => {
  const calls = layers.map((layer) => {
    const { q, k, lse, scale, mask, edits } = layer;
    return { ...sizesOf(layer, N, M), E: 0, q, k, lse, scale, mask, factors: edits?.factors };
  });
  const { H } = calls[0];
  const found = new Float64Array(H * (last - first));
  const step = Math.max(Math.floor(TOGETHER / (H * M)), 1);
  for (let start = first; start < last; start += step) {
    const end = Math.min(start + step, last);
    const [one, other] = calls.map((call) => kernel.weights(call, [start, end], [0, M]));
    for (let row = 0; row < H * (end - start); row++) {
      let sum = 0;
      for (let at = row * M; at < (row + 1) * M; at++) sum += Math.abs(other[at] - one[at]);
      const [head, query] = [Math.floor(row / (end - start)), row % (end - start)];
      found[head * (last - first) + start - first + query] = sum / 2;
    }
  }
  return found;
};

/** 1 − cosine of each token's two vectors after the last layer; null if these aren't shown. @type {(before: LiveTrace, after: LiveTrace) => number[] | null} */
const turned = (before, after) => {
  if (!before.entry.vectors || !after.entry.vectors) return null;
  const [one, other] = [before, after].map(({ run: { states } }) => states[states.length - 1]);
  const [N] = lengths(before);
  const width = one.length / N;
  return Array.from({ length: N }, (_, token) => {
    let [dot, first, second] = [0, 0, 0];
    for (let at = token * width; at < (token + 1) * width; at++) {
      dot += one[at] * other[at];
      first += one[at] ** 2;
      second += other[at] ** 2;
    }
    const size = Math.sqrt(first) * Math.sqrt(second);
    return short(Math.max(1 - dot / (size > 0 ? size : 1), 0));
  });
};

/** The queries [first, last) that a request compares. @type {(request: Record<string, any>, N: number) => [first: number, last: number]} */
const rowsOf = (request, N) => {
  if (request.token === undefined || request.token === null) return [N <= ROWS ? 0 : N - 1, N];
  const first = whole(request, "token", 0, N - 1);
  return [first, whole(request, "last", first + 1, N)];
};

/**
 * The heads whose rows of weights moved most, `[layer, head, query, moved]`, among the queries [first, last) that were
 * compared, how many heads turned, and the turn of each token's vector.
 * @type {LiveAnswerer}
 */
export const answerChanges = async (kernel, session, request, turn) => {
  const most = session.entries.length - 1;
  const [before, after] = [
    await session.trace(kernel, whole(request, "trace", 0, most), turn),
    await session.trace(kernel, whole(request, "other", 0, most), turn),
  ];
  if (!before || !after) throw refused("gone", {}, "other");
  const [N, M] = lengths(before);
  const rows = rowsOf(request, N);
  const [one, other] = [before.entry, after.entry];
  const same = one.model.name === other.model.name && one.kind === other.kind && String(one.queries.ids) === String(other.queries.ids);
  if (!same || M !== lengths(after)[1]) throw refused("same", {}, "other");
  /** @type {[layer: number, head: number, query: number, moved: number][]} */
  const heads = [];
  for (const [layer, own] of before.run.layers.entries()) {
    await turn.breathe();
    const found = moved(kernel, [own, after.run.layers[layer]], rows, N, M);
    const count = rows[1] - rows[0];
    for (let head = 0; head < found.length / count; head++) {
      const row = found.subarray(head * count, (head + 1) * count);
      const largest = row.reduce((best, by, at) => (by > row[best] ? at : best), 0);
      heads.push([layer, head, rows[0] + largest, row[largest]]);
    }
  }
  const turnedHeads = heads.filter(([, , , by]) => by > MOVED).length;
  const looks = heads.sort((a, b) => b[3] - a[3]).slice(0, HEADS).filter(([, , , by]) => by > 0)
    .map(([layer, head, query, by]) => [layer, head, query, short(by)]);
  return { reply: { looks, turned: turnedHeads, rows, vectors: turned(before, after) }, buffers: [] };
};
