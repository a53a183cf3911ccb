// The tokens of an example as elements: the query marked, its keys shaded by their weights, special ones grey.

import { lightOn, shade } from "../../drawing/colour.js";
import { element } from "../../drawing/dom.js";
import { named, onScale, printable } from "../../drawing/labels.js";
import { queryOf } from "./excerpt.js";

const FAINTEST = 0.01; // of the scale's end: a fainter fill can't be told from none

/**
 * A line of an example's parts, and the element of each drawn token by its place. `end` is the end of the weights'
 * scale.
 * @type {(page: SurveyPage, example: LookExample, parts: LookPart[], end: number) => {
 *   line: HTMLElement, spans: Map<number, HTMLElement>,
 * }}
 */
export const tokenLine = (page, example, parts, end) => {
  const { tokens, weights, special } = example;
  const query = queryOf(example);
  /** @type {Map<number, HTMLElement>} */
  const spans = new Map();
  const children = parts.flatMap((part) => {
    if (!("at" in part)) return [element("span", { class: "gap" }, " … ")];
    const { at } = part;
    const [, space, own] = /** @type {RegExpExecArray} */ (/^(\s*)(.*)$/s.exec(tokens[at]));
    const share = weights[at] / end;
    const seen = share >= FAINTEST;
    const classes = ["look-token", special[at] && "special", at === query && "query", seen && "key painted"];
    const style = !seen ? {}
      : special[at] ? { background: `color-mix(in srgb, var(--aside) ${Math.round(100 * share)}%, transparent)` }
      : { background: shade(share, page.dark), color: lightOn(share, page.dark) ? "#fff" : "#000" };
    const title = weights[at] > 0 ? `${named(tokens[at])} ${onScale(weights[at], end)}` : null;
    const made = element(special[at] ? "bdi" : "span", { class: classes.filter(Boolean).join(" "), title, style },
      printable(own) || (own === "" && space ? "␣" : own));
    spans.set(at, made);
    return [space && (own || special[at]) ? " " : "", made];
  });
  return { line: element("div", { class: "look-line", dir: "auto" }, ...children), spans };
};
