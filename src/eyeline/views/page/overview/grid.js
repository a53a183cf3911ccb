// The grid of heads: a button for each, a row for each layer, or in the chosen order.

import { element, targetOf } from "../drawing/dom.js";

/** The number of the head that an event is about. @type {(event: Event) => number | null} */
export const headAt = (event) => {
  const cell = targetOf(event, ".head");
  return cell ? Number(cell.dataset.at) : null;
};

/**
 * Move the focus from head to head with the arrow keys, Home and End; `moved` is called with the new one.
 * @type {(grid: HTMLElement, columns: () => number, moved: (at: number) => void) => void}
 */
export const listenForSteps = (grid, columns, moved) => {
  grid.addEventListener("keydown", (event) => {
    const here = headAt(event);
    if (here === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const start = here - (here % columns());
    const last = grid.querySelectorAll(".head").length - 1;
    /** @type {Record<string, number>} */
    const places = {
      ArrowLeft: here - 1, ArrowRight: here + 1, ArrowUp: here - columns(), ArrowDown: here + columns(),
      Home: start, End: Math.min(start + columns() - 1, last),
    };
    const next = places[event.key];
    if (next === undefined) return;
    event.preventDefault();
    /** @type {(at: number) => HTMLElement | null} */
    const cellAt = (at) => grid.querySelector(`[data-at="${at}"]`);
    const [cell, before] = [cellAt(next), cellAt(here)];
    if (!cell || !before) return;
    [before.tabIndex, cell.tabIndex] = [-1, 0];
    moved(next);
    cell.focus();
  });
};

/**
 * The rows of the grid for some heads: with a title for each layer and head if they are in their places.
 * @type {(
 *   page: Page, shown: OneHead[], placed: boolean,
 *   cell: (one: OneHead) => { label: string, measure: string | null, badge: string | null },
 * ) => HTMLElement[]}
 */
export const gridRows = (page, shown, placed, cell) => {
  const { heads } = page.trace;
  /** @type {(role: string, text: string, label?: string) => HTMLElement} */
  const title = (role, text, label) => element("span", { role, class: "title", "aria-label": label }, text);
  const rows = [];
  if (placed) {
    const tops = Array.from({ length: heads }, (_, head) => title("columnheader", `H${head}`));
    rows.push(element("div", { role: "row", class: "line" }, title("columnheader", "", page.say("layer")), ...tops));
  }
  for (let at = 0; at < shown.length; at += heads) {
    const side = placed && title("rowheader", `L${shown[at].layer}`);
    const line = shown.slice(at, at + heads).map((one, beside) => {
      const { label, measure, badge } = cell(one);
      // A head with one line has no further elements: there may be a thousand heads.
      const texts = measure && badge ? [element("span", {}, measure), element("span", {}, badge)] : [measure ?? badge];
      return element("button", {
        type: "button", tabindex: -1, role: "gridcell", class: "head", "data-at": at + beside, "aria-label": label,
        "data-focus": `L${one.layer}H${one.head}`,
      }, ...texts);
    });
    rows.push(element("div", { role: "row", class: "line" }, side, ...line));
  }
  return rows;
};
