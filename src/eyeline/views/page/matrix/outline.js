// An attention map before the numbers of its heads are there: what is known of it from the header.

import { AttentionMap } from "../weights/attention_map.js";

/** A head of which only the sizes and the mask are known. */
class OutlineHead {
  /**
   * @param {Trace} trace
   * @param {number} layer
   */
  constructor(trace, layer) {
    this.N = trace.queries.length;
    this.M = trace.keys.length;
    this.D = trace.model.head_dim;
    this.mask = { kind: trace.layers[layer].mask.kind };
    this.factors = null;
  }

  /**
   * @param {number} i
   * @param {number} j
   */
  allowed(i, j) {
    return this.mask.kind === "all" || j <= i;
  }
}

/**
 * The outline of the weights that the state names; null if their mask isn't known from the header.
 * @type {(page: Page) => AttentionMap | null}
 */
export const outlineOf = ({ trace, state: { layer, head, unit } }) => {
  const { kind } = trace.layers[layer].mask;
  if (kind !== "all" && kind !== "causal") return null;
  const count = typeof head === "number" ? 1 : trace.heads;
  const one = /** @type {any} */ (new OutlineHead(trace, layer));
  const heads = Array.from({ length: count }, () => one);
  return new AttentionMap(heads, head === "max" ? "max" : "mean", trace.queries.units(unit), trace.keys.units(unit));
};
