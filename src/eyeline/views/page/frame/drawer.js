// The drawer of a phone: all controls, behind one button, so that the screen belongs to the content.

import { button, element } from "../drawing/dom.js";

/**
 * The drawer and its opener. In a wide window `drawn` lie where `places` say, and there is no drawer.
 * @param {Framed} page
 * @param {[part: HTMLElement, place: HTMLElement][]} drawn
 */
export const createDrawer = (page, drawn) => {
  const drawer = element("div", { class: "drawer", id: `${page.id}-drawer`, role: "region" });
  const opener = button("", () => turn(!open), { class: "plain opener", "aria-controls": drawer.id });
  let open = false;
  /** @param {boolean} wanted */
  const turn = (wanted) => {
    open = wanted;
    opener.setAttribute("aria-expanded", String(open));
    drawer.hidden = !(open && page.narrow.matches);
    if (open) drawer.scrollTop = 0;
  };
  const arrange = () => {
    for (const [part, place] of drawn) (page.narrow.matches ? drawer : place).append(part);
    opener.hidden = !page.narrow.matches;
    turn(open);
  };
  const update = () => {
    opener.textContent = page.say("controls");
    drawer.setAttribute("aria-label", page.say("controls"));
  };
  /** @param {KeyboardEvent} event */
  const pressed = (event) => {
    if (event.key !== "Escape" || !open || event.defaultPrevented) return;
    event.stopPropagation();
    turn(false);
    opener.focus();
  };
  opener.addEventListener("keydown", pressed);
  drawer.addEventListener("keydown", pressed);
  page.narrow.addEventListener("change", arrange);
  arrange();
  return { element: drawer, opener, update, stop: () => page.narrow.removeEventListener("change", arrange) };
};
