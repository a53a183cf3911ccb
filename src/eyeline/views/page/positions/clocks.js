// Rotary positions: each pair of a query's and a key's numbers as the hand of a clock, turned by position times speed.

import { element, shape } from "../drawing/dom.js";
import { figure } from "../drawing/labels.js";

const [SIZE, RADIUS] = [124, 50];
const SHOWN = 4;
const RIM = Math.PI * 2;

/** Up to four pairs, spread from the fastest to the slowest. @type {(count: number) => number[]} */
const shownPairs = (count) =>
  count <= SHOWN
    ? Array.from({ length: count }, (_, at) => at)
    : Array.from({ length: SHOWN }, (_, at) => Math.round((at * (count - 1)) / (2 * (SHOWN - 1))));

/** An angle in turns of the clock: "0.32 turns". @type {(angle: number) => number} */
const turns = (angle) => angle / RIM;

/**
 * The clocks. The query is at position m, the key at n; both hands point up where the position is 0.
 * @type {(page: Page, speeds: ArrayLike<number>, m: number, n: number) => HTMLElement}
 */
export const clocks = (page, speeds, m, n) => {
  /** @type {(pair: number) => HTMLElement} */
  const clock = (pair) => {
    const [q, k] = [m * speeds[pair], n * speeds[pair]];
    /** @type {(angle: number, radius: number) => [x: number, y: number]} */
    const at = (angle, radius) => [SIZE / 2 + radius * Math.sin(angle), SIZE / 2 - radius * Math.cos(angle)];
    /** @type {(angle: number, kind: string, radius: number) => SVGElement} */
    const hand = (angle, kind, radius) => {
      const [x2, y2] = at(angle, radius);
      return shape("line", { x1: SIZE / 2, y1: SIZE / 2, x2, y2, class: `hand ${kind}` });
    };
    const [from, to] = [at(k, 22), at(q, 22)];
    const apart = q - k;
    const large = Math.abs(((apart % RIM) + RIM) % RIM) > Math.PI ? 1 : 0;
    const arc = `M${from.map((one) => one.toFixed(2)).join(" ")}A22 22 0 ${large} 1 ${to.map((one) => one.toFixed(2)).join(" ")}`;
    return element(
      "figure",
      { class: "clock" },
      shape(
        "svg",
        { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img", "aria-label": page.say("positions.clock", { pair }) },
        shape("circle", { cx: SIZE / 2, cy: SIZE / 2, r: RADIUS, class: "rim" }),
        shape("path", { d: arc, class: "apart" }),
        hand(k, "key", RADIUS - 8),
        hand(q, "query", RADIUS - 3),
      ),
      element(
        "figcaption",
        {},
        element("b", {}, page.say("positions.pair", { pair })),
        element("span", { class: "number" }, `ω = ${figure(speeds[pair], speeds[pair] < 0.01 ? 5 : 3)}`),
        element("span", { class: "number" }, page.say("positions.apart", { turns: figure(turns(apart), 2) })),
        element("span", { class: "number" }, `cos = ${figure(Math.cos(apart), 2)}`),
      ),
    );
  };
  return element("div", { class: "clocks" }, shownPairs(speeds.length).map(clock));
};
