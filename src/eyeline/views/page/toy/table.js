// The toy's numbers as one table: a row for each query and key, in the order of the steps.

import { looks } from "./attention.js";

/** @type {(letter: string, count: number) => string[]} */
const columns = (letter, count) => Array.from({ length: count }, (_, at) => `${letter}${at}`);

/** @type {(toy: Toy, steps: ToySteps) => Table} */
export const toyTable = ({ words, q, k, v, mask }, { scores, quotients, exponentials, sums, weights, output }) => ({
  name: "toy",
  columns: [
    "query_index", "query", "key_index", "key",
    ...columns("q", q[0].length), ...columns("k", k[0].length), ...columns("v", v[0].length),
    "score", "scaled", "hidden", "exponential", "sum", "weight", ...columns("output", v[0].length),
  ],
  rows: words.flatMap((query, i) =>
    words.map((key, j) => [
      i, query, j, key, ...q[i], ...k[j], ...v[j],
      scores[i][j], quotients[i][j], Number(!looks(mask, i, j, words.length)), exponentials[i][j], sums[i],
      weights[i][j], ...output[i],
    ]),
  ),
});
