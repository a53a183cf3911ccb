// The keys that work everywhere in a survey's page, except in fields.

import { targetOf } from "../drawing/dom.js";

/**
 * Listen to the keys; returns a function that stops this. A page with a window of its own hears them wherever the focus
 * is; in a notebook they reach the page alone.
 * @type {(page: SurveyPage, frame: HTMLElement, help: { open(): void }) => () => void}
 */
export const onKeys = (page, frame, help) => {
  const alone = Boolean(page.model.get("address"));
  /** @type {(key: string) => Partial<SurveyState> | undefined} */
  const settings = (key) => {
    const { view, layer, head } = page.state;
    if (key === "Escape") return view === "head" ? { view: "map" } : undefined;
    if (view !== "head") return undefined;
    /** @type {Record<string, Partial<SurveyState>>} */
    const places = {
      "[": { layer: layer - 1 }, "]": { layer: layer + 1 }, "{": { head: head - 1 }, "}": { head: head + 1 },
    };
    return Object.hasOwn(places, key) ? places[key] : undefined;
  };
  /** @param {Event} event */
  const heard = (event) => {
    if (!(event instanceof KeyboardEvent)) return;
    if (!alone) event.stopPropagation();
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (targetOf(event)?.matches("input, textarea, select")) return;
    const chosen = settings(event.key);
    if (event.key !== "?" && !chosen) return;
    event.preventDefault();
    if (chosen) page.set(chosen);
    else help.open();
  };
  const keyed = alone ? document : frame;
  keyed.addEventListener("keydown", heard);
  return () => keyed.removeEventListener("keydown", heard);
};
