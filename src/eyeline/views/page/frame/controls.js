// The bar of controls: those that the views share, where they change something, and the current view's own.

import { element } from "../drawing/dom.js";
import { allows, createChanges } from "./changes.js";
import { forgottenFrom, placePickers, relabelled } from "../pickers.js";
import { hasAside } from "../provenance.js";
import { createTokens } from "./tokens.js";

/** The shared controls that change something now. @type {(page: Page) => Control[]} */
const usedOf = (page) => {
  const { trace } = page;
  if (!trace) return [];
  const traces = [trace, ...page.places().map(([at]) => page.traces[at])];
  /** @type {Partial<Record<Control, boolean>>} */
  const able = {
    unit: traces.some(({ queries, keys }) => [queries, keys].some((line) => line.words.length < line.pieces.length)),
    special: traces.some(hasAside),
    ahead: allows(trace, "ahead"),
    padded: allows(trace, "padded"),
  };
  return page.uses().filter((control) => able[control] ?? true);
};

/**
 * The bar; `view` returns the current view, if there is one. `settle` takes up what the view changed of its own.
 * @type {(page: Page, view: () => View | null) => PagePart & { settle(): void }}
 */
export const createControls = (page, view) => {
  const shared = element("div", { class: "shared" });
  const [tokens, changes] = [createTokens(page), createChanges(page)];
  const own = element("div", { class: "own" });
  const bar = element("div", { class: "controls", role: "group" }, shared, tokens.element, changes.element, own);
  page.uses = () => view()?.uses ?? [];
  /** @type {Control[]} */
  let used = [];
  const settle = () => {
    if (String(usedOf(page)) !== String(used) || own.firstChild !== (view()?.controls ?? null)) update();
  };
  const update = () => {
    const { state } = page;
    used = usedOf(page);
    bar.setAttribute("aria-label", page.say("controls"));
    /** @type {(place: Place) => void} */
    const chosen = ([at, layer, head]) =>
      page.set({ trace: at, layer, head, ...forgottenFrom(page, state.trace, at) });
    const places = page.trace ? placePickers(page, [state.trace, state.layer, state.head], chosen) : [];
    const [texts, layers, heads] = places;
    const parts = { trace: texts, layer: layers, head: heads };
    relabelled(shared, Object.entries(parts).flatMap(([name, part]) => {
      const control = /** @type {Control} */ (name);
      return part && used.includes(control) ? [part] : [];
    }));
    bar.dataset.texts = page.traces.length > 1 ? "several" : "one";
    tokens.update(used.flatMap((one) => (one === "unit" || one === "special" ? [one] : [])));
    changes.update(used.flatMap((one) => (one === "ahead" || one === "padded" ? [one] : [])));
    const controls = view()?.controls ?? null;
    if (own.firstChild !== controls) own.replaceChildren(...(controls ? [controls] : []));
    own.hidden = !controls;
    bar.hidden = !used.length && !controls;
  };
  return { element: bar, update, settle };
};
