// Curves over the number of tokens, both axes logarithmic: attention's is twice as steep as the RNN's.

import { element, shape } from "../drawing/dom.js";
import { LEAST, MOST } from "./formula.js";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [430, 196, 62, 8, 12, 24];
const POINTS = 60;
const NAMED = 60000; // the number of tokens beside which a curve has its name

/** The tokens at which curves are drawn, evenly in logarithms. */
const PLACES = Array.from({ length: POINTS + 1 }, (_, at) => LEAST * (MOST / LEAST) ** (at / POINTS));

/**
 * A picture of curves with a mark at n. `lines` are horizontal lines with names.
 * @type {(of: {
 *   title: string, curves: CostCurve[], n: number, ticks: [value: number, name: string][],
 *   tokens: (n: number) => string, limits?: [value: number, name: string][],
 * }) => HTMLElement}
 */
export const curves = ({ title, curves: all, n, ticks, tokens, limits = [] }) => {
  const values = [...all.flatMap(({ value }) => [value(LEAST), value(MOST)]), ...limits.map(([value]) => value)];
  const [low, high] = [Math.log10(Math.min(...values)), Math.log10(Math.max(...values))];
  /** @type {(tokens: number) => number} */
  const x = (of) => LEFT + ((WIDTH - LEFT - RIGHT) * Math.log(of / LEAST)) / Math.log(MOST / LEAST);
  /** @type {(value: number) => number} */
  const y = (value) => TOP + ((HEIGHT - TOP - BOTTOM) * (high - Math.log10(value))) / (high - low);
  const rules = ticks.filter(([value]) => Math.log10(value) >= low && Math.log10(value) <= high);
  /** @type {(text: string, at: [number, number], anchor: string, kind?: string) => SVGElement} */
  const label = (text, [left, top], anchor, kind = "tick") =>
    shape("text", { x: left, y: top, "text-anchor": anchor, class: kind }, text);
  /** @type {(curve: CostCurve, guessed: boolean) => SVGElement} */
  const path = ({ kind, value, guessed: isGuessed = () => false }, guessed) => {
    let text = "";
    let drawing = false;
    for (const place of PLACES) {
      const wanted = isGuessed(place) === guessed;
      if (wanted) text += `${drawing ? "L" : "M"}${x(place).toFixed(1)} ${y(value(place)).toFixed(1)}`;
      drawing = wanted;
    }
    return shape("path", { d: text || "M0 0", class: `curve ${kind} ${guessed ? "guessed" : ""}` });
  };
  return element(
    "figure",
    { class: "cost-curves" },
    element("figcaption", {}, title),
    shape(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title },
      rules.flatMap(([value, name]) => [
        shape("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value), class: "rule" }),
        label(name, [LEFT - 6, y(value) + 4], "end"),
      ]),
      [10, 1000, 100000].map((of) => label(tokens(of), [x(of), HEIGHT - 6], "middle")),
      limits.flatMap(([value, name], at) => [
        shape("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value), class: "limit" }),
        label(name, [LEFT + 4, y(value) + (at ? -4 : 13)], "start", "tick"),
      ]),
      shape("line", { x1: x(n), x2: x(n), y1: TOP, y2: HEIGHT - BOTTOM, class: "here" }),
      all.flatMap((curve) => [path(curve, false), path(curve, true)]),
      all.flatMap(({ kind, dots = [] }) =>
        dots.map(([of, value]) => shape("circle", { cx: x(of), cy: y(value), r: 2.4, class: `dot ${kind}` })),
      ),
      all.map(({ kind, name, value }, at) =>
        label(name, at ? [WIDTH - RIGHT, y(value(MOST)) + 34] : [x(NAMED), y(value(NAMED)) - 10], "end", `curve-name ${kind}`),
      ),
      all.map(({ kind, value }) => shape("circle", { cx: x(n), cy: y(value(n)), r: 5, class: `dot ${kind} now` })),
    ),
  );
};
