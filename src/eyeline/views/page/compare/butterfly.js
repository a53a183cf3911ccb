// The butterfly chart of a comparison: a row per key, with one side's bar to the left and the other's to the right, on
// one scale; and their difference, on its own.

import { element } from "../drawing/dom.js";
import { labelled, percent } from "../drawing/labels.js";
import { scaleEnd } from "../weights/quantity.js";
import { asideName } from "./names.js";
import { changeOf, points } from "./summary.js";

const ROWS = 40; // the number of word pairs shown for long texts

/** The shown pairs: all, or those with the largest numbers. @type {(found: Comparison) => Pair[]} */
const shownOf = ({ pairs, sides: [first, second] }) => {
  if (pairs.length <= ROWS) return pairs;
  /** @type {(pair: Pair) => number} */
  const weight = ([a, b]) => Math.max(a ? first.numbers[a.index] : 0, b ? second.numbers[b.index] : 0);
  const kept = new Set([...pairs].sort((a, b) => weight(b) - weight(a)).slice(0, ROWS));
  return pairs.filter((pair) => kept.has(pair));
};

/**
 * A number, with all of its digits on hover and when copied.
 * @type {(value: number, text: string) => HTMLElement}
 */
const datum = (value, text) => {
  const title = `${Number((100 * value).toPrecision(7))}%`;
  return element("data", { class: "number", value: String(value), title }, text);
};

/** A number as a bar with its text. @type {(value: number, end: number) => HTMLElement} */
const bar = (value, end) => {
  const width = `calc((100% - var(--figures)) * ${value / end})`;
  return element("span", { class: "run" }, element("i", { class: "reach painted", style: { width } }), datum(value, percent(value)));
};

/**
 * The number of a side's unit.
 * @type {(page: Page, side: ComparedSide, unit: Unit | null, end: number) => HTMLElement | null}
 */
const looks = (page, side, unit, end) => {
  if (!unit) return null;
  const value = side.numbers[unit.index];
  if (value === 0 && !side.attention.allowed(side.unit.index, unit.index)) {
    const hidden = element("data", { class: "quiet", value: "0" }, page.say("compare.hidden"));
    return element("span", { class: "run" }, hidden);
  }
  return bar(value, end);
};

/** @type {(value: number, end: number) => HTMLElement[]} */
const difference = (value, end) => {
  const width = `${(50 * Math.abs(value)) / end}%`;
  const sway = element("i", { class: value < 0 ? "less painted" : "more painted", style: { width } });
  return [datum(value, points(value)), element("span", { class: "sway" }, element("i", { class: "axis" }), sway)];
};

/**
 * The label of a key; with its position in long texts, where words repeat.
 * @type {(unit: Unit | null, placed: boolean) => HTMLElement}
 */
const named = (unit, placed) => {
  if (!unit) return element("span", { class: "quiet" }, "–");
  const place = placed ? [element("span", { class: "place" }, unit.index + 1), " "] : null;
  return element("span", {}, place, element("bdi", { class: "word key" }, labelled(unit)));
};

/** The ends of a scale, below a column's name. @type {(kind: string, ...ends: string[]) => HTMLElement} */
const axis = (kind, ...ends) =>
  element("span", { class: `axis-ends ${kind}`, "aria-hidden": "true" }, ends.map((end) => element("span", {}, end)));

/** The table. @type {(page: Page, found: Comparison) => HTMLElement} */
export const butterfly = (page, found) => {
  const { sides: [first, second], names } = found;
  const shown = shownOf(found);
  const rest = found.pairs.length - shown.length;
  const grey = first.aside > 0 || second.aside > 0;
  const asides = grey ? [first.aside, second.aside] : [];
  const end = scaleEnd([...first.numbers, ...second.numbers, ...asides].filter((number) => !Number.isNaN(number)));
  const changes = shown.map((pair) => changeOf(found, pair));
  const moved = second.aside - first.aside;
  const far = scaleEnd([...changes.map((change) => Math.abs(change ?? 0)), ...(grey ? [Math.abs(moved)] : [])]);
  /** @type {(pair: Pair, at: number) => HTMLElement} */
  const row = ([a, b, same], at) => {
    const [left, right] = [named(a, rest > 0), named(b, rest > 0)];
    const change = changes[at];
    return element(
      "tr",
      {},
      element("td", { class: "one" }, looks(page, first, a, end)),
      element("th", { scope: "row" }, same ? left : element("span", { class: "two-words" }, left, right)),
      element("td", { class: "two" }, looks(page, second, b, end)),
      element("td", { class: "difference" }, change === null ? null : difference(change, far)),
    );
  };
  const asideRow = () =>
    element(
      "tr",
      { class: "aside" },
      element("td", { class: "one" }, bar(first.aside, end)),
      element("th", { scope: "row" }, asideName(page, found.sides)),
      element("td", { class: "two" }, bar(second.aside, end)),
      element("td", { class: "difference" }, difference(moved, far)),
    );
  /** @type {(kind: string, ...content: Child[]) => HTMLElement} */
  const column = (kind, ...content) => element("th", { scope: "col", class: kind }, content);
  const out = page.state.special === "out" && found.sides.some(({ shown: drawn, row: all }) => drawn.length < all.length);
  const quantity = out ? "compare.quantity.shares" : "compare.quantity.weights";
  const whole = percent(end);
  const span = points(far, 0);
  return element(
    "table",
    { class: "butterfly" },
    element("caption", { class: "quiet" }, page.say(quantity, { most: whole, far: points(far, 0).slice(1) })),
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        column("one", element("bdi", {}, names[0]), axis("to-left", whole, "0")),
        column("", page.say("compare.looked.at")),
        column("two", element("bdi", {}, names[1]), axis("to-right", "0", whole)),
        column("difference", page.say("compare.difference"), axis("both", `−${span.slice(1)}`, "0", span)),
      ),
    ),
    element("tbody", {}, shown.map(row), grey ? asideRow() : null),
    rest
      ? element("tfoot", {}, element("tr", {}, element("td", { colspan: 4, class: "quiet" }, page.say("compare.more", { count: rest }))))
      : null,
  );
};
