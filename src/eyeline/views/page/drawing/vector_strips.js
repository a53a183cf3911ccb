// A vector as a strip of coloured cells, one per coordinate; or as bars, or as a line.

import { tint } from "./colour.js";
import { element } from "./dom.js";

const GAPPED = 7; // pixels of a cell from which it is followed by a gap

/** The largest absolute value. @type {(...lists: Iterable<number>[]) => number} */
export const most = (...lists) => {
  let result = 0;
  for (const list of lists) for (const value of list) if (Math.abs(value) > result) result = Math.abs(value);
  return result;
};

/**
 * Call `draw(index, left, width)` for each cell, with edges on whole device pixels.
 * @type {(count: number, width: number, dots: number, draw: (at: number, left: number, width: number) => void) => void}
 */
const cells = (count, width, dots, draw) => {
  /** @type {(at: number) => number} */
  const edge = (at) => Math.round((at * width * dots) / count) / dots;
  const gap = width / count >= GAPPED ? 1 / dots : 0;
  for (let at = 0; at < count; at++) draw(at, edge(at), Math.max(edge(at + 1) - edge(at) - gap, 0.5));
};

/**
 * The pixel of zero in a height, and the pixels per 1, so that all values and zero are visible.
 * @type {(values: Float64Array, height: number) => { zero: number, unit: number }}
 */
const axis = (values, height) => {
  const top = values.reduce((a, b) => Math.max(a, b), 0);
  const bottom = values.reduce((a, b) => Math.min(a, b), 0);
  const unit = top > bottom ? (height - 4) / (top - bottom) : 0;
  return { zero: 2 + (unit ? top * unit : (height - 4) / 2), unit };
};

/** @type {(room: DrawingRoom, context: CanvasRenderingContext2D, y: number, width: number, dots: number) => void} */
const ruled = ({ colour }, context, y, width, dots) => {
  context.fillStyle = colour("--line");
  context.fillRect(0, Math.round(y * dots) / dots, width, 1 / dots);
};

/**
 * The name of a strip, and its space: "match", the coordinates of queries and keys, or "pass", the coordinates of
 * values. One mark runs through all strips of a space.
 * @typedef {{ space: Space, name: string, attributes?: Attributes }} Named
 */

/** @type {(room: DrawingRoom, named: Named & { kind: string }, draw: Draw) => HTMLElement} */
const held = ({ canvases }, { space, kind, name, attributes }, draw) =>
  element(
    "div",
    { class: `strip of-${kind}`, "data-space": space, ...attributes },
    canvases.add({ role: "img", "aria-label": name }, draw),
    element("i", { class: "mark" }),
  );

/**
 * A strip of cells; `end` is the number with the strongest colour.
 * @type {(room: DrawingRoom, strip: Named & { values: Numbers, end: number }) => HTMLElement}
 */
export const strip = (room, { values, end, ...rest }) =>
  held(room, { kind: "cells", ...rest }, (context, width, height, dots) => {
    const { dark } = room.page;
    cells(values.length, width, dots, (at, left, wide) => {
      const whole = Number.isFinite(values[at]);
      context.fillStyle = whole ? tint(end ? values[at] / end : 0, dark) : room.colour("--hatch");
      context.fillRect(left, 0, wide, height);
    });
  });

/**
 * Numbers as bars up and down from a line.
 * @type {(room: DrawingRoom, strip: Named & { values: Float64Array }) => HTMLElement}
 */
export const bars = (room, { values, ...rest }) =>
  held(room, { kind: "bars", ...rest }, (context, width, height, dots) => {
    const { zero, unit } = axis(values, height);
    const { dark } = room.page;
    cells(values.length, width, dots, (at, left, wide) => {
      context.fillStyle = tint(values[at] < 0 ? -0.85 : 0.85, dark);
      context.fillRect(left, Math.min(zero, zero - values[at] * unit), wide, Math.abs(values[at] * unit));
    });
    ruled(room, context, zero, width, dots);
  });

/**
 * The running sum over coordinates, as a step line.
 * @type {(room: DrawingRoom, strip: Named & { values: Float64Array }) => HTMLElement}
 */
export const climb = (room, { values, ...rest }) =>
  held(room, { kind: "climb", ...rest }, (context, width, height, dots) => {
    const { zero, unit } = axis(values, height);
    ruled(room, context, zero, width, dots);
    context.strokeStyle = room.colour("--text");
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(0, zero);
    values.forEach((value, at) => {
      context.lineTo((at * width) / values.length, zero - value * unit);
      context.lineTo(((at + 1) * width) / values.length, zero - value * unit);
    });
    context.stroke();
  });
