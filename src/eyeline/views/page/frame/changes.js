// What if: the changes of a run that the views of a head share. The future is hidden, or the last tokens are padding.

import { button, element, tick } from "../drawing/dom.js";
import { createDropdown } from "./dropdown.js";
import { changesShown } from "../provenance.js";
import { changeable } from "../weights/changes.js";

/** The settings as trained. @type {Readonly<Partial<State>>} */
const TRAINED = Object.freeze({ ahead: true, padded: 0, scaled: true, removed: [] });

/**
 * Whether a change can be made to a trace: a mask that hides the future already stays.
 * @type {(trace: Trace, control: "ahead" | "padded") => boolean}
 */
export const allows = (trace, control) =>
  !trace.crossing && changeable(trace) &&
  (control === "padded" || trace.layers.some(({ mask }) => mask.kind !== "causal"));

/**
 * The button and the panel that it opens; `shown` are the changes that the view knows.
 * @param {Page} page
 */
export const createChanges = (page) => {
  const { element: details, summary, panel } = createDropdown();
  details.classList.add("what-if");
  const id = `${page.id}-padded`;
  /** @type {HTMLInputElement} */
  const last = element("input", { type: "number", min: 0, step: 1, id });
  last.addEventListener("change", () => page.set({ padded: Math.max(Math.floor(Number(last.value)) || 0, 0) }));
  /** @type {(shown: ("ahead" | "padded")[]) => void} */
  const update = (shown) => {
    details.hidden = !shown.length;
    const count = Object.keys(changesShown(page)).length;
    summary.textContent = count ? page.say("what.if.count", { count }) : page.say("what.if");
    summary.classList.toggle("changed", count > 0);
    last.max = String(Math.max((page.trace?.queries.length ?? 1) - 1, 0));
    last.value = String(page.state.padded);
    const future = tick(page.say("what.if.ahead"), !page.state.ahead, (on) => page.set({ ahead: !on }));
    const label = element("label", { for: id }, page.say("what.if.padded"));
    const focused = panel.contains(document.activeElement) ? document.activeElement : null;
    panel.replaceChildren(
      ...(shown.includes("ahead") ? [future] : []),
      ...(shown.includes("padded") ? [element("span", { class: "padded" }, label, last)] : []),
      element("p", { class: "quiet" }, page.say("what.if.why")),
      ...(count ? [button(page.say("what.if.back"), () => page.set(TRAINED), { class: "plain" })] : []),
    );
    if (focused === last) last.focus();
    else if (focused?.matches("[type=checkbox]")) future.querySelector("input")?.focus();
    else if (focused) summary.focus();
  };
  return { element: details, update };
};
