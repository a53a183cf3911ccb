// The numbers beneath words, or above them: one that would cover a larger one is left out.

import { element } from "../drawing/dom.js";

const APART = 5; // pixels between two numbers

/** A number of a unit as a text; `strong` numbers stand out. */
/** @typedef {{ span: HTMLElement, text: string, number: number, quiet: boolean }} Beneath */

/** A layer of numbers over the element `text`. @param {HTMLElement} text */
export const createBeneath = (text) => {
  const layer = element("div", { class: "beneath", "aria-hidden": "true" });

  /** Show numbers beneath their words, or `above` them. @type {(numbers: Beneath[], above: boolean) => void} */
  const show = (numbers, above) => {
    const origin = text.getBoundingClientRect();
    const width = parseFloat(getComputedStyle(layer).fontSize) * 0.6; // of a digit, and more
    /** @type {Map<number, [left: number, right: number][]>} The taken parts of each line. */
    const taken = new Map();
    const parts = [...numbers]
      .sort((one, other) => other.number - one.number)
      .flatMap(({ span, text: written, quiet }) => {
        const boxes = span.getClientRects();
        const box = above ? boxes[0] : boxes[boxes.length - 1];
        if (!box) return [];
        const half = (written.length * width) / 2;
        const x = Math.min(Math.max((box.left + box.right) / 2 - origin.left, half), origin.width - half);
        const y = (above ? box.top : box.bottom) - origin.top;
        const line = taken.get(Math.round(y / 8)) ?? [];
        if (line.some(([left, right]) => x + half + APART > left && x - half - APART < right)) return [];
        taken.set(Math.round(y / 8), [...line, [x - half, x + half]]);
        const style = { left: `${x.toFixed(1)}px`, top: `${y.toFixed(1)}px` };
        return [element("span", { class: quiet ? "quiet" : null, style }, written)];
      });
    layer.dataset.above = String(above);
    layer.replaceChildren(...parts);
  };
  return { element: layer, show };
};
