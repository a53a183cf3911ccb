// The controls of a matrix, for the frame's bar: its scale and its zoom.

import { button, choice, element } from "../drawing/dom.js";
import { captioned, relabelled } from "../pickers.js";

/** @type {ScaleChoice[]} */
const CHOICES = ["auto", "linear", "log", "rank"];

/**
 * The controls: `update` after a change of the state, `showPlace` after a movement.
 * @param {Matrix} matrix
 */
export const createControls = (matrix) => {
  const { page, viewport } = matrix;
  const scale = element("span", {});
  const [closer, farther, all] = [
    button("+", () => matrix.zoom(1.5), { class: "plain" }),
    button("−", () => matrix.zoom(1 / 1.5), { class: "plain" }),
    button("", () => matrix.fit(), { class: "plain" }),
  ];
  const zooms = element("div", { class: "matrix-zooms" }, closer, farther, all);
  const whole = element("div", { class: "matrix-tools" }, scale, zooms);

  const showPlace = () => {
    const { activeElement } = document;
    farther.disabled = all.disabled = viewport.whole;
    closer.disabled = viewport.size >= viewport.most;
    // A button that goes grey would lose the focus to the document, and the page its keys.
    if (activeElement instanceof HTMLButtonElement && whole.contains(activeElement) && activeElement.disabled) {
      (activeElement === closer ? farther : closer).focus();
    }
  };

  const update = () => {
    /** @type {[kind: ScaleChoice, text: string][]} */
    const choices = CHOICES.map((one) => [one, page.say(`matrix.scale.${one}`)]);
    relabelled(scale, [
      captioned(page, "matrix.scale", choice(page.say("matrix.scale"), choices, page.state.scale, (chosen) =>
        page.set({ scale: CHOICES.find((one) => one === chosen) }),
      )),
    ]);
    for (const [part, name] of /** @type {const} */ ([[closer, "closer"], [farther, "farther"], [all, "all"]])) {
      const text = page.say(`matrix.${name}`);
      part.setAttribute("aria-label", text);
      part.title = text;
      if (part === all) part.textContent = text;
    }
    showPlace();
  };
  return { element: whole, update, showPlace };
};
