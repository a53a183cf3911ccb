// Numbers that move into place: from where one step leaves them to where the next takes them up.

const LASTS = 520; // milliseconds
const AFTER = 35; // milliseconds between one number and the next
const FARTHEST = 260; // pixels: from farther away it would only be a flicker

/** @type {(distance: number) => number} */
const bounded = (distance) => Math.min(Math.max(distance, -FARTHEST), FARTHEST);

/**
 * Move the numbers of a step that have `data-from` into place, from the element whose `data-to` is the same. With
 * reduced motion nothing moves.
 * @type {(root: HTMLElement, step: Element) => void}
 */
export const land = (root, step) => {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  [...step.querySelectorAll("[data-from]")].forEach((node, order) => {
    const from = root.querySelector(`[data-to="${node.getAttribute("data-from")}"]`);
    if (!from || !(node instanceof HTMLElement)) return;
    const [left, is] = [from.getBoundingClientRect(), node.getBoundingClientRect()];
    if (!is.width || !left.width) return;
    const [x, y] = [bounded(left.left - is.left), bounded(left.top - is.top)];
    const start = { transform: `translate(${x}px, ${y}px)`, opacity: 0.2 };
    node.animate([start, { transform: "none", opacity: 1 }], {
      duration: LASTS,
      delay: Math.min(order, 12) * AFTER,
      easing: "cubic-bezier(0.2, 0.7, 0.2, 1)",
      fill: "backwards",
    });
  });
};
