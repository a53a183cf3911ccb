// The numbers of a reading beneath what they are drawn on: their scale, the bar of the whole row, and the list of bars.

import { createBarList } from "./bar_list.js";
import { element } from "../drawing/dom.js";
import { rowParts, wordBars } from "./listing.js";
import { createRowBar } from "./row_bar.js";
import { createScaleLegend } from "./scale_legend.js";
import { asideName, notesOf, quantityOf } from "./telling.js";
import { isDistribution, isReweighted } from "../weights/attention_map.js";

/**
 * The panel of a selection, with what is done when a bar is clicked, hovered, or asked about.
 * @param {Page} page
 * @param {TokenSelection} selection
 * @param {BarEvents} on
 */
export const createNumbersPanel = (page, selection, on) => {
  const [legend, rowBar, list] = [createScaleLegend(page), createRowBar(page), createBarList(on)];
  const whole = element("div", { class: "under" }, legend.element, rowBar.element, list.element);

  /**
   * Show a reading. `long` texts have their words' numbers; `hidden` and `generated` say whether such words are drawn.
   * @type {(seen: Reading, drawn: {
   *   pointed: number | null, long: boolean, hidden: boolean, generated: boolean,
   * }) => void}
   */
  const show = (seen, { pointed, long, hidden, generated }) => {
    const { numbers, end, aside } = seen;
    const name = numbers && aside > 0 ? asideName(page, seen.units, seen.kept) : null;
    const grey = name === null ? null : { name, number: aside };
    legend.show(quantityOf(page, seen), end);
    rowBar.show(seen.sums ? rowParts(page, seen, grey) : null, end);
    const { map, endless } = selection;
    const entries = wordBars(page, seen, pointed, long);
    const notes = notesOf(page, seen, entries.map(({ at }) => at), {
      hidden, generated, endless, joined: !map.plain, largest: !isDistribution(map), reweighted: isReweighted(map),
    });
    list.show(numbers || endless ? { entries, end, grey, beyond: page.say("sentence.beyond"), pointed, notes } : null);
  };
  return { element: whole, list: list.element, show };
};
