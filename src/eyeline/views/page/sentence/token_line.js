// A line of tokens as typed: each can be pointed at, focused and picked.

import { element } from "../drawing/dom.js";
import { named, printable } from "../drawing/labels.js";
import { laidOut } from "./text_layout.js";

const BREAK = /\r\n|[\n\v\f\r\x85\u2028\u2029]/;

// What stands between units; line ends stay, and where there are several, as one wider gap.
const between = (text) => {
  const lines = text.split(BREAK);
  if (lines.length === 1) return [printable(text)];
  const end = element("span", { class: lines.length > 2 ? "break wide" : "break" });
  return [printable(lines[0]), end, printable(lines.at(-1))];
};

const size = (count) => (count <= 32 ? "short" : count <= 96 ? "middle" : "long");

// Of the elements on the next line up or down, the one nearest to where `from` stands.
const above = (elements, from, step) => {
  const here = from.getBoundingClientRect();
  const [x, y] = [here.left + here.width / 2, here.top + here.height / 2];
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
 * The line of a side, "queries" or "keys".
 * @param on {hover(unit), focus(unit, next), pick(unit), move(unit)}: unit is a place, null for none; `next` is the
 *   element that gets the focus; `move` is asked to focus a unit that may not be drawn
 */
export const createTokenLine = (page, side, on) => {
  const attributes = { class: "tokens", role: "listbox", "aria-orientation": "horizontal", tabindex: -1 };
  const list = element("div", { dir: "auto", ...attributes });
  let [spans, drawn, order, ends] = [new Map(), "", [], [0, 0]];

  const unitOf = (target) => {
    const found = target.closest?.(".token");
    return found && list.contains(found) ? Number(found.dataset.unit) : null;
  };

  const token = (unit, text, line, kind = "") => {
    const generated = line.prompt !== null && unit.first >= line.prompt;
    const classes = ["token", kind, unit.aside && !kind && "aside", generated && "generated"].filter(Boolean).join(" ");
    const attributes = { class: classes, role: "option", tabindex: -1, "data-unit": unit.index };
    const made = element(kind === "label" ? "bdi" : "span", attributes, text);
    spans.set(unit.index, made);
    return made;
  };

  const laid = (items, line) =>
    items.flatMap((item, at) => {
      if (item.gap !== undefined) return between(item.gap);
      if (item.label !== undefined) return [token(item.unit, item.label, line, "label")];
      if (item.text === undefined) {
        const parts = item.units.map((unit, part) => token(unit, String(part + 1), line, "part"));
        const glyph = element("span", { class: "glyph", "aria-hidden": "true" }, printable(item.whole));
        const beside = element("bdi", { role: "presentation" }, ...parts);
        return [element("span", { class: "whole", role: "presentation" }, glyph, beside)];
      }
      const made = token(item.unit, printable(item.text), line);
      made.classList.toggle("snug", at > 0 && items[at - 1].gap === undefined);
      made.classList.toggle("tight", at + 1 < items.length && items[at + 1].gap === undefined);
      return [made];
    });

  /** Draw the units [first, last) of a line; `labelled` are the units without text that are drawn too. */
  const show = (line, units, first, last, labelled) => {
    list.setAttribute("aria-label", page.say(`sentence.${page.trace.crossing ? side : "line"}`));
    const now = JSON.stringify([page.state.trace, page.state.unit, units.length, first, last, [...labelled]]);
    if (now === drawn) return;
    const focused = list.contains(document.activeElement) ? unitOf(document.activeElement) : null;
    drawn = now;
    spans = new Map();
    list.dataset.size = size(units.length);
    list.dataset.unit = page.state.unit;
    list.replaceChildren(...laid(laidOut(line, units, first, last, labelled), line));
    order = [...spans.keys()];
    ends = [first > 0, last < units.length];
    if (focused !== null && spans.has(focused)) focus(focused);
  };

  /** Show each unit that is drawn as `look(unit)` says: {fill, light, kind, label}. */
  const paint = (look, tabbable) => {
    const stop = spans.has(tabbable) ? tabbable : order[0];
    for (const [unit, span] of spans) {
      const { fill = "", light = null, kind = "", label } = look(unit);
      span.style.setProperty("--fill", fill || null);
      span.style.color = light === null ? "" : light ? "#fff" : "#0b0e13";
      span.dataset.kind = kind;
      span.setAttribute("aria-label", label);
      span.setAttribute("aria-selected", String(kind.includes("pinned")));
      span.tabIndex = unit === stop ? 0 : -1;
    }
  };

  const focus = (unit) => {
    for (const [at, span] of spans) span.tabIndex = at === unit ? 0 : -1;
    spans.get(unit)?.focus();
  };

  const stepped = (event) => {
    const at = order.indexOf(unitOf(event.target));
    const forward = getComputedStyle(list).direction === "rtl" ? -1 : 1;
    const step = { ArrowRight: forward, ArrowLeft: -forward }[event.key];
    const beside = order[at + step];
    if (step) return beside ?? (ends[step > 0 ? 1 : 0] ? order[at] + step : null);
    if (event.key === "Home") return order[0];
    if (event.key === "End") return order.at(-1);
    const near = above(spans.values(), event.target, event.key === "ArrowDown" ? 1 : -1);
    return near && Number(near.dataset.unit);
  };

  list.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "touch") on.hover(unitOf(event.target));
  });
  list.addEventListener("pointerleave", () => on.hover(null));
  list.addEventListener("focusin", (event) => {
    if (event.target.matches(":focus-visible")) on.focus(unitOf(event.target));
  });
  list.addEventListener("focusout", (event) => on.focus(null, event.relatedTarget));
  list.addEventListener("click", (event) => {
    const unit = unitOf(event.target);
    if (unit !== null) on.pick(unit);
  });
  list.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || unitOf(event.target) === null) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      on.pick(unitOf(event.target));
    } else if (/^(Arrow(Left|Right|Up|Down)|Home|End)$/.test(event.key)) {
      event.preventDefault();
      const unit = stepped(event);
      if (unit !== null && unit !== undefined) on.move(unit);
    }
  });

  return { element: list, show, paint, focus, span: (unit) => spans.get(unit) };
};

/** A unit's text as it is named; where a character is cut over several, with which of them it is: "🦜 2/3". */
export const titled = (unit, units) => {
  const same = (one) => one && !one.special && one.start === unit.start && one.end === unit.end;
  let [from, to] = [unit.index, unit.index];
  if (!unit.special) {
    while (same(units[from - 1])) from -= 1;
    while (same(units[to + 1])) to += 1;
  }
  return from === to ? named(unit.text) : `${named(unit.text)} ${unit.index - from + 1}/${to - from + 1}`;
};

const counts = new WeakMap(); // of lists of units: which of the words each is, and how many there are

const counted = (units) => {
  const known = counts.get(units);
  if (known) return known;
  let count = 0;
  const found = { numbers: units.map((unit) => (count += unit.special || !unit.text.trim() ? 0 : 1)) };
  found.count = count;
  counts.set(units, found);
  return found;
};

/** What a screen reader is told of a unit: its text, and which of how many it is. */
export const called = (page, unit, units) => {
  const word = titled(unit, units);
  if (unit.special) return page.say("sentence.special", { word });
  if (!unit.text.trim()) return page.say("sentence.bare", { word });
  const { numbers, count } = counted(units);
  const key = page.state.unit === "words" ? "sentence.word" : "sentence.piece";
  return page.say(key, { word, number: numbers[unit.index], count });
};
