// What a matrix says of the cell that is pointed at.

import { element } from "../drawing/dom.js";
import { figure, isolated, percent } from "../drawing/labels.js";

const AT_ONCE = 8e6; // products that a movement of the mouse may cost
const MOST = 3e8; // and a mouse that rests
const REST = 120; // milliseconds

/** The readout of a matrix; `show` gives what it says as a sentence, for those who don't see it. */
export const createCellDetails = (matrix) => {
  const { page } = matrix;
  const list = element("dl", { class: "readout" });
  let row = { cells: null, row: -1, total: 0 }; // the latest row, and what it gives to what is shown
  let waiting = null;

  const total = (at) => {
    if (row.cells !== matrix.cells || row.row !== at) {
      row = { cells: matrix.cells, row: at, total: matrix.cells.row(at).reduce((sum, weight) => sum + weight, 0) };
    }
    return row.total;
  };
  const entry = (kind, name, ...value) =>
    element("div", { class: kind }, element("dt", {}, name), element("dd", {}, ...value));
  const quiet = (text, kind = "") => element("span", { class: `quiet ${kind}` }, text);
  const unit = (line, at) => [element("bdi", {}, line.labels[at]), quiet(String(line.numbers[at]), "number")];

  const show = (at) => {
    clearTimeout(waiting);
    const { cells, lines } = matrix;
    if (!at || !cells) {
      const blank = (name) => entry("blank", page.say(`matrix.${name}`), "–");
      list.replaceChildren(...["query", "key", "weight"].map(blank), quiet(page.say("matrix.hint")));
      return "";
    }
    const [query, key] = [isolated(lines.rows.labels[at.row]), isolated(lines.columns.labels[at.column])];
    const note = matrix.clipped.includes(at.column) ? [quiet(page.say("matrix.capped"))] : [];
    const parts = [
      entry("query", page.say("matrix.query"), ...unit(lines.rows, at.row)),
      entry("key", page.say("matrix.key"), ...unit(lines.columns, at.column), ...note),
    ];
    if (!cells.allowed(at.row, at.column)) {
      list.replaceChildren(...parts, entry("weight", page.say("matrix.weight"), page.say("matrix.none")));
      return page.say("matrix.said.none", { query, key });
    }
    const weight = cells.weight(at.row, at.column);
    const products = cells.effort * cells.columns.length;
    const known = products <= AT_ONCE || (row.cells === cells && row.row === at.row);
    const share = known ? percent(total(at.row) > 0 ? weight / total(at.row) : 0) : "…";
    list.replaceChildren(
      ...parts,
      entry("weight given", page.say("matrix.weight"), figure(weight, 6)),
      entry("share", page.say("matrix.share"), share),
    );
    if (!known && products <= MOST) {
      waiting = setTimeout(() => {
        total(at.row);
        show(at);
      }, REST);
    }
    return page.say("matrix.said", { query, key, weight: figure(weight, 4), share });
  };
  return { element: list, show };
};
