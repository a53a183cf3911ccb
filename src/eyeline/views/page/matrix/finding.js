// One sentence that says what one sees in a matrix.

import { isolated, percent } from "../drawing/labels.js";
import { kindsOf } from "../weights/kinds.js";

const WORTH = 0.005; // a smaller part isn't worth telling
const SINK = 64; // tokens over which a sink is measured, as in `eyeline heads`

/**
 * What the pinned word looks at most; else what the head's label says of its matrix; else the heaviest column; else how
 * a matrix is read.
 * @type {(matrix: Matrix, recorded: boolean) => string}
 */
export const findingOf = ({ page, cells, lines, sinks, grey, parts }, recorded) => {
  const [pinned] = lines?.rows.pinned ?? [];
  if (cells && !cells.waiting && lines && pinned !== undefined) {
    const row = cells.row(pinned);
    const most = row.reduce((best, weight, at) => (weight > row[best] ? at : best), 0);
    const itself = !page.trace.crossing && lines.rows.units[pinned].first === lines.columns.units[most].first;
    const query = isolated(lines.rows.labels[pinned]);
    const key = itself ? page.say("itself") : page.say("quoted", { word: isolated(lines.columns.labels[most]) });
    const aside = grey && parts ? parts.asideOf(pinned) : 0;
    if (row[most] > 0) {
      const said = aside >= WORTH ? "matrix.finding.pinned.aside" : "matrix.finding.pinned";
      return page.say(said, { query, key, share: percent(row[most]), aside: percent(aside) });
    }
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
