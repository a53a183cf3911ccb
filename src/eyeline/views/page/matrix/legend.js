// The legend of a matrix: the scale of its colours, and the reason for it.

import { shade } from "../drawing/colour.js";
import { element } from "../drawing/dom.js";

const APART = 10; // pixels between two marks

/** A part of 1 in percent, in two digits: "17%", "0.43%". @type {(part: number) => string} */
export const marked = (part) => {
  const digits = Number((100 * part).toPrecision(2));
  return `${digits >= 1e-4 || digits === 0 ? digits : digits.toExponential().replace("-", "−")}%`;
};

/** @typedef {{ place: number, text: string, align: "start" | "middle" | "end" }} Mark */

/**
 * The marks of a colour map's legend that fit beside each other in a width: always the first and the last, which has a
 * sign if some weights exceed it. `widthOf` measures a text.
 * @type {(colourMap: ColourMap, width: number, widthOf: (text: string) => number) => Mark[]}
 */
export const legendMarks = (colourMap, width, widthOf) => {
  const marks = colourMap.marks;
  const { kind } = colourMap.scale;
  const all = marks.map(([place, weight], at) => {
    const sign = at === marks.length - 1 && colourMap.exceeded ? "≥ " : at === 0 && kind === "log" ? "≤ " : "";
    /** @type {Mark["align"]} */
    const align = at === marks.length - 1 ? "end" : at === 0 ? "start" : "middle";
    return { place, text: `${sign}${marked(weight)}`, align };
  });
  /** @type {(mark: Mark) => [left: number, right: number]} */
  const sides = ({ place, text, align }) => {
    const [wide, x] = [widthOf(text), place * width];
    const left = align === "end" ? x - wide : align === "start" ? x : x - wide / 2;
    return [left, left + wide];
  };
  const last = all[all.length - 1];
  let end = -Infinity;
  return all.filter((mark) => {
    const [left, right] = sides(mark);
    if (mark !== last && (left < end + APART || (mark !== all[0] && right > sides(last)[0] - APART))) return false;
    end = right;
    return true;
  });
};

/** The colours as stops of a gradient. @type {(dark: boolean, count?: number) => [colour: string, place: number][]} */
export const stops = (dark, count = 16) =>
  Array.from({ length: count + 1 }, (_, at) => [shade(at / count, dark), at / count]);

/**
 * The title of the legend at a level; null for the preview.
 * @type {(page: Page, level: number | null, grey: boolean) => string}
 */
export const legendTitle = (page, level, grey) => {
  const { special, head } = page.state;
  const kind = head === "max" ? "max" : special === "grey" && grey ? "grey" : "rows";
  const quantity = page.say(special === "out" ? "matrix.shares" : `matrix.weights.${kind}`);
  if (level === null) return page.say("matrix.legend.coarse", { quantity });
  return level ? page.say("matrix.legend.mean", { quantity, count: 2 ** level }) : quantity;
};

/**
 * Which scale it is, and why: "Linear, 0 to 20%: the largest is 17%."
 * @type {(page: Page, colourMap: ColourMap) => string}
 */
export const scaleText = (page, { scale, clips }) => {
  const { kind, why, most, part } = scale;
  const [from, end] = [marked(scale.from), marked(scale.end)];
  if (kind === "rank") return page.say("matrix.scale.is.rank");
  const chosen = page.state.scale === "auto" ? ".auto" : "";
  if (kind === "log") return page.say(`matrix.scale.is.log${chosen}`, { from, end });
  const values = { end, most: marked(most), part: marked(part) };
  if (why === "few") return page.say("matrix.scale.is.few", values);
  return page.say(`matrix.scale.is.linear${clips ? ".others" : ""}`, values);
};

/**
 * The ramp of a colour map with its marks.
 * @type {(colourMap: ColourMap, ruler: Ruler, width: number) => HTMLElement[]}
 */
export const ramp = (colourMap, ruler, width) => {
  const colours = stops(colourMap.dark).map(([colour, place]) => `${colour} ${100 * place}%`);
  /** @type {(text: string) => number} */
  const widthOf = (text) => ruler.width(text);
  return [
    element("div", {
      class: "ramp", style: { width: `${width}px`, background: `linear-gradient(to right, ${colours.join(", ")})` },
    }),
    element(
      "div",
      { class: "marks", style: { width: `${width}px` } },
      ...legendMarks(colourMap, width, widthOf).map(({ place, text, align }) =>
        element("span", { class: align, style: { left: `${100 * place}%` } }, text),
      ),
    ),
  ];
};
