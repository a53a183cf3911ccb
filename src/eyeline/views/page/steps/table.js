// The numbers of the steps view as a table for export.

import { products } from "./formula.js";
import { joinedOf } from "./joined_step.js";

const FEW = 128; // keys of a table that has the model's wide vectors too: every row gets as many columns
const STEPS = ["seen", "score", "scaled", "masked", "exponential", "weight", "weight_before"];

/**
 * All numbers, including keys that aren't shown: a row for the query, for each key, for the products with the chosen
 * key, for each value, and for the new vector with and without the changes; where the page has the model's matrices,
 * also for x, this head's part, what all heads add, the residual, and the sum. Hidden keys have no masked score. Tokens
 * and coordinates count from 0.
 * @type {(walk: Walkthrough) => Table}
 */
export const stepsTable = (walk) => {
  const { head, now, before, trace, token } = walk;
  const made = head.M <= FEW ? walk.projections : null;
  const width = Math.max(head.D, head.v ? head.E : 0, made?.width ?? 0);
  const columns = ["what", "token", "text", ...STEPS, ...Array.from({ length: width }, (_, at) => String(at))];
  /** @type {(what: string, line: TokenizedText, at: number, vector: Numbers, steps?: Datum[]) => Datum[]} */
  const row = (what, line, at, vector, steps = STEPS.map(() => null)) => {
    const rest = Array(width - vector.length).fill(null);
    return [what, at, line.tokens[at].text, ...steps, ...vector, ...rest];
  };
  /** @type {(j: number) => Datum[]} */
  const stepsOf = (j) => {
    const [seen, masked] = [now.seen[j], now.seen[j] ? now.masked[j] : null];
    return [seen, now.scores[j], now.scaled[j], masked, now.exponentials[j], now.weights[j], before.weights[j]];
  };
  const keys = Array.from(now.weights.keys());
  const { queries, keys: line } = trace;
  const rows = [
    row("query", queries, token, walk.query),
    ...keys.map((j) => row("key", line, j, walk.keyOf(j), stepsOf(j))),
    row("products", line, walk.key, products(head, token, walk.key)),
  ];
  if (now.output && before.output) {
    rows.push(...keys.map((j) => row("value", line, j, walk.valueOf(j))), row("output", queries, token, now.output));
    if (walk.changed) rows.push(row("output_before", queries, token, before.output));
  }
  if (made) rows.push(row("x", queries, token, made.input("query", token)));
  if (made && now.output) {
    for (const [what, vector] of Object.entries(joinedOf(walk, made))) rows.push(row(what, queries, token, vector));
  }
  return { name: "steps", place: [trace.index, walk.layer, walk.number], columns, rows };
};
