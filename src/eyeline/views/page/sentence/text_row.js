// One side of the sentence view: its text, the numbers beneath, and for a long text a margin and a row to find words.

import { createBeneath } from "./beneath.js";
import { element } from "../drawing/dom.js";
import { onScale } from "../drawing/labels.js";
import { createMarginStrip } from "./margin_strip.js";
import { createPager } from "./pager.js";
import { createTokenLine } from "./token_line.js";

/**
 * The row of a side. `on` is that of its token line and of its pager; `go` moves the drawn part of the text so that it
 * has a unit in its middle, and `scrolled` is called when another part of the column is seen.
 * @param {Page} page
 * @param {Side} side
 * @param {Parameters<typeof createTokenLine>[2] & Parameters<typeof createPager>[1] & {
 *   centre: (unit: number) => void, scrolled: () => void,
 * }} on
 */
export const createTextRow = (page, side, on) => {
  const tokens = createTokenLine(page, side, on);
  const text = element("div", { class: "text" }, tokens.element);
  const scroller = element("div", { class: "scroller" }, text);
  const beneath = createBeneath(text);
  text.append(beneath.element);
  const pager = createPager(page, on);
  const caption = element("p", { class: "caption", "aria-hidden": "true" });
  const margin = createMarginStrip((unit) => on.centre(unit));
  const beside = element("div", { class: "beside" }, scroller, margin.element);
  const parts = side === "queries" ? [caption, beside] : [beside, caption];
  const whole = element("div", { class: "row" }, ...parts, pager.element);
  scroller.addEventListener("scroll", () => on.scrolled());

  /** The drawn units within sight. @returns {UnitRange} */
  const visible = () => {
    const all = tokens.all();
    if (!all.length) return [0, 0];
    const { top, bottom } = scroller.getBoundingClientRect();
    /** @type {(seen: (box: DOMRect) => boolean) => number} The first place of which this is true. */
    const first = (seen) => {
      let [low, high] = [0, all.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (seen(all[middle][1].getBoundingClientRect())) high = middle;
        else low = middle + 1;
      }
      return low;
    };
    const [from, until] = [first((box) => box.bottom > top), first((box) => box.top >= bottom)];
    return [all[Math.min(from, all.length - 1)][0], all[Math.max(until, 1) - 1][0] + 1];
  };

  /** Scroll the column so that a unit is seen, in its middle unless it is seen already. @type {(unit: number) => void} */
  const reveal = (unit) => {
    const box = tokens.span(unit)?.getBoundingClientRect();
    const room = scroller.getBoundingClientRect();
    if (!box || (box.top >= room.top && box.bottom <= room.bottom)) return;
    scroller.scrollTop += (box.top + box.bottom - room.top - room.bottom) / 2;
  };

  /**
   * Write the numbers from `least` beneath the side's units, or above them if they look at another text.
   * @type {(seen: Reading, units: Unit[], least: number, hides: (unit: number) => boolean) => void}
   */
  const write = ({ side: numbered, numbers, end }, units, least, hides) => {
    const entries = numbered === side && numbers
      ? tokens.all().flatMap(([unit, span]) => {
        const number = numbers[unit];
        if (!(number >= least) || hides(unit)) return [];
        return [{ span, text: onScale(number, end), number, quiet: number < 0.005 || units[unit].aside }];
      })
      : [];
    beneath.show(entries, page.trace.crossing && side === "queries");
  };

  /** Mark the numbers in the margin. @type {(seen: Reading) => void} */
  const mark = ({ kind, side: numbered, numbers, end, one }) => {
    margin.draw({
      numbers: numbered === side ? numbers : null,
      end,
      count: page.trace[side].units(page.state.unit).length,
      visible: visible(),
      asked: one?.side === side ? one.unit : null,
      mark: kind === "to" ? "--key" : "--query",
    });
  };
  return { element: whole, tokens, pager, caption, visible, reveal, write, mark };
};
