// The filter by kind: a button for each kind of head that there is, with the number of its heads.

import { button, element } from "../drawing/dom.js";
import { countedKinds } from "../weights/kinds.js";

/**
 * Rebuild the filter in an element, which is hidden where the kinds of heads aren't known.
 * @type {(page: Page, row: HTMLElement) => void}
 */
export const fillKindFilter = (page, row) => {
  const { trace, state } = page;
  const counts = countedKinds(trace);
  const focused = [...row.children].findIndex((one) => one === document.activeElement);
  /** @type {(kind: KindName | null, text: string, count: number) => HTMLElement} */
  const one = (kind, text, count) =>
    button([text, " ", element("span", { class: "count" }, count)], () =>
      page.set({ kind: kind === state.kind ? null : kind }), {
      class: "plain", "aria-pressed": String(state.kind === kind),
    });
  row.setAttribute("aria-label", page.say("overview.kinds"));
  row.replaceChildren(
    one(null, page.say("overview.kinds.all"), trace.depth * trace.heads),
    ...[...counts].map(([kind, count]) => one(kind, page.say(`kind.${kind}`), count)),
  );
  row.hidden = ![...counts.keys()].some((kind) => kind !== "mixed");
  /** @type {HTMLElement | undefined} */
  const again = /** @type {HTMLElement[]} */ ([...row.children])[focused];
  again?.focus();
};
