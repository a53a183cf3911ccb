// Paging through a text that is too long to draw at once, and searching it for a word.

import { button, element } from "../drawing/dom.js";

/** @type {(text: string) => string} */
const folded = (text) => text.normalize("NFC").toLowerCase();

/**
 * The index of the next (or previous) unit that contains a text, with wrap-around; null if none does.
 * @type {(units: Unit[], text: string, from: number, step: number) => number | null}
 */
const sought = (units, text, from, step) => {
  const wanted = folded(text.trim());
  if (!wanted) return null;
  for (let away = 1; away <= units.length; away++) {
    const at = (from + step * away + units.length * away) % units.length;
    if (folded(units[at].text).includes(wanted)) return at;
  }
  return null;
};

/**
 * Buttons and a search box. `go` moves the window forward or back, `jump` goes to a unit, `from` gives the search's
 * start.
 * @param {Page} page
 * @param {{ go: (step: number) => void, jump: (unit: number) => void, from: () => number }} on
 */
export const createPager = (page, on) => {
  /** @type {Unit[]} */
  let units = [];
  const back = button("‹", () => on.go(-1), { class: "plain" });
  const ahead = button("›", () => on.go(1), { class: "plain" });
  const place = element("span", { class: "quiet", "aria-live": "polite" });
  const none = element("span", { class: "quiet", role: "status" });
  const box = element("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  /** @type {(step: number) => void} */
  const seek = (step) => {
    const found = sought(units, box.value, on.from(), step);
    none.textContent = found === null && box.value.trim() ? page.say("find.none") : "";
    if (found !== null) on.jump(found);
  };
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    seek(event.shiftKey ? -1 : 1);
  });
  const row = element("div", { class: "pager" }, back, place, ahead, box, none);
  /** @type {(all: Unit[], first: number, last: number) => void} */
  const update = (all, first, last) => {
    units = all;
    row.hidden = first === 0 && last === all.length;
    if (row.hidden) return;
    /** @type {(value: number) => string} */
    const number = (value) => value.toLocaleString(page.language);
    back.setAttribute("aria-label", page.say("window.before"));
    ahead.setAttribute("aria-label", page.say("window.after"));
    [back.disabled, ahead.disabled] = [first === 0, last === all.length];
    place.textContent = page.say(page.state.unit === "words" ? "window.words" : "window.pieces", {
      first: number(first + 1), last: number(last), count: number(all.length),
    });
    box.placeholder = page.say("find");
    box.setAttribute("aria-label", page.say("find.how"));
  };
  return { element: row, update };
};
