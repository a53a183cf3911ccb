// One sentence that says what one sees in a matrix.

import { isolated, percent } from "../drawing/labels.js";
import { kindsOf } from "../weights/kinds.js";

const SINK = 64; // tokens over which a sink is measured, as in `eyeline heads`

/**
 * What the pinned word looks at most; else what the head's label says of its matrix; else the heaviest column; else how
 * a matrix is read.
 * @type {(matrix: Matrix, recorded: boolean) => string}
 */
export const findingOf = ({ page, cells, lines, sinks }, recorded) => {
  const [pinned] = lines?.rows.pinned ?? [];
  if (cells && lines && pinned !== undefined) {
    const row = cells.row(pinned);
    const most = row.reduce((best, weight, at) => (weight > row[best] ? at : best), 0);
    const [query, key] = [isolated(lines.rows.labels[pinned]), isolated(lines.columns.labels[most])];
    if (row[most] > 0) return page.say("matrix.finding.pinned", { query, key, share: percent(row[most]) });
  }
  const [[name, value] = ["mixed", null]] = recorded ? kindsOf(page.trace, page.state.layer, page.state.head) : [];
  const far = name === "sink" && page.trace.queries.length > SINK ? ".far" : "";
  if (name !== "mixed") return page.say(`matrix.finding.${name}${far}`, { share: percent(value ?? 0), count: SINK });
  if (lines && sinks.length) {
    const [{ column, share }] = sinks;
    return page.say("matrix.finding.heavy", { key: isolated(lines.columns.labels[column]), share: percent(share) });
  }
  return page.say(`matrix.finding.${page.dark ? "dark" : "light"}`);
};
