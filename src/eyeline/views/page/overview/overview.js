// The overview: a small picture of every head of every layer, in the chosen order.

import { ramp } from "../drawing/colour.js";
import { button, choice, contextOf, element, targetOf } from "../drawing/dom.js";
import { figure, percent } from "../drawing/labels.js";
import { svgOf } from "../drawing/svg.js";

const HEADS = 1024; // heads drawn at once
const CAPTIONED = 50; // pixels: narrower pictures have no room for a caption
/** @type {Order[]} */
const ORDERS = ["place", "entropy", "distance", "aside"];
const WIDEST = { few: 104, many: 60 }; // pixels of a picture, where layers are few or many

/** @typedef {{ layer: number, head: number }} OneHead */

/**
 * Whether a causal mask hides all of cell (row, column) of a picture of `rows` × `columns`, over N tokens.
 * @type {(row: number, column: number, rows: number, columns: number, N: number) => boolean}
 */
const ahead = (row, column, rows, columns, N) =>
  Math.floor((column * N) / columns) > Math.floor(((row + 1) * N) / rows) - 1;

/** A number in few digits; only 0 is shown as 0. @type {(value: number, digits: number) => string} */
const brief = (value, digits) => {
  const least = 10 ** -digits;
  return value > 0 && value < least / 2 ? `<${least}` : figure(value, digits);
};

/** The numbers of a colour of the style sheet, "#rrggbb". @type {(text: string) => RGB} */
const rgb = (text) => {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(text.trim().slice(at, at + 2), 16));
  return [red, green, blue];
};

