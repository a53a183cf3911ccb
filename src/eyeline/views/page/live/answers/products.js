// The request "products": of the vectors of two traces' tokens; as Python's requests/products.py.

import { RequestRefused, traceAt } from "./refusal.js";

/** The most tokens of a text whose vectors a page compares. */
export const SHORT = 128;

/**
 * The inner product of each token's vector in `trace` with each one's in `other`, before the first layer and after each.
 * @type {(kernel: Kernel, traces: (LiveTrace | null)[], request: Record<string, any>) => LiveAnswer}
 */
export const answerProducts = (_, traces, request) => {
  const [first, second] = [traceAt(traces, request), traceAt(traces, request, "other")];
  for (const [name, { entry }] of /** @type {const} */ ([["trace", first], ["other", second]])) {
    if (entry.vectors) continue;
    throw new RequestRefused(name, `${name} must have all tokens' vectors, of at most ${SHORT}, got ${entry.queries.ids.length}`);
  }
  const alike = first.entry.model.name === second.entry.model.name && first.entry.kind === second.entry.kind;
  if (!alike) throw new RequestRefused("other", "other must be of the same model and part as trace, got another's");
  const [N, M] = [first, second].map(({ entry }) => entry.queries.ids.length);
  const shape = [first.run.states.length, N, M];
  const products = new Float32Array(shape[0] * N * M);
  first.run.states.forEach((own, level) => {
    const theirs = second.run.states[level];
    const width = own.length / N;
    for (let i = 0, at = level * N * M; i < N; i++) {
      for (let j = 0; j < M; j++, at++) {
        let [even, odd] = [0, 0];
        for (let a = i * width, b = j * width, end = a + width; a < end; a += 2, b += 2) {
          even += own[a] * theirs[b];
          odd += own[a + 1] * theirs[b + 1];
        }
        products[at] = even + odd;
      }
    }
  });
  return { reply: { shape }, buffers: [products.buffer] };
};
