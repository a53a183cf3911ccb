// The colour scale beside a picture.

import { shade, tint } from "./colour.js";
import { element } from "./dom.js";
import { figure } from "./labels.js";

/**
 * A scale from 0 to `end`, or if `signed`, from −end to end; `said` writes a number.
 * @type {(
 *   room: DrawingRoom, scale: { end: number, signed: boolean, digits?: number, said?: (value: number) => string },
 * ) => HTMLElement}
 */
export const scaleBar = ({ page, canvases }, { end, signed, digits = 3, said = (value) => figure(value, digits) }) => {
  const scale = canvases.add({}, (context, width, height) => {
    const { dark } = page;
    for (let x = 0; x < width; x++) {
      context.fillStyle = signed ? tint((2 * x) / (width - 1) - 1, dark) : shade(x / (width - 1), dark);
      context.fillRect(x, 0, 1, height);
    }
  });
  const least = signed ? said(-end) : "0";
  return element("span", { class: "scalebar", "aria-hidden": "true" }, least, scale, said(end));
};
