// The list of examples, of which only the rows in sight are drawn: a hundred thousand scroll as well as ten.

import { contextOf, element, shape, targetOf } from "../../drawing/dom.js";
import { onScale } from "../../drawing/labels.js";
import { localNumber } from "../../language.js";
import { excerpt } from "./excerpt.js";
import { lookSaid, sourceSaid } from "./example_words.js";
import { drawLinks } from "./row_links.js";
import { tokenLine } from "./token_spans.js";

const ROW = 92; // pixels, as in the style
const LINKS = 34; // of them above the tokens
const TALLEST = 12e6; // pixels: browsers draw no taller elements, so rows of a longer list lie closer than they are
const BEYOND = 6; // rows drawn beyond those in sight
const PADDING = 28; // pixels of a row's sides and the marks around its tokens

/**
 * The list; `choose` is called with the rank of a row that was chosen.
 * @param {SurveyPage} page
 * @param {(rank: number) => void} choose
 */
export const createExampleList = (page, choose) => {
  const room = element("div", { class: "example-room" });
  const scroller = element("div", { class: "example-list", role: "listbox", tabindex: 0 }, room);
  /** @type {ExamplePages | null} */
  let pages = null;
  /** @type {SortName} */
  let sort = "largest";
  let [count, end, active, dark] = [0, 1, 0, false];
  /** @type {Map<number, { row: HTMLElement, whole: boolean, links: () => void }>} The drawn rows by rank. */
  let drawn = new Map();
  const pen = contextOf(document.createElement("canvas"));
  /** @type {Map<string, number>} */
  const widths = new Map();
  let scheduled = 0;

  /** @type {(text: string) => number} */
  const wide = (text) => {
    let width = widths.get(text);
    if (width === undefined) {
      width = pen.measureText(text).width;
      if (widths.size > 20000) widths.clear();
      widths.set(text, width);
    }
    return width;
  };

  const tall = () => Math.min(count * ROW, TALLEST);
  // How many pixels of the list one pixel of scrolling is.
  const pace = () => {
    const seen = scroller.clientHeight;
    return count * ROW <= TALLEST ? 1 : (count * ROW - seen) / Math.max(tall() - seen, 1);
  };
  const top = () => scroller.scrollTop * pace();

  /** @type {(rank: number) => string} */
  const idOf = (rank) => `${page.id}-example-${rank}`;

  /** @type {(rank: number) => { row: HTMLElement, whole: boolean, links: () => void }} */
  const made = (rank) => {
    const example = pages?.get(sort, rank);
    const attributes = {
      class: "example", role: "option", id: idOf(rank), "data-rank": rank, "aria-setsize": count,
      "aria-posinset": rank + 1, "aria-selected": String(rank === active),
    };
    if (!example) {
      const text = example === null ? "…" : page.say("survey.head.not.held");
      return { row: element("div", attributes, element("div", { class: "look-about quiet" }, text)), whole: example !== null, links: () => {} };
    }
    const { tokens, special } = example;
    const parts = excerpt(example, scroller.clientWidth - PADDING,
      (at) => wide(tokens[at]) + (special[at] ? 24 : 3), wide(" … ") + 4);
    const { line, spans } = tokenLine(page, example, parts, end);
    const layer = shape("svg", { class: "row-links", "aria-hidden": "true", focusable: "false" });
    const about = element("div", { class: "look-about quiet" },
      element("b", {}, `${localNumber(page, rank + 1)}.`), " ", onScale(example.weight, end), " · ", lookSaid(page, example, end), " · ",
      sourceSaid(page, example));
    const row = element("div", attributes, layer, line, about);
    return { row, whole: true, links: () => drawLinks(layer, example, spans, end, LINKS) };
  };

  const draw = () => {
    scheduled = 0;
    const [seen, above] = [scroller.clientHeight, top()];
    const first = Math.max(Math.floor(above / ROW) - BEYOND, 0);
    const last = Math.min(Math.ceil((above + seen) / ROW) + BEYOND, count);
    if (pages && last > first) pages.need(sort, first, last);
    for (const [rank, { row }] of drawn) {
      if (rank >= first && rank < last) continue;
      row.remove();
      drawn.delete(rank);
    }
    const style = getComputedStyle(scroller);
    pen.font = `${style.fontSize} ${style.fontFamily}`;
    /** @type {(() => void)[]} */
    const links = [];
    for (let rank = first; rank < last; rank++) {
      let one = drawn.get(rank);
      if (!one || (!one.whole && pages?.get(sort, rank) !== null)) {
        one?.row.remove();
        one = made(rank);
        drawn.set(rank, one);
        room.append(one.row);
        links.push(one.links);
      }
      // The place of a row in a list whose rows are closer than they are tall depends on where one has scrolled.
      one.row.style.transform = `translateY(${Math.round(rank * ROW - above + scroller.scrollTop)}px)`;
      one.row.setAttribute("aria-selected", String(rank === active));
    }
    // Measured after all rows are there: one layout for all of them.
    for (const link of links) link();
    if (count) scroller.setAttribute("aria-activedescendant", idOf(active));
    else scroller.removeAttribute("aria-activedescendant");
  };
  const later = () => {
    if (!scheduled) scheduled = requestAnimationFrame(draw);
  };

  /** Scroll so that a row is in sight. @type {(rank: number) => void} */
  const reveal = (rank) => {
    const [seen, above] = [scroller.clientHeight, top()];
    if (rank * ROW < above) scroller.scrollTop = (rank * ROW) / pace();
    else if ((rank + 1) * ROW > above + seen) scroller.scrollTop = ((rank + 1) * ROW - seen) / pace();
  };
  /** @type {(rank: number) => void} */
  const go = (rank) => {
    active = Math.min(Math.max(rank, 0), count - 1);
    reveal(active);
    later();
    choose(active);
  };

  scroller.addEventListener("scroll", later, { passive: true });
  scroller.addEventListener("click", (event) => {
    const row = targetOf(event, ".example");
    if (row) go(Number(row.dataset.rank));
  });
  scroller.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !count) return;
    const many = Math.max(Math.floor(scroller.clientHeight / ROW) - 1, 1);
    const steps = /** @type {Record<string, number>} */ ({
      ArrowDown: 1, ArrowUp: -1, PageDown: many, PageUp: -many, Home: -count, End: count,
    });
    if (!Object.hasOwn(steps, event.key)) return;
    event.preventDefault();
    go(active + steps[event.key]);
  });
  const watch = new ResizeObserver(() => {
    clear();
    later();
  });
  watch.observe(scroller);

  const clear = () => {
    for (const { row } of drawn.values()) row.remove();
    drawn = new Map();
  };

  /**
   * Show a head's examples of a sort, `scale` the end of their weights' scale, and which one is chosen.
   * @type {(
   *   from: ExamplePages, of: SortName, scale: number,
   *   chosen: number,
   * ) => void}
   */
  const show = (from, of, scale, chosen) => {
    const others = from !== pages || of !== sort || count !== from.totals[of];
    if (others || scale !== end || page.dark !== dark) clear();
    [pages, sort, end, dark] = [from, of, scale, page.dark];
    count = from.totals[of];
    scroller.setAttribute("aria-label", page.say(`survey.head.sort.${of}`));
    room.style.height = `${tall()}px`;
    active = chosen;
    if (others) {
      scroller.scrollTop = 0;
      reveal(active);
    }
    later();
  };
  /** Draw all rows anew: in another language. */
  const again = () => {
    clear();
    later();
  };
  return {
    element: scroller, show, again,
    destroy() {
      watch.disconnect();
      cancelAnimationFrame(scheduled);
    },
  };
};
