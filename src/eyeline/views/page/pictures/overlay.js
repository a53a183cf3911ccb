// The colour of a number over an image: the more, the less of the image is seen through it.

import { ramp } from "../drawing/colour.js";

const STRONG = 0.85; // the opacity at the end of the scale; 0 at its beginning

/** The CSS colour of a number as a share of its scale's end. @type {(depth: number, dark: boolean) => string} */
export const overlaid = (depth, dark) =>
  `rgb(${ramp(dark)[Math.round(Math.min(depth, 1) * 255)].join(" ")} / ${(STRONG * depth).toFixed(3)})`;
