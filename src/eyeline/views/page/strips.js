// A vector as a strip of cells, one per coordinate, coloured from less than nothing to more; or as bars and a line.

import { tint } from "./colour.js";
import { element } from "./dom.js";

/** The largest of numbers without their signs. */
export const most = (...lists) => {
  let result = 0;
  for (const list of lists) for (const value of list) if (Math.abs(value) > result) result = Math.abs(value);
  return result;
};

const GAPPED = 7; // pixels of a cell from which on there is a gap after it

// Calls `draw(index, left, width)` for each cell, its edges on whole dots.
const cells = (count, width, dots, draw) => {
  const edge = (index) => Math.round((index * width * dots) / count) / dots;
  const gap = width / count >= GAPPED ? 1 / dots : 0;
  for (let index = 0; index < count; index++) draw(index, edge(index), Math.max(edge(index + 1) - edge(index) - gap, 0.5));
};

const held = (canvas, space, attributes = {}) =>
  element("div", { class: "strip", "data-space": space, ...attributes }, canvas, element("i", { class: "mark" }));

/**
 * A strip of cells.
 * @param space "match" (coordinates of queries and keys) or "pass" (those of values): one mark goes through all of a space
 * @param end the number whose colour is the fullest
 */
export const strip = (canvases, { space, values, end, dark, name, kind = "", attributes }) =>
  held(
    canvases.add({ class: kind, role: "img", "aria-label": name }, (context, width, height, dots) =>
      cells(values.length, width, dots, (at, left, wide) => {
        context.fillStyle = Number.isFinite(values[at]) ? tint(end ? values[at] / end : 0, dark) : "#888";
        context.fillRect(left, 0, wide, height);
      }),
    ),
    space,
    attributes,
  );

/** Numbers as bars up and down from a line in the middle of them. */
export const bars = (canvases, { space, values, dark, name, colour, attributes }) =>
  held(
    canvases.add({ class: "bars", role: "img", "aria-label": name }, (context, width, height, dots) => {
      const { zero, unit } = axis(values, height);
      cells(values.length, width, dots, (at, left, wide) => {
        context.fillStyle = tint(values[at] < 0 ? -0.85 : 0.85, dark);
        context.fillRect(left, Math.min(zero, zero - values[at] * unit), wide, Math.abs(values[at] * unit));
      });
      context.fillStyle = colour("--line");
      context.fillRect(0, Math.round(zero * dots) / dots, width, 1 / dots);
    }),
    space,
    attributes,
  );

/** The sum so far after each coordinate, as a line of steps. */
export const climb = (canvases, { space, values, name, colour, attributes }) =>
  held(
    canvases.add({ class: "climb", role: "img", "aria-label": name }, (context, width, height, dots) => {
      const { zero, unit } = axis(values, height);
      context.fillStyle = colour("--line");
      context.fillRect(0, Math.round(zero * dots) / dots, width, 1 / dots);
      context.strokeStyle = colour("--text");
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(0, zero);
      values.forEach((value, at) => {
        const y = zero - value * unit;
        context.lineTo((at * width) / values.length, y);
        context.lineTo(((at + 1) * width) / values.length, y);
      });
      context.stroke();
    }),
    space,
    attributes,
  );

// Where nothing is, in a height, and how high one is, with all values and nothing in view.
const axis = (values, height) => {
  const top = values.reduce((a, b) => Math.max(a, b), 0);
  const bottom = values.reduce((a, b) => Math.min(a, b), 0);
  const unit = top > bottom ? (height - 4) / (top - bottom) : 0;
  return { zero: 2 + (top > bottom ? top * unit : (height - 4) / 2), unit };
};
