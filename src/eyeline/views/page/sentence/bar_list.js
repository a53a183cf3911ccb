// The strongest numbers as a list of bars on one scale from zero, with a grey bar for what is set aside.

import { button, element } from "../drawing/dom.js";
import { onScale } from "../drawing/labels.js";

/**
 * What the list shows: its bars, the scale's end, what is set aside, if anything, the unit pointed at, and notes on the
 * numbers. If the grey bar would be longer than the scale, the text `beyond` stands in its place.
 * @typedef {{
 *   entries: BarEntry[], end: number, grey: { name: string, number: number } | null, beyond: string,
 *   pointed: number | null, notes: Child[],
 * }} ListedBars
 */

/**
 * The list: `pick` when a row is clicked, `point` when one is hovered (null: no longer); `beside` makes what stands
 * beside a row's number.
 * @param {BarEvents} on
 */
export const createBarList = (on) => {
  const axis = element("div", { class: "axis", "aria-hidden": "true" });
  const bars = element("ol", { class: "bars", role: "list" });
  const list = element("div", { class: "bar-list" }, axis, bars);
  const notes = element("p", { class: "quiet basis" });
  const whole = element("div", { class: "strongest" }, list, notes);
  let listed = ""; // the key of the listed bars

  /** @type {(share: number) => HTMLElement} */
  const bar = (share) => {
    const fill = element("span", { class: "bar-fill", style: { width: `${share * 100}%` } });
    return element("span", { class: "bar-room", "aria-hidden": "true" }, fill);
  };

  /** @type {(entry: BarEntry, end: number, pointed: number | null) => HTMLElement} */
  const row = ({ at, name, title, number, place }, end, pointed) =>
    element(
      "li",
      {
        "data-pointed": at === pointed,
        on: { pointerenter: () => on.point(at), pointerleave: () => on.point(null) },
      },
      button(name, () => on.pick(at), { class: "bar-name", title, "data-at": at }),
      bar(number / end),
      element("span", { class: "bar-share" }, onScale(number, end), on.beside?.(at, title)),
      place && element("span", { class: "quiet" }, place),
    );

  /** Show bars; null while their numbers load. @type {(shown: ListedBars | null) => void} */
  const show = (shown) => {
    // so that the layout doesn't jump while numbers load
    whole.style.minHeight = shown ? "" : `${whole.offsetHeight}px`;
    const { entries = [], end = 1, grey = null, beyond = "", pointed = null, notes: said = [] } = shown ?? {};
    notes.replaceChildren(...said.flatMap((part) => [element("span", {}, part), " "]));
    const texts = entries.map(({ name, ...entry }) => [name instanceof Node ? name.textContent : name, entry]);
    const now = JSON.stringify([texts, end, grey, beyond, pointed]);
    if (now === listed) return; // rows that have the focus keep it
    listed = now;
    const { activeElement: active } = document;
    const focused = bars.contains(active) ? active?.getAttribute("data-at") : null;
    const cut = bars.contains(active) ? active?.getAttribute("data-cut") : null;
    const aside = grey && element(
      "li", { class: "aside" },
      element("span", { class: "bar-name" }, grey.name),
      grey.number > end ? element("span", { class: "bar-room quiet" }, beyond) : bar(grey.number / end),
      element("span", { class: "bar-share" }, onScale(grey.number, end)),
    );
    bars.replaceChildren(...entries.map((entry) => row(entry, end, pointed)), ...(aside ? [aside] : []));
    list.hidden = !bars.childElementCount;
    axis.replaceChildren(...[0, end / 2, end].map((tick) => element("span", {}, axisText(tick))));
    /** @type {HTMLElement | null} */
    const again = bars.querySelector(focused ? `[data-at="${focused}"]` : `[data-cut="${cut}"]`);
    again?.focus({ preventScroll: true });
  };

  return { element: whole, show };
};

/** The number of a tick: half of 1, 5 or 50 % isn't whole. @type {(number: number) => string} */
const axisText = (number) => (number ? `${Number((number * 100).toFixed(1))}%` : "0");
