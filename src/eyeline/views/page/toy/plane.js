// The values of a toy as arrows in the plane, and its output as the chain of weight · value.

import { element, shape } from "../drawing/dom.js";
import { named } from "../drawing/labels.js";
import { plain } from "./arithmetic.js";

const [WIDTH, HEIGHT, EDGE] = [230, 200, 26];

/**
 * The picture for one query; null unless values have two numbers.
 * @type {(page: Page, toy: Toy, steps: ToySteps, end: number) => HTMLElement | null}
 */
export const plane = (page, { words, v, row }, { weights, output }, end) => {
  if (v[0].length !== 2) return null;
  const unit = (Math.min(WIDTH, HEIGHT) / 2 - EDGE) / end;
  /** @type {(at: number[]) => [x: number, y: number]} */
  const place = ([x, y]) => [WIDTH / 2 + x * unit, HEIGHT / 2 - y * unit];
  /** @type {(from: number[], to: number[], kind: string) => SVGElement} */
  const line = (from, to, kind) => {
    const [[x1, y1], [x2, y2]] = [place(from), place(to)];
    return shape("line", { x1, y1, x2, y2, class: kind });
  };
  /** @type {(at: number[], text: string, kind: string) => SVGElement} */
  const label = (at, text, kind) => {
    const [x, y] = place(at);
    const after = at[0] >= 0;
    const up = at[1] >= 0 ? -6 : 14;
    return shape("text", { x: x + (after ? 4 : -4), y: y + up, "text-anchor": at[0] === 0 ? "middle" : after ? "start" : "end", class: kind }, text);
  };
  /** @type {number[][]} */
  const chain = [[0, 0]];
  weights[row].forEach((weight, at) => {
    const [x, y] = chain[chain.length - 1];
    chain.push([x + weight * v[at][0], y + weight * v[at][1]]);
  });
  const [x, y] = place(output[row]);
  const [right, top] = [[end, 0], [0, end]];
  return element(
    "figure",
    { class: "plane" },
    shape(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": page.say("toy.plane", { word: named(words[row]) }) },
      line([-end, 0], right, "axis"),
      line([0, -end], top, "axis"),
      shape("text", { x: place(right)[0], y: HEIGHT / 2 + 14, "text-anchor": "middle", class: "tick" }, plain(end)),
      shape("text", { x: WIDTH / 2 - 6, y: place(top)[1] + 4, "text-anchor": "end", class: "tick" }, plain(end)),
      v.map((value) => line([0, 0], value, "arrow-of-value")),
      v.map((value) => shape("circle", { cx: place(value)[0], cy: place(value)[1], r: 3.5, class: "value-dot" })),
      chain.slice(1).map((to, at) => line(chain[at], to, "taken")),
      shape("circle", { cx: x, cy: y, r: 5.5, class: "output-dot" }),
      v.map((value, at) => label(value, named(words[at]), "value-name")),
    ),
    element("figcaption", { class: "quiet" }, page.say("toy.plane", { word: named(words[row]) })),
  );
};
