// A whole row as one bar of 100 %: its strongest words, what the others take, and a grey part for special tokens.

import { element } from "../drawing/dom.js";
import { onScale } from "../drawing/labels.js";
import { lightOn, shade } from "../drawing/colour.js";

/** The bar. @param {Page} page */
export const createRowBar = (page) => {
  const caption = element("p", { class: "quiet" });
  const bar = element("div", { class: "row-bar", role: "img" });
  const whole = element("div", { class: "whole-row" }, caption, bar);
  let width = 0; // kept: to ask for it now would have the browser lay the page out once more
  new ResizeObserver(() => (width = bar.clientWidth)).observe(bar);

  /** @type {(part: RowPart, end: number) => HTMLElement} */
  const drawn = ({ name, number, depth }, end) => {
    const share = onScale(number, end);
    const text = `${name} ${share}`;
    const room = width * number - 10;
    const written = room > 7.6 * text.length ? [element("bdi", {}, name), ` ${share}`] : room > 30 && share;
    const own = depth === null ? { class: "aside" } : {};
    const light = depth !== null && lightOn(depth, page.dark);
    const colours = depth === null ? {} : { background: shade(depth, page.dark), color: light ? "#fff" : "#000" };
    const style = { "flex-basis": `${number * 100}%`, ...colours };
    return element("span", { ...own, title: text, style }, written);
  };

  /**
   * Show the parts of a row, which sum to 1; null if there is no such row. Numbers are written as on a scale to `end`.
   * @type {(parts: RowPart[] | null, end: number) => void}
   */
  const show = (parts, end) => {
    whole.hidden = parts === null;
    if (!parts) return;
    caption.textContent = page.say("sentence.row");
    bar.setAttribute("aria-label", parts.map(({ name, number }) => `${name} ${onScale(number, end)}`).join(", "));
    width ||= bar.clientWidth;
    bar.replaceChildren(...parts.map((part) => drawn(part, end)));
  };
  return { element: whole, show };
};
