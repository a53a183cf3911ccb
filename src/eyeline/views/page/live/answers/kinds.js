// The labels of a trace's heads, those of `eyeline heads` but for "induction"; as Python's answers/behaviour.

import { mayLook } from "../../weights/may_look.js";
import { ASIDE, FIRST, GROUPS, PUNCTUATION, SPECIAL } from "./groups.js";
import { factorAt, factorsOf, maskOf, sizesOf } from "./layer_weights.js";

/** The tokens over which a sink is measured. Source: Gu et al., "When Attention Sink Emerges in Language Models" (2024). */
const SINK = 64;

/**
 * The labels by precedence, each with what its measure must exceed. Sources: Clark et al., "What Does BERT Look At?"
 * (2019), and Gu et al. In a text of fewer than 64 tokens, uniform attention exceeds the sink's threshold already.
 * @type {(tokens: number) => [name: KindName, above: number][]}
 */
const labelsFor = (tokens) => [
  ["previous", 0.5], ["next", 0.5], ["same", 0.5], ["punctuation", 0.6], ["separator", 0.6],
  ["sink", tokens >= SINK ? 0.3 : 0.6], ["broad", 3.8],
];

/**
 * The mean of a head's weights on the token `offset` places after each.
 * @type {(layer: LiveLayer, head: number, N: number, offset: number) => number}
 */
const shifted = (layer, head, N, offset) => {
  const { q, k, lse, scale } = layer;
  const { H, G, D } = sizesOf(layer, N, N);
  const [mask, factors] = [maskOf(layer, head), factorsOf(layer, head, N, N)];
  const [top, left] = [head * N, Math.floor(head / (H / G)) * N];
  let total = 0;
  for (let i = Math.max(0, -offset); i < Math.min(N, N - offset); i++) {
    const j = i + offset;
    if (lse[top + i] === -Infinity || !mayLook(mask, i, j, N)) continue;
    let sum = 0;
    for (let d = 0, a = (top + i) * D, b = (left + j) * D; d < D; d++) sum += q[a + d] * k[b + d];
    total += Math.exp(scale * sum - lse[top + i]) * factorAt(factors, i, j);
  }
  return total / N;
};

/**
 * The measures of one head that decide its labels.
 * @type {(layer: LiveLayer, sums: RowSums, head: number, N: number, present: boolean[], crossing: boolean) => Partial<Record<KindName, number>>}
 */
const measuresOf = (layer, { entropy, groups }, head, N, present, crossing) => {
  const top = head * N;
  /** @type {(group: number, rows?: number) => number} */
  const share = (group, rows = N) => {
    let total = 0;
    for (let at = (top * GROUPS) + group; at < (top + rows) * GROUPS; at += GROUPS) total += groups[at] + groups[at + (group < ASIDE ? ASIDE : 0)];
    return total / rows;
  };
  let spread = 0;
  for (let row = top; row < top + N; row++) spread += entropy[row];
  const own = crossing
    ? {}
    : { previous: shifted(layer, head, N, -1), next: shifted(layer, head, N, 1), same: shifted(layer, head, N, 0) };
  return {
    ...own,
    punctuation: present[PUNCTUATION] ? share(PUNCTUATION) : NaN,
    separator: present[SPECIAL] ? share(SPECIAL) : NaN,
    sink: share(FIRST, Math.min(N, SINK)),
    broad: spread / N,
  };
};

/**
 * The labels of each head, by layer, with the value of each one's measure; "mixed" alone, without a value, where none
 * applies.
 * @type {(layers: LiveLayer[], sums: RowSums[], groups: Int32Array, N: number, crossing: boolean) => HeadKinds[][]}
 */
export const kindsOf = (layers, sums, groups, N, crossing) => {
  const labels = labelsFor(groups.length);
  const present = Array.from({ length: ASIDE }, (_, group) => groups.some((one) => one % ASIDE === group));
  return layers.map((layer, at) =>
    Array.from({ length: layer.lse.length / N }, (_, head) => {
      const found = measuresOf(layer, sums[at], head, N, present, crossing);
      const applying = labels.filter(([name, above]) => (found[name] ?? NaN) > above);
      if (!applying.length) return { mixed: null };
      return Object.fromEntries(applying.map(([name]) => [name, Number((found[name] ?? 0).toFixed(4))]));
    }),
  );
};
