// The minimap of a long text: the weights over the whole text, and the drawn part.

import { contextOf, element } from "../drawing/dom.js";

const HEIGHT = 34; // pixels

/**
 * The largest number in each of `parts` equal parts of a list.
 * @type {(numbers: Float64Array, parts: number) => Float64Array}
 */
const peaks = (numbers, parts) => {
  const found = new Float64Array(parts);
  for (let at = 0; at < numbers.length; at++) {
    const part = Math.floor((at * parts) / numbers.length);
    if (numbers[at] > found[part]) found[part] = numbers[at];
  }
  return found;
};

/**
 * The strip; `go` is called with the unit that was clicked.
 * @param {(unit: number) => void} go
 */
export const createMinimap = (go) => {
  const canvas = element("canvas", { class: "minimap", "aria-hidden": "true" });
  let count = 0;
  canvas.addEventListener("click", (event) => go(Math.floor((event.offsetX / canvas.clientWidth) * count)));

  /**
   * Draw numbers, one for each unit (null: not known), the range of drawn units, and the selected unit, if any, in the
   * colour of a CSS variable.
   * @type {(numbers: Float64Array | null, units: number, drawn: UnitRange, asked: number | null, mark: string) => void}
   */
  const draw = (numbers, units, [first, last], asked, mark) => {
    count = units;
    canvas.hidden = last - first === units;
    if (canvas.hidden) return;
    const density = Math.min(devicePixelRatio, 2);
    const width = canvas.clientWidth || 1;
    [canvas.width, canvas.height] = [Math.round(width * density), HEIGHT * density];
    const [pen, style] = [contextOf(canvas), getComputedStyle(canvas)];
    /** @type {(name: string) => string} */
    const colour = (name) => style.getPropertyValue(name);
    pen.scale(density, density);
    /** @type {(unit: number) => number} */
    const place = (unit) => (unit * width) / units;
    pen.fillStyle = colour("--accent-soft");
    pen.fillRect(place(first), 0, Math.max(place(last) - place(first), 2), HEIGHT);
    pen.fillStyle = colour("--accent");
    const parts = Math.min(Math.floor(width), units);
    const heights = numbers ? peaks(numbers, parts) : [];
    const most = Math.max(...heights, 0);
    heights.forEach((height, part) => {
      const high = (HEIGHT - 2) * Math.sqrt(height / most || 0); // so that small weights are visible too
      pen.fillRect((part * width) / parts, HEIGHT - high, Math.max(width / parts - 0.5, 0.5), high);
    });
    pen.fillStyle = colour("--line");
    pen.fillRect(0, HEIGHT - 1, width, 1);
    if (asked === null) return;
    pen.fillStyle = colour(mark);
    pen.fillRect(place(asked + 0.5) - 1, 0, 2, HEIGHT);
  };
  return { element: canvas, draw };
};
