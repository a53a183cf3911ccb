// The scale that fills, links, bars and numbers of the view share: from 0 to its end, with the quantity's name.

import { contextOf, element } from "../drawing/dom.js";
import { percent } from "../drawing/labels.js";
import { shade } from "../drawing/colour.js";
import { paintRamp } from "../drawing/scale_bar.js";
import { overlaid } from "../pictures/overlay.js";

const [WIDTH, HEIGHT] = [160, 10]; // pixels

/** The legend. @param {Page} page */
export const createScaleLegend = (page) => {
  const canvas = element("canvas", { width: 2 * WIDTH, height: 2 * HEIGHT });
  const [name, end] = [element("span", {}), element("span", {})];
  const whole = element("p", { class: "legend quiet" }, name, element("span", {}, "0"), canvas, end);
  /** @type {(quantity: string, most: number) => void} */
  const show = (quantity, most) => {
    name.textContent = quantity;
    end.textContent = percent(most);
    const pen = contextOf(canvas);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    const colour = page.trace.image ? overlaid : shade;
    paintRamp(pen, canvas.width, canvas.height, (part) => colour(part, page.dark));
  };
  return { element: whole, show };
};
