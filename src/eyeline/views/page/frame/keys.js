// The keys that work everywhere in the page, except in fields.

import { targetOf } from "../drawing/dom.js";
import { neighbour } from "../pickers.js";

/**
 * Listen to the keys; returns a function that stops this. A page with a window of its own hears them wherever the focus
 * is. In a notebook they reach the page alone: a cell's commands are letters, digits and signs too, and "x" cuts it.
 * @type {(page: Page, frame: HTMLElement, names: () => ViewName[], help: { open(): void }) => () => void}
 */
export const onKeys = (page, frame, names, help) => {
  const alone = Boolean(page.model.get("address"));
  /** @param {KeyboardEvent} event */
  const pressed = (event) => {
    if (event.key === "?") {
      event.preventDefault();
      help.open();
      return;
    }
    const chosen = settingsOf(page, names(), event.key);
    if (!chosen) return;
    event.preventDefault();
    page.set(chosen);
  };
  /** @param {Event} event */
  const heard = (event) => {
    if (!(event instanceof KeyboardEvent)) return;
    if (!alone) event.stopPropagation();
    if (event.ctrlKey || event.metaKey || event.altKey || targetOf(event)?.matches("input, textarea, select")) return;
    pressed(event);
  };
  const keyed = alone ? document : frame;
  keyed.addEventListener("keydown", heard);
  return () => keyed.removeEventListener("keydown", heard);
};

/**
 * The settings that a key chooses.
 * @type {(page: Page, names: ViewName[], key: string) => Partial<State> | undefined}
 */
const settingsOf = ({ state, trace }, names, key) => {
  /** @type {Record<string, Partial<State>>} */
  const views = Object.fromEntries(names.map((view, at) => [String(at + 1), { view }]));
  if (!trace) return views[key];
  /** @type {Record<string, Partial<State>>} */
  const places = {
    "[": { layer: state.layer - 1 },
    "]": { layer: state.layer + 1 },
    "{": { head: neighbour(state.head, -1, trace.heads) },
    "}": { head: neighbour(state.head, 1, trace.heads) },
  };
  return views[key] ?? places[key];
};
