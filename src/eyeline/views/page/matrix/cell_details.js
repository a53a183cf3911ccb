// The query, the key and the weight of the cell under the pointer.

import { element } from "../drawing/dom.js";
import { figure, isolated, percent } from "../drawing/labels.js";

const AT_ONCE = 8e6; // the largest number of products while the mouse moves
const MOST = 3e8; // the largest number of products while it rests
const REST = 120; // milliseconds until the mouse counts as resting

/**
 * The numbers of a cell; `show` returns them as a sentence, for screen readers.
 * @param {Matrix} matrix
 */
export const createCellDetails = (matrix) => {
  const { page } = matrix;
  const list = element("dl", { class: "readout" });
  /** @type {{ cells: Cells | null, row: number, total: number }} The latest row, and its total on the shown columns. */
  let row = { cells: null, row: -1, total: 0 };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;

  /** @type {(cells: Cells, at: number) => number} */
  const total = (cells, at) => {
    if (row.cells !== cells || row.row !== at) {
      row = { cells, row: at, total: cells.row(at).reduce((sum, weight) => sum + weight, 0) };
    }
    return row.total;
  };
  /** @type {(kind: string, name: string, ...value: Child[]) => HTMLElement} */
  const entry = (kind, name, ...value) =>
    element("div", { class: kind }, element("dt", {}, name), element("dd", {}, ...value));
  /** @type {(text: string, kind?: string) => HTMLElement} */
  const quiet = (text, kind = "") => element("span", { class: `quiet ${kind}` }, text);
  /** @type {(line: Axis, at: number) => HTMLElement[]} */
  const unit = (line, at) => [element("bdi", {}, line.labels[at]), quiet(String(line.numbers[at]), "number")];

  /** @type {(at: Cell | null) => string} */
  const show = (at) => {
    clearTimeout(waiting);
    const { cells, lines } = matrix;
    if (!at || !cells || !lines) {
      /** @type {(name: string) => HTMLElement} */
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
    const share = known ? percent(total(cells, at.row) > 0 ? weight / total(cells, at.row) : 0) : "…";
    list.replaceChildren(
      ...parts,
      entry("weight given", page.say("matrix.weight"), figure(weight, 6)),
      entry("share", page.say("matrix.share"), share),
    );
    if (!known && products <= MOST) {
      waiting = setTimeout(() => {
        total(cells, at.row);
        show(at);
      }, REST);
    }
    return page.say("matrix.said", { query, key, weight: figure(weight, 4), share });
  };
  return { element: list, show };
};
