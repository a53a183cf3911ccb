// The layout of a workspace: where its parts begin. Their sizes are the same formulas that Python evaluates.

import { RECORDS } from "./records.js";

/** The numbers that sizes depend on, by name. @typedef {Record<string, number>} Sizes */

/** The value of a size: a sum of products. @type {(sum: (string | number)[][], sizes: Sizes) => number} */
const valueOf = (sum, sizes) => {
  let total = 0;
  for (const product of sum) {
    let value = 1;
    for (const factor of product) {
      const number = typeof factor === "number" ? factor : sizes[factor];
      if (number === undefined) throw new Error(`size must be a known name, got ${factor}`);
      value *= number;
    }
    total += value;
  }
  return total;
};

/**
 * The offsets of parts, each on a cache line of its own, as fields of the params; and the end of the last one.
 * @type {(under: "panel" | "workspace", sizes: Sizes) => [fields: Record<string, number>, size: number]}
 */
const placed = (under, sizes) => {
  const line = RECORDS.sizes.cache_line;
  /** @type {(size: number) => number} */
  const whole = (size) => Math.ceil(size / line) * line;
  /** @type {Record<string, number>} */
  const fields = {};
  let at = whole(RECORDS.headers[under]);
  for (const [name, size] of under === "panel" ? RECORDS.panel_parts : RECORDS.workspace_parts) {
    fields[`${under}.${name}`] = at;
    at += whole(valueOf(size, sizes));
  }
  return [fields, at];
};

/**
 * The layout of a workspace: the params' fields, and its bytes.
 * @type {(sizes: Sizes) => { fields: Record<string, number>, size: number }}
 */
export const layoutOf = (sizes) => {
  const [panel, panel_size] = placed("panel", sizes);
  const [workspace, size] = placed("workspace", { ...sizes, panel_size });
  return { fields: { ...panel, "panel.size": panel_size, ...workspace }, size };
};
