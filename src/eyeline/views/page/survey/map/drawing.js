// Draw a map with a pen: a cell for each head, the names of layers and heads, and what each layer has altogether.

import { ramp, needsLight, shade, tint, tintOf } from "../../drawing/colour.js";
import { numberSaid, signedSaid } from "../measures.js";
import { GLYPHS } from "./glyphs.js";
import { cornerOf } from "./layout.js";

const SMALL = 11; // pixels of a cell's letters
const SIGN = 14;
const LARGEST = 20; // pixels of a sign that is alone in its cell
const LETTER = 6.1; // pixels of such a letter, about
const NONE = "M8 8H8.01"; // the sign of no kind beside another's: a dot

/** The colour of a number on a scale. @type {(shown: { end: number, signed: boolean }, value: number, dark: boolean) => string} */
export const colourOf = ({ end, signed }, value, dark) => (signed ? tint(value / end, dark) : shade(value / end, dark));

/**
 * The sign of a head's first kind or of the chosen one, its name, and its number in its cell, as much of them as there is room for; and where
 * heads aren't in their places, which head it is.
 * @type {(pen: MapPen, shown: MapShown, layout: MapLayout, at: number, corner: [number, number], ink: string, faded: boolean) => void}
 */
const fill = (pen, { measure, values, end, signed, kinds, kind, heads, named }, layout, at, [x, y], ink, faded) => {
  const { width, height, rows, columns } = layout;
  const [own, other] = kinds[at];
  const first = kind && kinds[at].includes(kind) ? kind : own;
  const sign = GLYPHS[first];
  const text = signed ? signedSaid(measure, values[at], end) : numberSaid(measure, values[at], end);
  const wide = width >= (signed ? 62 : 54);
  if (height >= 38 && width >= 40) {
    if (other) {
      // The kind differs: both signs.
      pen.lines(GLYPHS[own] || NONE, x + 6, y + 6, SIGN, ink, faded);
      pen.text("/", x + 22, y + 17, { size: SMALL, fill: ink, faded });
      pen.lines(GLYPHS[other] || NONE, x + 28, y + 6, SIGN, ink, faded);
    } else if (sign) {
      pen.lines(sign, x + 6, y + 6, SIGN, ink, faded);
      const name = named(first);
      if (name.length * LETTER <= width - 30) pen.text(name, x + 24, y + 17, { size: SMALL, fill: ink, faded });
    }
    pen.text(text, x + width - 8, y + height - 10, { size: 12, fill: ink, anchor: "end", faded });
    const place = columns ? "" : `${rows ? "" : `L${Math.floor(at / heads)}`}H${at % heads}`;
    if (place && width >= 76) pen.text(place, x + 6, y + height - 10, { size: SMALL, fill: ink, faded });
  } else if (wide && height >= 16) {
    if (sign) pen.lines(sign, x + 4, y + (height - 2 - 12) / 2, 12, ink, faded);
    pen.text(text, x + width - 7, y + height / 2 + 3, { size: SMALL, fill: ink, anchor: "end", faded });
  } else if (sign && Math.min(width, height) >= 12) {
    const size = Math.min(width - 3, height - 3, LARGEST);
    pen.lines(sign, x + (width - 1 - size) / 2, y + (height - 1 - size) / 2, size, ink, faded);
  }
};

/** Hatch a cell without a number. @type {(pen: MapPen, x: number, y: number, width: number, height: number, paint: MapPaint) => void} */
const hatched = (pen, x, y, width, height, { colour }) => {
  pen.box(x, y, width, height, colour("--hidden"));
  pen.lines("M2 14L14 2", x + (width - 10) / 2, y + (height - 10) / 2, 10, colour("--hatch"));
};

/** Draw it. @type {(pen: MapPen, shown: MapShown, layout: MapLayout, paint: MapPaint) => void} */
export const drawMap = (pen, shown, layout, paint) => {
  const { values, kinds, kind, end, signed, heads, sums } = shown;
  const { width, height, gap, left, top, across, down, side } = layout;
  const [quiet, text] = [paint.colour("--quiet"), paint.colour("--text")];
  const every = Math.ceil(26 / width); // names of heads that don't run into one another
  if (layout.columns) {
    for (let head = 0; head < across; head += every) {
      pen.text(`H${head}`, left + (head + 0.5) * width - gap / 2, top - 6, { size: SMALL, fill: quiet, anchor: "middle" });
    }
  }
  const skipped = Math.ceil(13 / height);
  for (let layer = 0; layout.rows && layer < down; layer += skipped) {
    pen.text(`L${layer}`, left - 8, top + (layer + 0.5) * height + 3, { size: SMALL, fill: quiet, anchor: "end" });
  }
  layout.heads.forEach((at, cell) => {
    const [x, y] = cornerOf(layout, cell);
    const [wide, high] = [width - gap, height - gap];
    const faded = kind !== null && !kinds[at].includes(kind);
    if (Number.isNaN(values[at])) {
      hatched(pen, x, y, wide, high, paint);
      return;
    }
    const share = values[at] / end;
    pen.box(x, y, wide, high, colourOf(shown, values[at], paint.dark), faded);
    const tone = signed ? tintOf(share, paint.dark) : ramp(paint.dark)[Math.min(Math.max(Math.round(share * 255), 0), 255)];
    // On a faded cell, which is nearly the ground, text has the ground's ink.
    const ink = faded ? text : needsLight(tone) ? "#ffffff" : "#14171c";
    if (!faded && Math.abs(share) < 0.06) pen.frame(x, y, wide, high, paint.colour("--line"));
    fill(pen, shown, layout, at, [x, y], ink, faded);
  });
  if (!side || !layout.rows) return;
  const [start, long] = [left + heads * width + 12, side - 86];
  if (top) pen.text(sums.title, start, top - 6, { size: SMALL, fill: quiet });
  sums.parts.forEach((part, layer) => {
    const [y, high] = [top + layer * height, height - gap];
    const thick = Math.min(high, 12);
    pen.box(start, y + (high - thick) / 2, Math.max(long * part, part > 0 ? 1 : 0), thick, paint.colour("--aside"));
    if (layer % skipped === 0) {
      pen.text(sums.texts[layer], start + long * part + 6, y + high / 2 + 4, { size: SMALL, fill: quiet });
    }
  });
};
