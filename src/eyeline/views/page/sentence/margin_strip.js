// The margin of a long text: a mark at each word's height, as long as its number, over the whole text.

import { contextOf, element } from "../drawing/dom.js";
import { percent } from "../drawing/labels.js";

const WIDTH = 72; // pixels
const THIN = 1.5; // pixels, the least height of a mark

/** What is drawn: a number for each unit, the scale's end, the visible units, and the selected one with its colour. */
/**
 * @typedef {{
 *   numbers: Float64Array | null, end: number, count: number, visible: UnitRange, asked: number | null, mark: string,
 * }} Margin
 */

/** The strip; `go` is called with the unit that was clicked. @param {(unit: number) => void} go */
export const createMarginStrip = (go) => {
  const canvas = element("canvas", {});
  const scale = element("span", { class: "axis" });
  const whole = element("div", { class: "margin", "aria-hidden": "true" }, scale, canvas);
  let count = 0;
  canvas.addEventListener("click", (event) => go(Math.floor((event.offsetY / canvas.clientHeight) * count)));

  /** @type {(margin: Margin) => void} */
  const draw = ({ numbers, end, count: units, visible: [first, last], asked, mark }) => {
    count = units;
    scale.replaceChildren(element("span", {}, "0"), element("span", {}, percent(end)));
    const density = Math.min(devicePixelRatio, 2);
    const height = canvas.clientHeight || 1;
    [canvas.width, canvas.height] = [WIDTH * density, Math.round(height * density)];
    const [pen, style] = [contextOf(canvas), getComputedStyle(canvas)];
    /** @type {(name: string) => string} */
    const colour = (name) => style.getPropertyValue(name);
    pen.scale(density, density);
    /** @type {(unit: number) => number} */
    const place = (unit) => (unit * height) / units;
    pen.fillStyle = colour("--raised");
    pen.fillRect(0, 0, WIDTH, height);
    pen.fillStyle = colour("--accent-soft");
    pen.fillRect(0, place(first), WIDTH, Math.max(place(last) - place(first), 3));
    pen.fillStyle = colour("--line");
    for (const at of [0, WIDTH / 2 - 0.5, WIDTH - 1]) pen.fillRect(at, 0, 1, height);
    pen.fillStyle = colour("--weight");
    const thick = Math.max(height / units, THIN);
    numbers?.forEach((number, unit) => {
      if (number > 0) pen.fillRect(0, place(unit), (WIDTH * number) / end, thick);
    });
    if (asked === null) return;
    pen.fillStyle = colour(mark);
    pen.fillRect(0, place(asked + 0.5) - 1.5, WIDTH, 3);
  };
  return { element: whole, draw };
};
