// The n × n weights beside the n states of an RNN, as squares whose areas are their numbers of cells.

import { element, shape } from "../drawing/dom.js";
import { roundEnd } from "../weights/quantity.js";
import { whole } from "./format.js";

const [SIDE, LEFT, TOP, GAP, NARROW] = [320, 8, 26, 30, 150];

/**
 * The picture. `before` is another number of tokens, whose square is drawn in outline; null for none.
 * @type {(page: Page, n: number, before: number | null) => HTMLElement}
 */
export const squares = (page, n, before) => {
  const frame = roundEnd(n);
  /** @type {(cells: number) => number} The side of a square of so many cells. */
  const side = (cells) => (SIDE * Math.sqrt(cells)) / frame;
  /** @type {(x: number, of: number, kind: string) => SVGElement} */
  const square = (x, of, kind) => shape("rect", { x, y: TOP + SIDE - of, width: of, height: of, class: kind });
  /** @type {(x: number, y: number, text: string, kind: string, anchor?: string) => SVGElement} */
  const label = (x, y, text, kind, anchor = "start") => shape("text", { x, y, class: kind, "text-anchor": anchor }, text);
  const right = LEFT + SIDE + GAP;
  const values = { n: whole(page, n), cells: whole(page, n * n) };
  const ghost = before && before < n ? side(before * before) : 0;
  return element(
    "figure",
    { class: "squares" },
    shape(
      "svg",
      {
        viewBox: `0 0 ${right + NARROW} ${TOP + SIDE + 46}`, role: "img",
        "aria-label": page.say("cost.squares", values), class: "painted",
      },
      shape("rect", { x: LEFT, y: TOP, width: SIDE, height: SIDE, class: "frame" }),
      label(LEFT, TOP - 8, page.say("cost.frame", { n: whole(page, frame) }), "tick"),
      square(LEFT, side(n * n), "of-attention"),
      ghost ? square(LEFT, ghost, "ghost") : null,
      square(right, side(n), "of-recurrent"),
      label(LEFT, TOP + SIDE + 20, page.say("cost.attention"), "name of-attention"),
      label(LEFT, TOP + SIDE + 38, page.say("cost.cells", { cells: values.cells }), "tick"),
      label(right, TOP + SIDE + 20, "RNN", "name of-recurrent"),
      label(right, TOP + SIDE + 38, page.say("cost.states", { cells: values.n }), "tick"),
      side(n) < 1 ? label(right, TOP + SIDE - 8, page.say("cost.small"), "tick") : null,
    ),
    element("figcaption", { class: "quiet" }, page.say("cost.area"), ghost ? ` ${page.say("cost.ghost", { n: whole(page, before ?? 0) })}` : ""),
  );
};
