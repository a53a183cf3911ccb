// The colour scale beside a picture, and the ramp of colours that scales are drawn with.

import { shade, tint } from "./colour.js";
import { element } from "./dom.js";
import { figure } from "./labels.js";

/**
 * Paint a ramp: `colour` gives the colour of a part of the way, 0 to 1.
 * @type {(context: CanvasRenderingContext2D, width: number, height: number, colour: (part: number) => string) => void}
 */
export const paintRamp = (context, width, height, colour) => {
  for (let x = 0; x < width; x++) {
    context.fillStyle = colour(x / (width - 1));
    context.fillRect(x, 0, 1, height);
  }
};

/**
 * A scale from 0 to `end`, or if `signed`, from −end to end; `said` writes a number.
 * @type {(
 *   room: DrawingRoom, scale: { end: number, signed: boolean, digits?: number, said?: (value: number) => string },
 * ) => HTMLElement}
 */
export const scaleBar = ({ page, canvases }, { end, signed, digits = 3, said = (value) => figure(value, digits) }) => {
  const scale = canvases.add({}, (context, width, height) => {
    const { dark } = page;
    paintRamp(context, width, height, (part) => (signed ? tint(2 * part - 1, dark) : shade(part, dark)));
  });
  const least = signed ? said(-end) : "0";
  return element("span", { class: "scalebar", "aria-hidden": "true" }, least, scale, said(end));
};
