// A text as a line of tokens that can be pointed at, focused and picked.

import { element, nodesOf, targetOf } from "../drawing/dom.js";
import { printable } from "../drawing/labels.js";
import { laidOut } from "./text_layout.js";

const BREAK = /\r\n|[\n\v\f\r\x85\u2028\u2029]/;

/**
 * The text between units; line ends are kept, several as one wider gap.
 * @type {(text: string) => Child[]}
 */
const between = (text) => {
  const lines = text.split(BREAK);
  if (lines.length === 1) return [printable(text)];
  const end = element("span", { class: lines.length > 2 ? "break wide" : "break" });
  return [printable(lines[0]), end, printable(lines[lines.length - 1])];
};

/**
 * The element nearest to `from` on the next line up or down.
 * @type {(elements: Iterable<HTMLElement>, from: Element, step: number) => HTMLElement | null}
 */
const above = (elements, from, step) => {
  const here = from.getBoundingClientRect();
  const [x, y] = [here.left + here.width / 2, here.top + here.height / 2];
  /** @type {{ one: HTMLElement, dx: number, dy: number } | null} */
  let best = null;
  for (const one of elements) {
    const there = one.getBoundingClientRect();
    const [dx, dy] = [Math.abs(there.left + there.width / 2 - x), step * (there.top + there.height / 2 - y)];
    if (dy < here.height / 2) continue;
    if (!best || dy < best.dy - 4 || (dy < best.dy + 4 && dx < best.dx)) best = { one, dx, dy };
  }
  return best?.one ?? null;
};

/**
 * The line of a side. In `on` a unit is an index, null for none; `next` is the element that gets the focus; `move`
 * focuses a unit that may not be drawn.
 * @param {Page} page
 * @param {Side} side
 * @param {{
 *   hover: (unit: number | null) => void, focus: (unit: number | null, next?: EventTarget | null) => void,
 *   pick: (unit: number) => void, move: (unit: number) => void,
 * }} on
 */
