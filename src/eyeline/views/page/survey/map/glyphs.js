// A sign for each kind of head, drawn as lines in a square of 16 × 16; the terminal's summary has much the same.

import { shape } from "../../drawing/dom.js";

/** The lines of each sign; "mixed" has none. @type {Record<KindName, string>} */
export const GLYPHS = {
  previous: "M13 8H3M7 4L3 8L7 12", // an arrow to the left
  next: "M3 8H13M9 4L13 8L9 12", // to the right
  same: "M3.5 6H12.5M3.5 10.5H12.5", // equal
  punctuation: "M8 4.2A0.9 0.9 0 1 0 8.01 4.2ZM8.6 10.4V11Q8.6 13 6.8 14", // a semicolon
  separator: "M5.5 3V13M10.5 3V13", // two bars
  sink: "M3 3V13M14 8H6M9.5 4.5L6 8L9.5 11.5", // an arrow to a bar at the beginning
  broad: "M3 6.5Q5.5 3.5 8 6.5T13 6.5M3 11.5Q5.5 8.5 8 11.5T13 11.5", // two waves
  induction: "M3 12V7A3.5 3.5 0 0 1 10 7V12M7 9.5L10 12.5L13 9.5", // over to what came next
  mixed: "",
};

/** The sign as an element. @type {(kind: KindName) => SVGElement | null} */
export const glyph = (kind) =>
  GLYPHS[kind]
    ? shape("svg", { class: "kind-sign", viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true" },
        shape("path", {
          d: GLYPHS[kind], fill: "none", stroke: "currentColor", "stroke-width": 1.8, "stroke-linecap": "round",
          "stroke-linejoin": "round",
        }))
    : null;
