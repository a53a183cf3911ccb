// The tabs: one for each view, and before them the button of the lesson, which stands beside any view.

import { button, element } from "../drawing/dom.js";
import { nextStop, stopSettings } from "../lesson/lesson.js";

/**
 * The row of tabs over the views that can be opened, `names`.
 * @type {(page: Page, names: () => ViewName[]) => PagePart}
 */
export const createTabs = (page, names) => {
  const list = element("div", { class: "tabs", role: "tablist" });
  const turn = () => page.set(page.state.stop === null ? stopSettings(page, nextStop(page)) : { stop: null });
  const lesson = button("", turn, {
    class: "lesson-tab",
    "aria-controls": `${page.id}-lesson`,
  });
  const row = element("nav", { class: "views" }, lesson, list);
  /** @type {HTMLElement | null} */
  let selected = null;
  // A row that is wider than a phone scrolls: the chosen tab is kept in its middle, and the page stays where it is.
  const reveal = () => {
    if (!selected || list.scrollWidth <= list.clientWidth) return;
    list.scrollLeft = selected.offsetLeft - (list.clientWidth - selected.offsetWidth) / 2;
  };
  let drawn = "";
  const update = () => {
    const now = [page.language, page.state.view, page.state.stop, page.canLesson, names()].join(" ");
    if (now === drawn) return;
    drawn = now;
    const focused = list.contains(document.activeElement);
    lesson.hidden = !page.canLesson;
    lesson.textContent = page.say("lesson");
    lesson.setAttribute("aria-expanded", String(page.state.stop !== null));
    list.setAttribute("aria-label", page.say("view"));
    list.replaceChildren(
      ...names().map((name) => {
        const chosen = page.state.view === name;
        return button(page.say(`view.${name}`), () => page.set({ view: name }), {
          role: "tab",
          id: `${page.id}-tab-${name}`,
          "aria-selected": String(chosen),
          "aria-controls": `${page.id}-view`,
          tabindex: chosen ? 0 : -1,
        });
      }),
    );
    selected = list.querySelector("[aria-selected=true]");
    reveal();
    if (focused) selected?.focus();
  };
  list.addEventListener("keydown", (event) => {
    const onward = getComputedStyle(list).direction === "rtl" ? -1 : 1;
    const step = event.key === "ArrowRight" ? onward : event.key === "ArrowLeft" ? -onward : 0;
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const all = names();
    page.set({ view: all[(all.indexOf(page.state.view) + step + all.length) % all.length] });
  });
  return { element: row, update };
};
