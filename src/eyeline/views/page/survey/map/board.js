// One map on the page: a canvas, a cursor that the keys move from head to head, and the words of the head it is on.

import { contextOf, element } from "../../drawing/dom.js";
import { drawMap } from "./drawing.js";
import { cellAt, cornerOf, layoutOf, stepFrom } from "./layout.js";
import { canvasPen } from "./pens.js";

const APART = 6; // pixels between a cell and its tooltip
const SIDE = 154; // pixels at the end of each row, where there is room

/**
 * The board; `opened` is called with the head that is chosen, flat.
 * @param {SurveyPage} page
 * @param {(at: number) => void} opened
 */
export const createBoard = (page, opened) => {
  const canvas = element("canvas", { class: "painted", "aria-hidden": "true" });
  const cursor = element("button", { type: "button", class: "map-cursor", "aria-describedby": `${page.id}-map-keys` });
  const stage = element("div", { class: "map-stage" }, canvas, cursor);
  const scroller = element("div", { class: "map-scroller" }, stage);
  const tip = element("div", { class: "map-tip", hidden: true, "aria-hidden": "true" });
  const caption = element("h2", { class: "map-title" });
  const whole = element("div", { class: "map-board", role: "group" }, caption, scroller, tip);
  /** @type {MapContent | null} */
  let content = null;
  /** @type {MapLayout | null} */
  let layout = null;
  let cell = 0; // the cursor's
  let order = ""; // of which the cursor's cell is

  /** @type {(name: string) => string} */
  const colour = (name) => getComputedStyle(whole).getPropertyValue(name).trim();

  let told = -1; // the cell of the tooltip
  const hideTip = () => {
    tip.hidden = true;
  };
  /** Show the words of a cell beside it. @type {(at: number) => void} */
  const tell = (at) => {
    if (!content || !layout || (at === told && !tip.hidden)) return;
    told = at;
    const [first, ...others] = content.texts(layout.heads[at]);
    tip.replaceChildren(
      element("p", {}, element("strong", {}, first)), ...others.map((text) => element("p", { class: "quiet" }, text)),
    );
    tip.hidden = false;
    const [x, y] = cornerOf(layout, at);
    const [box, origin] = [canvas.getBoundingClientRect(), whole.getBoundingClientRect()];
    const [left, top] = [box.left - origin.left + x, box.top - origin.top + y];
    const middle = left + layout.width / 2 - tip.offsetWidth / 2;
    tip.style.left = `${Math.max(Math.min(middle, whole.clientWidth - tip.offsetWidth), 0)}px`;
    const under = box.top + y + layout.height + APART + tip.offsetHeight <= innerHeight;
    tip.style.top = `${under ? top + layout.height + APART : top - APART - tip.offsetHeight}px`;
  };
  const place = () => {
    if (!content || !layout) return;
    const [x, y] = cornerOf(layout, cell);
    const { width, height, gap } = layout;
    Object.assign(cursor.style, {
      left: `${x}px`, top: `${y}px`, width: `${width - gap}px`, height: `${height - gap}px`,
    });
    cursor.setAttribute("aria-label", content.texts(layout.heads[cell]).join(". "));
  };
  const paint = () => {
    const room = scroller.clientWidth;
    if (!content || !room) return;
    const side = room > 560 ? SIDE : 0;
    layout = layoutOf(content.order, content.values, content.heads, room, side);
    const [width, height] = layout.whole;
    const dots = devicePixelRatio || 1;
    [canvas.width, canvas.height] = [Math.round(width * dots), Math.round(height * dots)];
    Object.assign(stage.style, { width: `${width}px`, height: `${height}px` });
    const context = contextOf(canvas);
    context.setTransform(dots, 0, 0, dots, 0, 0);
    context.clearRect(0, 0, width, height);
    drawMap(canvasPen(context), content, layout, { dark: page.dark, colour });
    const now = [content.order, content.start, content.measure].join();
    if (now !== order) {
      cell = Math.max(layout.heads.indexOf(content.start), 0);
      order = now;
    }
    place();
  };
  /** @type {(event: { clientX: number, clientY: number }) => number | null} */
  const pointed = ({ clientX, clientY }) => {
    const box = canvas.getBoundingClientRect();
    return layout && cellAt(layout, clientX - box.left, clientY - box.top);
  };

  stage.addEventListener("pointermove", (event) => {
    const at = pointed(event);
    stage.classList.toggle("on-cell", at !== null);
    if (at === null) hideTip();
    else tell(at);
  });
  stage.addEventListener("pointerleave", hideTip);
  scroller.addEventListener("scroll", hideTip);
  stage.addEventListener("click", (event) => {
    // A key's press on the cursor is a click without a place.
    const at = event.detail ? pointed(event) : cell;
    if (at !== null && layout) opened(layout.heads[at]);
  });
  cursor.addEventListener("focus", () => cursor.matches(":focus-visible") && tell(cell));
  cursor.addEventListener("blur", hideTip);
  cursor.addEventListener("keydown", (event) => {
    if (!layout || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = stepFrom(layout, cell, event.key);
    if (event.key === "Escape" && !tip.hidden) hideTip();
    else if (next === null) return;
    event.preventDefault();
    event.stopPropagation();
    if (next === null || next === cell) return;
    cell = next;
    place();
    cursor.scrollIntoView({ block: "nearest", inline: "nearest" });
    tell(cell);
    page.announce(cursor.getAttribute("aria-label") ?? "");
  });
  const resized = new ResizeObserver(() => paint());
  resized.observe(scroller);

  return {
    element: whole,
    /** Show new numbers. @param {MapContent} shown */
    update(shown) {
      content = shown;
      hideTip();
      whole.setAttribute("aria-label", shown.title);
      caption.textContent = shown.title;
      paint();
    },
    /** What is shown, for a picture: as wide as on the page. */
    shown: () => ({ content, room: scroller.clientWidth || 900 }),
    colour,
    destroy: () => resized.disconnect(),
  };
};
