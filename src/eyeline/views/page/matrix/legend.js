// The legend of a matrix.

import { shade } from "../drawing/colour.js";
import { element } from "../drawing/dom.js";
import { figure } from "../drawing/labels.js";

/** The text of a weight in a legend, in two or three digits. @type {(weight: number) => string} */
export const marked = (weight) => {
  if (weight === 0) return "0";
  if (weight >= 0.0995) return figure(weight, 2);
  if (weight >= 0.0001) return String(Number(weight.toPrecision(2)));
  const round = Number(weight.toPrecision(1)) === Number(weight.toPrecision(2));
  return weight.toExponential(round ? 0 : 1).replace("-", "−");
};

/**
 * The marks of a colour map's legend, the last with a sign if some weights exceed it.
 * @type {(colourMap: ColourMap) => { place: number, text: string }[]}
 */
export const legendMarks = (colourMap) => {
  const marks = colourMap.marks;
  const every = Math.ceil(marks.length / 5);
  return marks
    .filter((_, at) => at === marks.length - 1 || (at % every === 0 && (marks.length - 1 - at >= every || every === 1)))
    .map(([place, weight], at, all) => {
      const more = colourMap.clips || colourMap.most > colourMap.top * 1.0001;
      const beyond = at === all.length - 1 && colourMap.kind !== "rank" && more;
      const below = at === 0 && colourMap.kind === "log";
      return { place, text: `${beyond ? "≥ " : below ? "≤ " : ""}${marked(weight)}` };
    });
};

/** The colours as stops of a gradient. @type {(dark: boolean, count?: number) => [colour: string, place: number][]} */
export const stops = (dark, count = 16) =>
  Array.from({ length: count + 1 }, (_, at) => [shade(at / count, dark), at / count]);

/** The title of the legend at a level; null for the preview. @type {(page: Page, level: number | null) => string} */
export const legendTitle = (page, level) => {
  if (level === null) return page.say("matrix.legend.coarse");
  return level ? page.say("matrix.legend.mean", { count: 2 ** level }) : page.say("matrix.legend");
};

/**
 * The legend; there is no colour map before anything is drawn.
 * @type {(page: Page, colourMap: ColourMap | null, level: number | null, masked: boolean) => HTMLElement[]}
 */
export const legend = (page, colourMap, level, masked) => {
  const ranked = colourMap?.kind === "rank" ? ` · ${page.say("matrix.legend.rank")}` : "";
  const parts = [element("p", { class: "caption" }, legendTitle(page, level) + ranked)];
  if (colourMap) {
    const colours = stops(colourMap.dark).map(([colour, place]) => `${colour} ${100 * place}%`);
    parts.push(
      element("div", { class: "ramp", style: { background: `linear-gradient(to right, ${colours.join(", ")})` } }),
      element(
        "div",
        { class: "marks number" },
        ...legendMarks(colourMap).map(({ place, text }, at, all) => {
          const end = at === all.length - 1 ? "last" : at === 0 ? "first" : null;
          return element("span", { style: { left: `${100 * place}%` }, class: end }, text);
        }),
      ),
    );
  }
  if (masked) {
    const swatch = element("span", { class: "swatch", "aria-hidden": "true" });
    parts.push(element("p", { class: "veil" }, swatch, page.say("matrix.hidden")));
  }
  return parts;
};
