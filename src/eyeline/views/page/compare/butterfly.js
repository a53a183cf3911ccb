// The butterfly chart of a comparison: a row per key, with one side's bar to the left and the other's to the right.

import { element } from "../drawing/dom.js";
import { labelled, percent } from "../drawing/labels.js";
import { changeOf, points } from "./summary.js";
import { most } from "../drawing/vector_strips.js";

const ROWS = 40; // the number of word pairs shown for long texts

/** The shown pairs: all, or those with the largest shares. @type {(found: Comparison) => Pair[]} */
const shownOf = ({ pairs, sides: [first, second] }) => {
  if (pairs.length <= ROWS) return pairs;
  /** @type {(pair: Pair) => number} */
  const weight = ([a, b]) => Math.max(a ? first.share[a.index] : 0, b ? second.share[b.index] : 0);
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

/**
 * The share of a side's unit, as a bar and a number.
 * @type {(page: Page, side: ComparedSide, unit: Unit | null, ceiling: number) => HTMLElement | null}
 */
const looks = (page, side, unit, ceiling) => {
  if (!unit) return null;
  const value = side.share[unit.index];
  if (value === 0 && !side.attention.allowed(side.unit.index, unit.index)) {
    const hidden = element("data", { class: "quiet", value: "0" }, page.say("compare.hidden"));
    return element("span", { class: "run" }, hidden);
  }
  const width = `calc((100% - var(--figures)) * ${value / ceiling})`;
  const bar = element("i", { class: "reach", style: { width } });
  return element("span", { class: "run" }, bar, datum(value, percent(value)));
};

/** @type {(value: number, span: number) => HTMLElement[]} */
const difference = (value, span) => {
  const width = `${(50 * Math.abs(value)) / span}%`;
  const bar = element("i", { class: value < 0 ? "less" : "more", style: { width } });
  return [datum(value, points(value)), element("span", { class: "sway" }, element("i", { class: "axis" }), bar)];
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

/** The table. @type {(page: Page, found: Comparison) => HTMLElement} */
export const butterfly = (page, found) => {
  const [first, second] = found.sides;
  const shown = shownOf(found);
  const rest = found.pairs.length - shown.length;
  const ceiling = most(first.share, second.share) || 1;
  const span = most(shown.map((pair) => changeOf(found, pair) ?? 0)) || 1;
  /** @type {(pair: Pair) => HTMLElement} */
  const row = (pair) => {
    const [a, b, same] = pair;
    const [left, right] = [named(a, rest > 0), named(b, rest > 0)];
    const change = changeOf(found, pair);
    return element(
      "tr",
      {},
      element("td", { class: "one" }, looks(page, first, a, ceiling)),
      element("th", { scope: "row" }, same ? left : element("span", { class: "two-words" }, left, right)),
      element("td", { class: "two" }, looks(page, second, b, ceiling)),
      element("td", { class: "difference" }, change === null ? null : difference(change, span)),
    );
  };
  const more = rest ? `${page.say("compare.more", { count: rest })} ` : "";
  /** @type {(key: string, kind?: string) => HTMLElement} */
  const column = (key, kind) => element("th", { scope: "col", class: kind }, page.say(key));
  const aside = page.say("compare.aside", { first: percent(first.kept), second: percent(second.kept) });
  return element(
    "table",
    { class: "butterfly" },
    element("caption", { class: "unseen" }, page.say("compare.shares")),
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        column("compare.first", "one"),
        column("compare.looked.at"),
        column("compare.second", "two"),
        column("compare.difference", "difference"),
      ),
    ),
    element("tbody", {}, shown.map(row)),
    element(
      "tfoot",
      {},
      element(
        "tr",
        {},
        element("td", { colspan: 4, class: "quiet" }, more, aside),
      ),
    ),
  );
};
