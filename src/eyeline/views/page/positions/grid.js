// Vectors of positions as a picture, a row for each position, and how alike one of them is to the others.

import { element, shape } from "../drawing/dom.js";
import { figure } from "../drawing/labels.js";
import { scaleBar } from "../drawing/scale_bar.js";
import { tinted, tintEnd } from "../drawing/tinted.js";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [560, 150, 44, 8, 10, 24];
const MOST = 0.99; // the share of the numbers that don't exceed the scale

/**
 * The picture of vectors, with the read position marked. A press chooses a position.
 * @type {(room: DrawingRoom, of: PositionVectors, name: string) => HTMLElement}
 */
export const grid = (room, { rows, columns, numbers }, name) => {
  const { page, canvases } = room;
  const end = tintEnd(numbers, MOST);
  const canvas = canvases.add({ role: "img", "aria-label": name, class: "position-grid" }, (context, wide, high) => {
    context.imageSmoothingEnabled = false;
    context.drawImage(tinted(numbers, rows, columns, end, page.dark), 0, 0, wide, high);
    context.strokeStyle = room.colour("--text");
    context.lineWidth = 2;
    const { position } = page.state;
    if (position < rows) context.strokeRect(1, (position * high) / rows, wide - 2, high / rows);
  });
  canvas.addEventListener("click", (event) => {
    const { top, height } = canvas.getBoundingClientRect();
    page.set({ position: Math.min(Math.max(Math.floor(((event.clientY - top) / height) * rows), 0), rows - 1) });
  });
  return element(
    "figure",
    { class: "grid" },
    element(
      "div",
      { class: "around" },
      element("span", { class: "down quiet" }, page.say("positions.down", { last: rows - 1 })),
      canvas,
      element("span", { class: "across quiet" }, page.say("positions.across", { last: columns - 1 })),
    ),
    scaleBar(room, { end, signed: true, digits: 2 }),
  );
};

/**
 * Numbers over positions as bars from zero, that of one position marked.
 * @type {(of: { name: string, values: number[], at: number, end: number, first?: number }) => HTMLElement}
 */
export const bars = ({ name, values, at, end, first = 0 }) => {
  const step = (WIDTH - LEFT - RIGHT) / values.length;
  const zero = TOP + (HEIGHT - TOP - BOTTOM) / 2;
  const unit = (HEIGHT - TOP - BOTTOM) / 2 / end;
  /** @type {(x: number, y: number, text: string, anchor: string) => SVGElement} */
  const label = (x, y, text, anchor) => shape("text", { x, y, "text-anchor": anchor, class: "tick" }, text);
  const last = values.length - 1;
  return element(
    "figure",
    { class: "position-bars" },
    element("figcaption", { class: "quiet" }, name),
    shape(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": name },
      values.map((value, place) =>
        shape("rect", {
          x: LEFT + place * step, width: Math.max(step - 1, 0.5),
          y: zero - Math.max(value, 0) * unit, height: Math.abs(value) * unit,
          class: place === at ? "here" : value < 0 ? "negative" : "positive",
        }),
      ),
      shape("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: zero, y2: zero, class: "axis" }),
      label(LEFT - 6, TOP + 5, figure(end, end < 10 ? 1 : 0), "end"),
      label(LEFT - 6, zero + 4, "0", "end"),
      label(LEFT - 6, HEIGHT - BOTTOM + 3, figure(-end, end < 10 ? 1 : 0), "end"),
      label(LEFT + step / 2, HEIGHT - 6, figure(first, 0), "middle"),
      label(LEFT + (at + 0.5) * step, HEIGHT - 6, at > 2 && at < last - 2 ? figure(first + at, 0) : "", "middle"),
      label(LEFT + (last + 0.5) * step, HEIGHT - 6, figure(first + last, 0), "middle"),
    ),
  );
};
