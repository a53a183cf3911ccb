// A small menu beside what was pressed: arrow keys move in it, Escape or a press beside it closes it.

import { button, element } from "../drawing/dom.js";

const APART = 6; // pixels from the pressed point

/** The menu of a page, opened at one place at a time. @param {HTMLElement} room what it lies in */
export const createMenu = (room) => {
  const list = element("div", { class: "edit-menu", role: "menu", hidden: true });
  room.append(list);
  /** @type {HTMLElement | null} What gets the focus back. */
  let before = null;
  const close = () => {
    if (list.hidden) return;
    const inside = list.contains(document.activeElement);
    list.hidden = true;
    document.removeEventListener("pointerdown", outside);
    if (inside && before?.isConnected) before.focus({ preventScroll: true });
  };
  /** @param {Event} event */
  const outside = (event) => {
    if (!event.composedPath().includes(list)) close();
  };
  list.addEventListener("keydown", (event) => {
    const items = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("button")]);
    const root = /** @type {Document | ShadowRoot} */ (list.getRootNode());
    const at = items.findIndex((one) => one === root.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) items[(at + step + items.length) % items.length].focus();
    else if (event.key === "Escape" || event.key === "Tab") close();
    else if (event.key !== "Enter" && event.key !== " ") return;
    else return event.stopPropagation(); // the pressed item acts; no shortcut of the page does
    event.preventDefault();
    event.stopPropagation();
  });
  /**
   * Open it at a place of the window, in pixels.
   * @type {(label: string, items: MenuItem[], x: number, y: number, opener: HTMLElement | null) => void}
   */
  const open = (label, items, x, y, opener) => {
    before = opener;
    list.setAttribute("aria-label", label);
    list.replaceChildren(
      element("p", { class: "edit-menu-title", "aria-hidden": "true" }, label),
      ...items.map(({ text, why, chosen }) =>
        button([element("strong", {}, text), element("span", { class: "quiet" }, why)], () => {
          close();
          chosen();
        }, { role: "menuitem" }),
      ),
    );
    list.hidden = false;
    const origin = room.getBoundingClientRect();
    const left = Math.max(Math.min(x - list.offsetWidth / 2, origin.right - list.offsetWidth), origin.left);
    const under = y + APART + list.offsetHeight <= innerHeight;
    const top = under ? y + APART : Math.max(y - APART - list.offsetHeight, APART);
    Object.assign(list.style, { left: `${left - origin.left}px`, top: `${top - origin.top}px` });
    document.addEventListener("pointerdown", outside);
    list.querySelector("button")?.focus({ preventScroll: true });
  };
  return { open, close };
};
