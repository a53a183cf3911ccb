// Links between tokens: curves whose width and strength show a share.

import { shape } from "../drawing/dom.js";

const ROOM = 62; // the largest height of a curve over the first line, in pixels

/** @typedef {{ left: number, right: number, top: number, bottom: number }} Sides */

/** @type {(box: Sides) => number} */
const middle = (box) => (box.left + box.right) / 2;
/** @type {(one: Sides, other: Sides) => boolean} */
const inLine = (one, other) => Math.abs(one.top - other.top) < (one.bottom - one.top) / 2;

/**
 * The curve from a point on one box's edge to the middle of another's: over the line if both are in the same line.
 * @type {(from: Sides, x: number, to: Sides, room: number) => string}
 */
const curve = (from, x, to, room) => {
  const end = middle(to);
  if (from === to) {
    const top = from.top - 30;
    return `M${x - 8} ${from.top}C${x - 15} ${top} ${x + 15} ${top} ${x + 8} ${from.top}`;
  }
  if (inLine(from, to)) {
    const away = Math.abs(end - x);
    const height = 8 + ((room - 8) * away) / (away + 3 * room);
    const lean = 0.1 * (end - x);
    const top = from.top - (4 / 3) * height;
    return `M${x} ${from.top}C${x + lean} ${top} ${end - lean} ${top} ${end} ${to.top}`;
  }
  const down = from.top < to.top;
  const [y, stop] = down ? [from.bottom, to.top] : [from.top, to.bottom];
  const bend = Math.max(Math.abs(stop - y) * 0.5, 14) * (down ? 1 : -1);
  return `M${x} ${y}C${x} ${y + bend} ${end} ${stop - bend} ${end} ${stop}`;
};

/**
 * The point on a box's edge where each link begins: side by side, in the order of the links' ends.
 * @type {(from: Sides, boxes: Sides[]) => Map<Sides, number>}
 */
const leaving = (from, boxes) => {
  const step = Math.min(5, (0.7 * (from.right - from.left)) / Math.max(boxes.length, 1));
  const order = [...boxes].sort((one, other) => middle(one) - middle(other));
  return new Map(order.map((to, at) => [to, middle(from) + (at - (order.length - 1) / 2) * step]));
};

/** @type {(span: Element, origin: DOMRect) => Sides} */
const boxOf = (span, origin) => {
  const { left, right, top, bottom } = span.getClientRects()[0] ?? span.getBoundingClientRect();
  /** @type {(value: number) => number} */
  const round = (value) => Math.round(2 * value) / 2;
  return {
    left: round(left - origin.left), right: round(right - origin.left),
    top: round(top - origin.top), bottom: round(bottom - origin.top),
  };
};

/** A link between two elements, its strength from 0 to 1. */
/** @typedef {{ from: Element, to: Element, strength: number, faded?: boolean }} Link */

/**
 * A layer of links over `stage`, to be redrawn when its size changes.
 * @param {HTMLElement} stage
 */
export const createLinks = (stage) => {
  const layer = shape("svg", { class: "links", "aria-hidden": "true", focusable: "false" });
  /**
   * Draw the links of one unit, coloured by strength.
   * @type {(links: Link[], colour: (strength: number) => string) => void}
   */
  const draw = (links, colour) => {
    const origin = stage.getBoundingClientRect();
    /** @type {Map<Element, Sides>} */
    const boxes = new Map();
    /** @type {(span: Element) => Sides} */
    const box = (span) => {
      const known = boxes.get(span) ?? boxOf(span, origin);
      boxes.set(span, known);
      return known;
    };
    const leave = links.length ? leaving(box(links[0].from), links.map(({ to }) => box(to))) : new Map();
    const paths = [...links]
      .sort((one, other) => one.strength - other.strength)
      .map(({ from, to, strength, faded = false }) => {
        const [start, end] = [box(from), box(to)];
        // There is less room between two lines of text than above the first.
        const room = start.top < ROOM + 24 ? ROOM : 0.8 * (start.bottom - start.top);
        return shape("path", {
          d: curve(start, start === end ? middle(start) : leave.get(end), end, room),
          fill: "none",
          stroke: colour(strength),
          "stroke-width": (1 + 4.5 * strength).toFixed(2),
          "stroke-opacity": ((0.2 + 0.7 * strength) * (faded ? 0.3 : 1)).toFixed(2),
          "stroke-linecap": "round",
        });
      });
    layer.replaceChildren(...paths);
  };
  return { element: layer, draw };
};
