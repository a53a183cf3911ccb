// The row under a long text: a box to find words in it and, if it isn't drawn at once, buttons to page through it.

import { button, element } from "../drawing/dom.js";
import { localNumber } from "../language.js";
import { following, placesOf } from "./finding.js";

/**
 * Buttons and a search box. `go` moves the window forward or back, `jump` goes to a unit, `from` gives the search's
 * start.
 * @param {Page} page
 * @param {{ go: (step: number) => void, jump: (unit: number) => void, from: () => number }} on
 */
export const createPager = (page, on) => {
  /** @type {[line: TokenizedText, units: Unit[]] | null} */
  let searched = null;
  const back = button("‹", () => on.go(-1), { class: "plain" });
  const ahead = button("›", () => on.go(1), { class: "plain" });
  const place = element("span", { class: "quiet", "aria-live": "polite" });
  const paging = element("span", { class: "paging" }, back, place, ahead);
  const result = element("span", { class: "quiet", role: "status" });
  const box = element("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  /** @type {(step: number) => void} */
  const seek = (step) => {
    if (!searched || !box.value.trim()) return;
    const places = placesOf(...searched, box.value);
    const found = following(places, on.from(), step);
    const counted = found && { number: localNumber(page, found.number), count: localNumber(page, places.length) };
    result.textContent = counted ? page.say("find.found", counted) : page.say("find.none");
    if (found) on.jump(found.unit);
  };
  box.addEventListener("input", () => {
    result.textContent = "";
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    seek(event.shiftKey ? -1 : 1);
  });
  const row = element("div", { class: "pager" }, box, result, paging);
  /** @type {(line: TokenizedText, units: Unit[], range: UnitRange, long: boolean) => void} */
  const update = (line, units, [first, last], long) => {
    searched = [line, units];
    row.hidden = !long;
    paging.hidden = first === 0 && last === units.length;
    back.setAttribute("aria-label", page.say("window.before"));
    ahead.setAttribute("aria-label", page.say("window.after"));
    [back.disabled, ahead.disabled] = [first === 0, last === units.length];
    place.textContent = page.say(page.state.unit === "words" ? "window.words" : "window.pieces", {
      first: localNumber(page, first + 1), last: localNumber(page, last), count: localNumber(page, units.length),
    });
    box.placeholder = page.say("find");
    box.setAttribute("aria-label", page.say("find.how"));
  };
  return { element: row, update };
};
