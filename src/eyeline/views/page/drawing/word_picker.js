// A row of words to choose from: radio buttons, with arrow keys.

import { leftward } from "../matrix/axes.js";
import { element } from "./dom.js";
import { labelled } from "./labels.js";

const ROOM = 60; // the largest number of units at which all are shown
const AROUND = 24; // in a longer line, the number of units shown on either side of the chosen one

/**
 * The group. `chosen` is the index of the chosen unit in `units`, `name` the group's accessible name, `focus` its name
 * for `refocused`; `choose` is called with a unit.
 * @type {(of: {
 *   units: Unit[], chosen: number, name: string, focus: string, choose: (unit: Unit) => void,
 * }) => HTMLElement}
 */
export const wordPicker = ({ units, chosen, name, focus, choose }) => {
  const whole = units.length <= ROOM;
  const first = whole ? 0 : Math.max(chosen - AROUND, 0);
  const last = whole ? units.length : Math.min(chosen + AROUND + 1, units.length);
  const typed = units.filter((unit) => !unit.special).slice(0, ROOM).map((unit) => unit.text).join(" ");
  const list = element("div", {
    class: "wordline",
    role: "radiogroup",
    dir: leftward(typed) ? "rtl" : "ltr",
    "aria-label": name,
    "data-focus": focus,
  });
  /** @type {(unit: Unit, at: number) => HTMLElement} */
  const word = (unit, at) =>
    element(
      "button",
      {
        type: "button",
        role: "radio",
        class: unit.aside ? "aside" : null,
        "aria-checked": String(at === chosen),
        tabindex: at === chosen ? 0 : -1,
        on: { click: () => choose(unit) },
      },
      element("bdi", {}, labelled(unit)),
    );
  list.append(
    ...(first > 0 ? [element("span", { class: "quiet" }, `… ${first}`)] : []),
    ...units.slice(first, last).map((unit, at) => word(unit, first + at)),
    ...(last < units.length ? [element("span", { class: "quiet" }, `${units.length - last} …`)] : []),
  );
  list.addEventListener("keydown", (event) => {
    const onward = getComputedStyle(list).direction === "rtl" ? -1 : 1;
    /** @type {Record<string, number>} */
    const places = {
      ArrowRight: chosen + onward, ArrowLeft: chosen - onward, ArrowDown: chosen + 1, ArrowUp: chosen - 1,
      Home: 0, End: units.length - 1,
    };
    const to = places[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (units[to]) choose(units[to]);
  });
  return list;
};

/**
 * Rebuild an element's content, keeping the focus on the part with the same `data-focus`, or the same label in the same
 * group.
 * @type {(root: HTMLElement, build: () => void) => void}
 */
export const refocused = (root, build) => {
  const active = root.contains(document.activeElement) ? document.activeElement : null;
  const focused = active?.closest("[data-focus]")?.getAttribute("data-focus");
  const label = active?.getAttribute("aria-label");
  build();
  /** @type {HTMLElement | null} */
  const part = focused ? root.querySelector(`[data-focus="${focused}"]`) : null;
  if (!part) return;
  /** @type {NodeListOf<HTMLElement>} */
  const all = part.querySelectorAll("[aria-label]");
  const inside = [...all].find((one) => label && one.getAttribute("aria-label") === label);
  const itself = part.matches("[tabindex], input, button, select, summary");
  /** @type {HTMLElement | null} */
  const chosen = part.querySelector("[role=radio][tabindex='0']") ?? part.querySelector("[tabindex='0']");
  (itself ? part : (inside ?? chosen))?.focus({ preventScroll: true });
};
