// The tables of the toy view: of each step one, whose cells are filled in whenever a number changes.

import { needsLight, shade, tint, tintOf } from "../drawing/colour.js";
import { element } from "../drawing/dom.js";
import { named } from "../drawing/labels.js";
import { roundEnd, scaleEnd } from "../weights/quantity.js";
import { plain } from "./arithmetic.js";

/** The parts with a sign, whose cells are tinted; the others have bars from zero. @type {ToyPart[]} */
const SIGNED = ["q", "k", "v", "scores", "quotients", "open", "output"];

/** The parts that share a scale. @type {ToyPart[][]} */
const SCALES = [["q", "k", "v", "output"], ["scores", "quotients", "open"]];

/** @type {(toy: Toy, steps: ToySteps) => Record<ToyPart, number[][]>} */
export const numbersOf = (toy, steps) => ({
  q: toy.q, k: toy.k, v: toy.v,
  scores: steps.scores, quotients: steps.quotients, open: steps.open,
  exponentials: steps.exponentials, sums: steps.sums.map((sum) => [sum]),
  weights: steps.weights, output: steps.output,
});

/** The largest finite size of some numbers. @type {(rows: number[][]) => number} */
const size = (rows) =>
  rows.flat().filter(Number.isFinite).reduce((most, number) => Math.max(most, Math.abs(number)), 0);

/** The ends of the scales, by part. @type {(numbers: Record<ToyPart, number[][]>) => Record<ToyPart, number>} */
export const endsOf = (numbers) => {
  const ends = /** @type {Record<ToyPart, number>} */ ({ weights: scaleEnd(numbers.weights.flat()), sums: 1 });
  for (const parts of SCALES) {
    const end = roundEnd(Math.max(...parts.map((part) => size(numbers[part]))));
    for (const part of parts) ends[part] = end;
  }
  ends.exponentials = roundEnd(size(numbers.exponentials));
  return ends;
};

/** @type {(cell: ToyCell) => string} */
export const nameOf = ({ part, row, column }) => `${part}-${row}-${column}`;

/**
 * Cells, by their names. A cell of a step is read by keyboard: one of each table is in the tab order.
 * @type {(cell: ToyCell) => HTMLElement}
 */
const cellOf = ({ part, row, column }) =>
  element(
    "td",
    {
      "data-cell": nameOf({ part, row, column }),
      class: SIGNED.includes(part) ? "signed" : "barred",
      tabindex: row || column ? -1 : 0,
      "data-focus": nameOf({ part, row, column }),
    },
    element("span", { class: "number" }),
    SIGNED.includes(part) || part === "sums" ? null : element("i", { class: "bar" }),
  );

/** Put a number, its colour or its bar into a cell. @type {(td: HTMLElement, value: number, end: number, dark: boolean) => void} */
export const put = (td, value, end, dark) => {
  const number = td.querySelector(".number");
  if (number) number.textContent = Number.isFinite(value) ? fixed(value) : plain(value);
  if (!td.classList.contains("signed")) {
    const bar = td.querySelector("i");
    if (bar) bar.style.width = `${Math.min(100 * (value / end), 100)}%`;
    return;
  }
  td.classList.toggle("hidden-pair", value === -Infinity);
  const colour = value === -Infinity ? null : tintOf(value / end, dark);
  td.style.background = colour ? `rgb(${colour.join(" ")})` : "";
  if (colour) td.style.color = needsLight(colour) ? "#ffffff" : "#000000";
  else td.style.removeProperty("color");
};

/** Two decimals, so that the columns of a table line up. @type {(value: number) => string} */
const fixed = (value) => {
  if (Math.abs(value) >= 1e4) return plain(value);
  const text = (Math.abs(value) < 0.005 ? 0 : value).toFixed(2);
  return text.replace("-", "−");
};

/**
 * The legend of a scale: "−2 ▉▉▉ 2" for signed numbers, "0 … 50%" for bars.
 * @type {(part: ToyPart, end: number, dark: boolean) => HTMLElement}
 */
export const legend = (part, end, dark) => {
  const signed = SIGNED.includes(part);
  const text = part === "weights" ? `${Math.round(end * 100)}%` : plain(end);
  const steps = [0, 1, 2, 3, 4, 5, 6];
  /** @type {(step: number) => string} */
  const colour = (step) => (signed ? tint(step / 3 - 1, dark) : shade(step / 6, dark));
  const scale = signed
    ? steps.map((step) => element("i", { style: { background: colour(step) } }))
    : element("i", { class: "line" });
  return element("span", { class: "scale" }, signed ? `−${text}` : "0", element("span", { class: "swatches" }, scale), text);
};

/**
 * A table of a step: a row for each query, a column for each of `columns`.
 * @type {(of: {
 *   part: ToyPart, rows: string[], columns: Child[], name: string, kind?: string, more?: ToyPart,
 * }) => HTMLElement}
 */
export const matrixOf = ({ part, rows, columns, name, kind = "key", more }) =>
  element(
    "table",
    { class: "toy-table", role: "grid", "aria-label": name, "data-part": part },
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        element("td"),
        columns.map((column) => element("th", { scope: "col", class: kind }, column)),
        more ? element("th", { scope: "col" }, "Σ") : null,
      ),
    ),
    element(
      "tbody",
      {},
      rows.map((word, row) =>
        element(
          "tr",
          { "data-row": row },
          element("th", { scope: "row", class: "query" }, element("bdi", {}, named(word))),
          columns.map((_, column) => cellOf({ part, row, column })),
          more ? cellOf({ part: more, row, column: 0 }) : null,
        ),
      ),
    ),
  );
