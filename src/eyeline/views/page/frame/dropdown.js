// A button of the bar that opens a panel of settings below it; a press beside it, or Escape, closes it.

import { element } from "../drawing/dom.js";

/** The parts of a dropdown: `element` holds the button, `summary`, and the `panel`. */
export const createDropdown = () => {
  const summary = element("summary", { class: "plain" });
  const panel = element("div", { class: "dropdown-panel" });
  const details = element("details", { class: "dropdown" }, summary, panel);
  /** @param {Event} event */
  const outside = (event) => {
    if (event.target instanceof Node && !details.contains(event.target)) details.open = false;
  };
  details.addEventListener("toggle", () => {
    const listen = details.open ? "addEventListener" : "removeEventListener";
    document[listen]("pointerdown", outside);
  });
  details.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !details.contains(relatedTarget)) details.open = false;
  });
  details.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !details.open) return;
    event.preventDefault();
    event.stopPropagation();
    details.open = false;
    summary.focus();
  });
  return { element: details, summary, panel };
};
