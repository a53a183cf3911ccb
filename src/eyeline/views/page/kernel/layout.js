// The layout of a workspace: where its parts begin. Their sizes are the same formulas that Python evaluates.

import { RECORDS } from "./records.js";

/** The numbers of a call, by name. @typedef {Record<string, number>} CallNumbers */

/** @type {Record<string, (one: number, other: number) => number>} */
const OPERATORS = {
  "+": (one, other) => one + other,
  "-": (one, other) => one - other,
  "*": (one, other) => one * other,
  "//": (one, other) => Math.floor(one / other),
  min: (one, other) => Math.min(one, other),
  max: (one, other) => Math.max(one, other),
};

/** The value of a formula. @type {(formula: Formula, numbers: CallNumbers) => number} */
export const evaluated = (formula, numbers) => {
  if (typeof formula === "number") return formula;
  if (typeof formula === "string") {
    const value = numbers[formula];
    if (value === undefined) throw new Error(`formula must be of a call's numbers, got ${formula}`);
    return value;
  }
  const [operator, ...operands] = formula;
  return operands.map((operand) => evaluated(operand, numbers)).reduce(OPERATORS[/** @type {string} */ (operator)]);
};

/** Bytes, or an address, in whole cache lines. @type {(bytes: number) => number} */
export const wholeLines = (bytes) => Math.ceil(bytes / RECORDS.sizes.LINE) * RECORDS.sizes.LINE;

/**
 * The offsets of parts that follow one another, as fields of the params; and the end of the last one.
 * @type {(under: string, parts: Record<string, number>, begin: number) => [fields: Record<string, number>, size: number]}
 */
const placed = (under, parts, begin) => {
  /** @type {Record<string, number>} */
  const fields = {};
  let at = wholeLines(begin);
  for (const name in parts) {
    fields[`${under}.${name}`] = at;
    at += wholeLines(parts[name]);
  }
  return [fields, at];
};

/**
 * The layout of a forward pass's workspace: the params' fields, and its bytes.
 * @type {(numbers: CallNumbers) => { fields: Record<string, number>, size: number }}
 */
export const layoutOf = (given) => {
  const { records, forward } = RECORDS;
  const numbers = { ...given };
  for (const name in forward.derived) numbers[name] = evaluated(forward.derived[name], numbers);
  /** @type {(parts: Record<string, Formula>) => Record<string, number>} */
  const sizes = (parts) => Object.fromEntries(Object.entries(parts).map(([name, size]) => [name, evaluated(size, numbers)]));
  const [panel, one] = placed("panel", sizes(forward.panel), records.PANEL.size);
  const shared = { panels: numbers.panels * one, ...sizes(forward.shared) };
  const [workspace, size] = placed("workspace", shared, records.WORKSPACE.size);
  return { fields: { ...panel, "panel.size": one, ...workspace }, size };
};
