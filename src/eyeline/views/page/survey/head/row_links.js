// The links of an example in one line: from each key to the query, in the room above.

import { shape } from "../../drawing/dom.js";
import { arc, ribbon } from "../../sentence/ribbons.js";
import { keysOf, queryOf } from "./excerpt.js";

const WIDEST = 14; // pixels of a link at the scale's end

/**
 * Draw the links of a row into its layer, whose top is the row's: `height` is the room above the tokens.
 * @type {(layer: SVGElement, example: LookExample, spans: Map<number, HTMLElement>, end: number, height: number) => void}
 */
export const drawLinks = (layer, example, spans, end, height) => {
  const origin = layer.getBoundingClientRect();
  /** @type {(span: HTMLElement) => { middle: number, width: number }} */
  const boxOf = (span) => {
    const { left, right } = span.getBoundingClientRect();
    return { middle: (left + right) / 2 - origin.left, width: right - left };
  };
  const looker = spans.get(queryOf(example));
  if (!looker) return;
  const to = boxOf(looker);
  const drawn = keysOf(example).filter((at) => spans.has(at)).map((at) => {
    const from = boxOf(/** @type {HTMLElement} */ (spans.get(at)));
    const itself = at === queryOf(example);
    const aside = itself ? Math.min(0.25 * from.width, 10) : 0;
    const away = Math.abs(to.middle - from.middle) / Math.max(origin.width, 1);
    const high = (height - 6) * (itself ? 0.4 : 0.4 + 0.6 * Math.sqrt(Math.min(away, 1)));
    const points = arc([from.middle - aside, height], [to.middle + aside, height], high);
    const width = (WIDEST * example.weights[at]) / end;
    return shape("path", { d: ribbon(points, width), class: example.special[at] ? "aside" : null });
  });
  layer.replaceChildren(...drawn);
};