export const createTokenLine = (page, side, on) => {
  const attributes = { class: "tokens", role: "listbox", "aria-orientation": "horizontal", tabindex: -1 };
  const list = element("div", { dir: "auto", ...attributes });
  /** @type {Map<number, HTMLElement>} */
  let spans = new Map();
  let drawn = ""; // the key of the drawing
  /** @type {number[]} */
  let order = [];
  /** @type {[before: boolean, after: boolean]} Whether there are more units than are drawn. */
  let ends = [false, false];

  /** @type {(event: Event) => number | null} */
  const unitOf = (event) => unitAt(targetOf(event, ".token"));
  /** @type {(found: Element | null) => number | null} */
  const unitAt = (found) => (found && list.contains(found) ? Number(found.getAttribute("data-unit")) : null);

  /** @type {(unit: Unit, text: string, line: TokenizedText, kind?: string) => HTMLElement} */
  const token = (unit, text, line, kind = "") => {
    const generated = line.prompt !== null && unit.first >= line.prompt;
    const classes = ["token", kind, unit.aside && !kind && "aside", generated && "generated"].filter(Boolean).join(" ");
    const own = { class: classes, role: "option", tabindex: -1, "data-unit": unit.index };
    const made = element(kind === "label" ? "bdi" : "span", own, text);
    spans.set(unit.index, made);
    return made;
  };

  /** @type {(item: TextItem | undefined) => boolean} */
  const joins = (item) => item !== undefined && !("gap" in item);

  /** @type {(items: TextItem[], line: TokenizedText) => Child[]} */
  const laid = (items, line) =>
    items.flatMap((item, at) => {
      if ("gap" in item) return between(item.gap);
      if ("label" in item) return [token(item.unit, item.label, line, "label")];
      if ("whole" in item) {
        const parts = item.units.map((unit, part) => token(unit, String(part + 1), line, "part"));
        const glyph = element("span", { class: "glyph", "aria-hidden": "true" }, printable(item.whole));
        const beside = element("bdi", { role: "presentation" }, ...parts);
        return [element("span", { class: "whole", role: "presentation" }, glyph, beside)];
      }
      const made = token(item.unit, printable(item.text), line);
      made.classList.toggle("snug", joins(items[at - 1]));
      made.classList.toggle("tight", joins(items[at + 1]));
      return [made];
    });

  /**
   * Draw the units [first, last) of a line; `labelled` are the drawn units without text.
   * @type {(line: TokenizedText, units: Unit[], first: number, last: number, labelled: Set<number>) => void}
   */
  const show = (line, units, first, last, labelled) => {
    list.setAttribute("aria-label", page.say(`sentence.${page.trace.crossing ? side : "line"}`));
    const now = JSON.stringify([page.trace.serial, page.state.unit, units.length, first, last, [...labelled]]);
    if (now === drawn) return;
    const focused = unitAt(document.activeElement?.closest(".token") ?? null);
    drawn = now;
    [spans, painted] = [new Map(), new Map()];
    list.dataset.unit = page.state.unit;
    list.replaceChildren(...nodesOf(laid(laidOut(line, units, first, last, labelled), line)));
    order = [...spans.keys()];
    ends = [first > 0, last < units.length];
    if (focused !== null && spans.has(focused)) focus(focused);
  };

  /** @type {Map<number, string>} The style that each drawn unit has. */
  let painted = new Map();

  /**
   * Style each drawn unit by `look`; Tab focuses `tabbable`.
   * @type {(look: (unit: number) => Look, tabbable: number | null) => void}
   */
  const paint = (look, tabbable) => {
    const stop = tabbable !== null && spans.has(tabbable) ? tabbable : order[0];
    for (const [unit, span] of spans) {
      const style = look(unit);
      const { fill = "", light = null, kind = "", label } = style;
      span.tabIndex = unit === stop ? 0 : -1;
      const now = JSON.stringify(style);
      if (painted.get(unit) === now) continue; // a text may have thousands of units
      painted.set(unit, now);
      span.style.setProperty("--fill", fill || null);
      span.style.color = light === null ? "" : light ? "#fff" : "#000"; // one of them has 4.5 : 1 on any colour
      span.dataset.kind = kind;
      span.setAttribute("aria-label", label);
      span.setAttribute("aria-selected", String(kind.includes("pinned")));
    }
  };

  /** @type {(unit: number) => void} */
  const focus = (unit) => {
    for (const [at, span] of spans) span.tabIndex = at === unit ? 0 : -1;
    spans.get(unit)?.focus();
  };

  // The unit that a key moves the focus to; null for none.
  /** @type {(key: string, from: number) => number | null} */
  const stepped = (key, from) => {
    const at = order.indexOf(from);
    const forward = getComputedStyle(list).direction === "rtl" ? -1 : 1;
    const step = key === "ArrowRight" ? forward : key === "ArrowLeft" ? -forward : 0;
    if (step) return order[at + step] ?? (ends[step > 0 ? 1 : 0] ? order[at] + step : null);
    if (key === "Home") return order[0];
    if (key === "End") return order[order.length - 1];
    const here = spans.get(from);
    const near = here && above(spans.values(), here, key === "ArrowDown" ? 1 : -1);
    return near ? Number(near.dataset.unit) : null;
  };

  list.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "touch") on.hover(unitOf(event));
  });
  list.addEventListener("pointerleave", () => on.hover(null));
  list.addEventListener("focusin", (event) => {
    if (targetOf(event)?.matches(":focus-visible")) on.focus(unitOf(event));
  });
  list.addEventListener("focusout", (event) => on.focus(null, event.relatedTarget));
  list.addEventListener("click", (event) => {
    const unit = unitOf(event);
    if (unit !== null) on.pick(unit);
  });
  list.addEventListener("keydown", (event) => {
    const here = unitOf(event);
    if (event.ctrlKey || event.metaKey || event.altKey || here === null) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      on.pick(here);
    } else if (/^(Arrow(Left|Right|Up|Down)|Home|End)$/.test(event.key)) {
      event.preventDefault();
      const unit = stepped(event.key, here);
      if (unit !== null) on.move(unit);
    }
  });

  /** @type {(unit: number) => HTMLElement | undefined} */
  const span = (unit) => spans.get(unit);
  /** The drawn units in reading order, with their elements. */
  const all = () => [...spans];
  return { element: list, show, paint, focus, span, all };
};
