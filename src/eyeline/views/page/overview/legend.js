// The legend of the overview: the scale of its pictures' colours, the grey column, and hidden pairs.

import { shade } from "../drawing/colour.js";
import { contextOf, element } from "../drawing/dom.js";
import { percent } from "../drawing/labels.js";
import { paintRamp } from "../drawing/scale_bar.js";

const RAMP = [120, 10]; // pixels

/** The colours from zero to the end of the scale. @type {(dark: boolean) => HTMLCanvasElement} */
const ramp = (dark) => {
  const [width, height] = RAMP;
  const canvas = element("canvas", { width, height, class: "painted", "aria-hidden": "true" });
  paintRamp(contextOf(canvas), width, height, (part) => shade(part, dark));
  return canvas;
};

/** @type {(kind: string, text: string) => HTMLElement} */
const swatch = (kind, text) =>
  element("span", { class: kind }, element("span", { class: "swatch painted", "aria-hidden": "true" }), text);

/**
 * The parts of the legend: the scale of all pictures or of each, and what else is drawn.
 * @type {(page: Page, thumbnails: Thumbnails, below: string | null) => HTMLElement[]}
 */
export const legendParts = (page, thumbnails, below) => {
  const shared = page.state.thumbnails === "shared";
  const quantity = page.say(thumbnails.pairs && page.state.special === "out" ? "overview.shares" : "overview.weights");
  const end = shared ? percent(thumbnails.end) : page.say("overview.scale.most");
  const why = [
    page.say(shared ? "overview.scale.is.shared" : "overview.scale.is.own"),
    ...(thumbnails.pairs ? [] : [page.say("overview.pooled")]),
  ];
  const causal = page.trace.layers.some(({ mask }) => mask.kind === "causal");
  return [
    element("span", { class: "scale" }, quantity, " 0 ", ramp(page.dark), ` ${end}`),
    ...(thumbnails.greyed ? [swatch("grey", page.say("overview.grey"))] : []),
    ...(causal ? [swatch("veil", page.say("overview.hidden"))] : []),
    element("span", { class: "why" }, why.join(" ")),
    ...(below ? [element("span", { class: "why" }, below)] : []),
  ];
};
