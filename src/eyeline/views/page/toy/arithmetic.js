// How a cell of the toy was made: the cells that it comes from, and the arithmetic written out.

import { figure } from "../drawing/labels.js";

/** A number as one writes it by hand: without needless zeros. @type {(value: number, digits?: number) => string} */
export const plain = (value, digits = 2) => {
  if (!Number.isFinite(value)) return figure(value);
  const text = Math.abs(value) >= 1e5 ? value.toExponential(1) : String(Number(value.toFixed(digits)) + 0);
  return text.replace("-", "−");
};

/** A number as a factor or a term: negative ones in brackets. @type {(value: number, digits?: number) => string} */
const part = (value, digits) => (value < 0 ? `(${plain(value, digits)})` : plain(value, digits));

/** @type {(one: number[], other: number[], digits?: number) => string} */
const products = (one, other, digits = 3) =>
  one.map((number, at) => `${part(number, digits)} · ${part(other[at], digits)}`).join(" + ");

/** Rounded, and marked as such where digits are lost. @type {(value: number, digits?: number) => string} */
const result = (value, digits = 2) => {
  const exact = !Number.isFinite(value) || Math.abs(value - Number(value.toFixed(digits))) < 1e-9;
  return `${exact ? "=" : "≈"} ${plain(value, digits)}`;
};

/**
 * The arithmetic of a cell: "1 · 1.5 + 1 · 0.5 = 2"; empty for a given number.
 * @type {(toy: Toy, steps: ToySteps, cell: ToyCell) => string}
 */
export const arithmetic = (toy, steps, { part: of, row: i, column: j }) => {
  const D = toy.q[0].length;
  const { scores, quotients, open, shifts, exponentials, sums, weights, output, root } = steps;
  switch (of) {
    case "scores":
      return `${products(toy.q[i], toy.k[j])} ${result(scores[i][j])}`;
    case "quotients":
      return toy.scaled
        ? `${part(scores[i][j])} ÷ √${D} = ${part(scores[i][j])} ÷ ${plain(root, 3)} ${result(quotients[i][j])}`
        : plain(scores[i][j]);
    case "open":
      return open[i][j] === -Infinity ? `${part(quotients[i][j])} → −∞` : plain(open[i][j]);
    case "exponentials": {
      const power = shifts[i] ? `(${plain(open[i][j])} − ${part(shifts[i])})` : part(open[i][j]);
      return `e^${power} ${result(exponentials[i][j])}`;
    }
    case "sums":
      return `${exponentials[i].map((one) => plain(one)).join(" + ")} ${result(sums[i])}`;
    case "weights":
      return sums[i] ? `${plain(exponentials[i][j])} ÷ ${plain(sums[i])} ${result(weights[i][j])}` : plain(0);
    case "output":
      return `${products(weights[i], toy.v.map((value) => value[j]), 2)} ${result(output[i][j])}`;
    default:
      return "";
  }
};

/** The cells that a cell was made of, by their part. @type {(toy: Toy, cell: ToyCell) => ToyCell[]} */
export const sources = ({ words, q }, { part: of, row, column }) => {
  /** @type {(name: ToyPart, count: number) => ToyCell[]} */
  const across = (name, count) => Array.from({ length: count }, (_, at) => ({ part: name, row, column: at }));
  /** @type {(name: ToyPart) => ToyCell[]} */
  const whole = (name) => [{ part: name, row, column }];
  const D = q[0].length;
  switch (of) {
    case "scores":
      return [...across("q", D), ...across("k", D).map((cell) => ({ ...cell, row: column }))];
    case "quotients":
      return whole("scores");
    case "open":
      return whole("quotients");
    case "exponentials":
      return whole("open");
    case "sums":
      return across("exponentials", words.length);
    case "weights":
      return [...whole("exponentials"), { part: "sums", row, column: 0 }];
    case "output":
      return [
        ...across("weights", words.length),
        ...words.map((_, at) => ({ part: /** @type {ToyPart} */ ("v"), row: at, column })),
      ];
    default:
      return [];
  }
};
