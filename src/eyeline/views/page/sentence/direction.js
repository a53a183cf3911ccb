// Two buttons for the direction: whom a token looks at, or who looks at it.

import { button, element } from "../drawing/dom.js";

/**
 * The buttons; `turn` is called to change the direction.
 * @type {(page: Page, turn: () => void) => PagePart}
 */
export const createDirection = (page, turn) => {
  const turns = ["from", "to"].map((toward) => {
    const pressed = () => {
      if (page.state.toward !== toward) turn();
    };
    return button("", pressed, { class: "plain", "data-toward": toward });
  });
  const choices = element("span", { class: "choices", role: "group" }, ...turns);
  const update = () => {
    choices.setAttribute("aria-label", page.say("toward"));
    for (const one of turns) {
      one.textContent = page.say(`toward.${one.dataset.toward}`);
      one.title = page.say("toward.key");
      one.setAttribute("aria-pressed", String(page.state.toward === one.dataset.toward));
    }
  };
  return { element: choices, update };
};
