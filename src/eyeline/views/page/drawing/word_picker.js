// A line of words to choose one of: a group of radio buttons that arrow keys go along.

import { leftward } from "../matrix/axes.js";
import { element } from "./dom.js";
import { labelled } from "./labels.js";

const ROOM = 60; // units up to which all are shown
const AROUND = 24; // and how many of a longer line are shown on either side of the one that is chosen

/**
 * @param units what there is to choose from; @param chosen its index among them
 * @param name what the group is called; @param focus its name for `refocused`; @param choose called with a unit
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
    const to = {
      ArrowRight: chosen + onward, ArrowLeft: chosen - onward, ArrowDown: chosen + 1, ArrowUp: chosen - 1,
      Home: 0, End: units.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (units[to]) choose(units[to]);
  });
  return list;
};

/**
 * Build anew what is in an element, the focus staying on the part of the same `data-focus`, or of the same label in the
 * same group.
 */
export const refocused = (root, build) => {
  const active = root.contains(document.activeElement) ? document.activeElement : null;
  const focused = active?.closest("[data-focus]")?.dataset.focus;
  const label = active?.getAttribute("aria-label");
  build();
  const part = focused && root.querySelector(`[data-focus="${focused}"]`);
  if (!part) return;
  const alike = (one) => label && one.getAttribute("aria-label") === label;
  const inside = [...part.querySelectorAll("[aria-label]")].find(alike);
  const itself = part.matches("[tabindex], input, button, select, summary");
  const chosen = part.querySelector("[role=radio][tabindex='0']") ?? part.querySelector("[tabindex='0']");
  (itself ? part : (inside ?? chosen))?.focus({ preventScroll: true });
};