/** The view. @type {(page: Page) => View} */
export const createOverview = (page) => {
  /** @type {Map<number, Promise<Pictures>>} The pictures of each trace. */
  const fetched = new Map();
  /** @type {Pictures | null} */
  let pictures = null;
  /** @type {OneHead[]} The drawn heads. */
  let shown = [];
  let drawn = ""; // the key of the drawing
  let from = 0; // the index of the first drawn head in the order
  let resting = 0; // the drawn head that Tab focuses

  const readout = element("p", { class: "readout" });
  const tools = element("div", { class: "pickers" });
  const canvas = element("canvas", { "aria-hidden": "true" });
  const grid = element("div", { class: "heads", role: "grid" });
  const board = element("div", { class: "board" }, canvas, grid);
  const legend = element("p", { class: "quiet basis" });
  const whole = element("div", { class: "overview" }, tools, readout, board, legend);

  /** @type {() => Order[]} */
  const orders = () => ORDERS.filter((order) => order !== "distance" || page.trace.distance);
  /** @type {() => Order} */
  const order = () => (orders().includes(page.state.order) ? page.state.order : "place");

  // All heads in the chosen order: by layer, or first those with the least entropy, the largest distance or the most
  // weight set aside.
  const ordered = () => {
    const { trace } = page;
    const all = trace.entropy.flatMap((heads, layer) => heads.map((_, head) => ({ layer, head })));
    const { entropy, distance, aside } = trace;
    const measure = { place: null, entropy, distance, aside }[order()];
    if (!measure) return all;
    const sign = order() === "entropy" ? 1 : -1;
    return all.sort((one, other) => sign * (measure[one.layer][one.head] - measure[other.layer][other.head]));
  };

  /** @type {(one: OneHead) => [entropy: number, distance: number | null, aside: number]} */
  const measured = ({ layer, head }) => {
    const { entropy, distance, aside } = page.trace;
    return [entropy[layer][head], distance ? distance[layer][head] : null, aside[layer][head]];
  };

  /** @type {(one: OneHead) => string} */
  const said = (one) => {
    const [entropy, distance, aside] = measured(one);
    const values = {
      ...one, entropy: brief(entropy, 2), distance: distance === null ? "" : brief(distance, 1), aside: percent(aside),
    };
    return page.say(distance === null ? "overview.head.cross" : "overview.head", values);
  };

  /** @type {(one: OneHead) => string} */
  const caption = (one) => {
    const [entropy, distance, aside] = measured(one);
    const by = order();
    if (by === "place") return brief(entropy, 2);
    const numbers = { entropy: brief(entropy, 2), distance: brief(distance ?? 0, 1), aside: percent(aside) };
    return `L${one.layer}H${one.head} · ${numbers[by]}`;
  };

  /** @type {(place: OneHead | null) => void} */
  const told = (place) => {
    const { layer, head } = page.state;
    const at = place ?? (typeof head === "number" ? { layer, head } : null);
    readout.textContent = at ? said(at) : page.say("overview.hint");
    readout.classList.toggle("quiet", !at);
  };

  const perPage = () => Math.max(Math.floor(HEADS / page.trace.heads), 1) * page.trace.heads;

  /** @type {() => HTMLElement[]} */
  const allCells = () => [.../** @type {NodeListOf<HTMLElement>} */ (grid.querySelectorAll(".head"))];
  /** @type {(at: number) => HTMLElement | null} */
  const cellAt = (at) => grid.querySelector(`[data-at="${at}"]`);

  const cells = () => {
    const { trace, state } = page;
    const { heads, index } = trace;
    const list = ordered();
    from = Math.min(from, Math.floor((list.length - 1) / perPage()) * perPage());
    const now = [index, order(), page.language, from].join();
    if (now !== drawn) {
      const focused = grid.contains(document.activeElement);
      drawn = now;
      shown = list.slice(from, from + perPage());
      const start = typeof state.head === "number" ? state.head : 0;
      resting = Math.max(shown.findIndex(({ layer, head }) => layer === state.layer && head === start), 0);
      const place = order() === "place";
      /** @type {(role: string, text: string, label?: string) => HTMLElement} */
      const title = (role, text, label) => element("span", { role, class: "title", "aria-label": label }, text);
      const rows = [];
      if (place) {
        const tops = Array.from({ length: heads }, (_, head) => title("columnheader", `H${head}`));
        const corner = title("columnheader", "", page.say("layer"));
        rows.push(element("div", { role: "row", class: "line" }, corner, ...tops));
      }
      for (let at = 0; at < shown.length; at += heads) {
        const side = place && title("rowheader", `L${shown[at].layer}`);
        const line = shown.slice(at, at + heads).map((one, beside) => {
          const attributes = { role: "gridcell", class: "head", "data-at": at + beside, "aria-label": said(one) };
          return element("button", { type: "button", tabindex: -1, ...attributes }, caption(one));
        });
        rows.push(element("div", { role: "row", class: "line" }, side, ...line));
      }
      grid.style.setProperty("--heads", String(heads));
      grid.style.setProperty("--widest", `${trace.depth > 16 ? WIDEST.many : WIDEST.few}px`);
      grid.dataset.order = place ? "place" : "sorted";
      grid.setAttribute("aria-label", page.say("view.overview"));
      grid.replaceChildren(...rows);
      if (focused) cellAt(resting)?.focus();
    }
    const current = shown.findIndex(({ layer, head }) => layer === state.layer && head === state.head);
    for (const cell of allCells()) {
      const at = Number(cell.dataset.at);
      cell.tabIndex = at === resting ? 0 : -1;
      if (at === current) cell.setAttribute("aria-current", "true");
      else cell.removeAttribute("aria-current");
    }
    for (const side of grid.querySelectorAll("[role=rowheader]")) {
      side.classList.toggle("now", side.textContent === `L${state.layer}`);
    }
  };

  /** @type {(found: Pictures, one: OneHead, colours: RGB[], hidden: RGB) => ImageData} */
  const image = (found, one, colours, hidden) => {
    const [, heads, rows, columns] = found.shape;
    const first = (one.layer * heads + one.head) * rows * columns;
    const pixels = new ImageData(columns, rows);
    const { mask } = page.trace.layers[one.layer];
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const at = row * columns + column;
        const barred = mask.kind === "causal" && ahead(row, column, rows, columns, page.trace.queries.length);
        pixels.data.set(barred ? hidden : colours[found.bytes[first + at]], 4 * at);
        pixels.data[4 * at + 3] = 255;
      }
    }
    return pixels;
  };

  const paint = () => {
    if (!pictures || !board.isConnected) return;
    const cellsNow = allCells();
    const origin = board.getBoundingClientRect();
    const captioned = cellsNow[0].getBoundingClientRect().width >= CAPTIONED;
    grid.dataset.captions = captioned ? "yes" : "no";
    const by = order();
    const below = by === "place" ? "entropy" : by;
    legend.textContent = `${captioned ? `${page.say(`overview.below.${below}`)} ` : ""}${page.say("overview.basis")}`;
    const [width, height] = [grid.offsetWidth + 2 * grid.offsetLeft, grid.offsetHeight + 2 * grid.offsetTop];
    const density = Math.min(devicePixelRatio, 2);
    [canvas.width, canvas.height] = [Math.round(width * density), Math.round(height * density)];
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    const pen = contextOf(canvas);
    pen.imageSmoothingEnabled = false;
    const one = element("canvas", { width: pictures.shape[3], height: pictures.shape[2] });
    const small = contextOf(one);
    const style = getComputedStyle(board);
    const [colours, hidden] = [ramp(page.dark), rgb(style.getPropertyValue("--hidden"))];
    pen.strokeStyle = style.getPropertyValue("--line");
    for (const cell of cellsNow) {
      const box = cell.getBoundingClientRect();
      small.putImageData(image(pictures, shown[Number(cell.dataset.at)], colours, hidden), 0, 0);
      const place = [box.left - origin.left + board.scrollLeft, box.top - origin.top, box.width];
      const [x, y, side] = place.map((value) => Math.round(value * density));
      pen.drawImage(one, x, y, side, side);
      pen.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
    }
  };

  const chosen = () => {
    /** @type {[name: Order, text: string][]} */
    const texts = orders().map((name) => [name, page.say(`order.${name}`)]);
    const count = page.trace.depth * page.trace.heads;
    /** @type {(by: number) => void} */
    const step = (by) => {
      from = Math.min(Math.max(from + by * perPage(), 0), count - 1);
      cells();
      paint();
    };
    /** @type {(sign: string, by: number, key: string) => HTMLElement} */
    const turn = (sign, by, key) => button(sign, () => step(by), { class: "plain", "aria-label": page.say(key) });
    tools.replaceChildren(
      element("span", { class: "caption", "aria-hidden": "true" }, page.say("order")),
      choice(page.say("order"), texts, order(), (value) => page.set({ order: ORDERS.find((one) => one === value) })),
      ...(count > perPage() ? [turn("‹", -1, "overview.before"), turn("›", 1, "overview.after")] : []),
    );
  };

  const update = async () => {
    const current = page.current();
    const focused = tools.contains(document.activeElement);
    chosen();
    if (focused) tools.querySelector("select")?.focus();
    told(null);
    cells();
    const { trace } = page;
    const asked = fetched.get(trace.index) ?? page.host.overview(trace);
    fetched.set(trace.index, asked);
    const found = await asked;
    if (!current()) return;
    pictures = found;
    paint();
  };

  /** @type {(event: Event) => number | null} */
  const at = (event) => {
    const cell = targetOf(event, ".head");
    return cell ? Number(cell.dataset.at) : null;
  };
  /** @type {(event: Event) => void} */
  const pointed = (event) => {
    const place = at(event);
    told(place === null ? null : shown[place]);
  };
  grid.addEventListener("pointerover", pointed);
  grid.addEventListener("pointerleave", () => told(null));
  grid.addEventListener("focusin", pointed);
  grid.addEventListener("focusout", () => told(null));
  grid.addEventListener("click", (event) => {
    const place = at(event);
    if (place !== null) page.set({ ...shown[place], view: "matrix" });
  });
  grid.addEventListener("keydown", (event) => {
    const here = at(event);
    if (here === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const { heads } = page.trace;
    const start = here - (here % heads);
    /** @type {Record<string, number>} */
    const places = {
      ArrowLeft: here - 1, ArrowRight: here + 1, ArrowUp: here - heads, ArrowDown: here + heads,
      Home: start, End: Math.min(start + heads, shown.length) - 1,
    };
    const next = places[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const [cell, before] = [cellAt(next), cellAt(here)];
    if (!cell || !before) return;
    before.tabIndex = -1;
    resting = next;
    cell.tabIndex = 0;
    cell.focus();
  });
  const resized = new ResizeObserver(paint);
  resized.observe(board);

  const numbers = () => ({
    name: "heads",
    columns: ["layer", "head", "entropy", "distance", "aside"],
    rows: ordered().map((place) => {
      const [entropy, distance, aside] = measured(place);
      return [place.layer, place.head, entropy, distance ?? "", aside];
    }),
  });

  return {
    element: whole,
    update,
    numbers,
    picture: () => svgOf(whole, [board, legend]),
    destroy: () => resized.disconnect(),
  };
};
