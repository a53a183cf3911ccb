// The overview: every head of every layer as a small picture, in the order that is asked for.

import { ramp } from "../drawing/colour.js";
import { button, choice, element } from "../drawing/dom.js";
import { figure, percent } from "../drawing/labels.js";
import { svgOf } from "../drawing/svg.js";

const HEADS = 1024; // that are drawn at once
const CAPTIONED = 50; // pixels: narrower pictures have no room for a caption
const ORDERS = ["place", "entropy", "distance", "aside"];
const WIDEST = { few: 104, many: 60 }; // pixels of a picture, where layers are few or many

// Whether a causal mask hides all of cell (row, column) of a picture of `rows` × `columns`, over N tokens.
const ahead = (row, column, rows, columns, N) =>
  Math.floor((column * N) / columns) > Math.floor(((row + 1) * N) / rows) - 1;

// A number in few digits; what isn't nothing is never shown as 0.
const brief = (value, digits) => {
  const least = 10 ** -digits;
  return value > 0 && value < least / 2 ? `<${least}` : figure(value, digits);
};

const rgb = (text) => {
  const [red, green, blue] = text.trim().match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16));
  return [red, green, blue];
};

export const createOverview = (page) => {
  const fetched = new Map(); // the pictures of each trace
  let [pictures, shown, drawn, from, resting] = [null, [], "", 0, null];

  const readout = element("p", { class: "readout" });
  const tools = element("div", { class: "pickers" });
  const canvas = element("canvas", { "aria-hidden": "true" });
  const grid = element("div", { class: "heads", role: "grid" });
  const board = element("div", { class: "board" }, canvas, grid);
  const legend = element("p", { class: "quiet basis" });
  const whole = element("div", { class: "overview" }, tools, readout, board, legend);

  const orders = () => ORDERS.filter((order) => order !== "distance" || page.trace.distance);
  const order = () => (orders().includes(page.state.order) ? page.state.order : "place");

  // All heads in the order that is asked for: first the sharpest, the farthest, or the most set aside.
  const ordered = () => {
    const { trace } = page;
    const all = trace.entropy.flatMap((heads, layer) => heads.map((_, head) => ({ layer, head })));
    const measure = { entropy: trace.entropy, distance: trace.distance, aside: trace.aside }[order()];
    if (!measure) return all;
    const sign = order() === "entropy" ? 1 : -1;
    return all.sort((one, other) => sign * (measure[one.layer][one.head] - measure[other.layer][other.head]));
  };

  const measured = ({ layer, head }) => {
    const { entropy, distance, aside } = page.trace;
    return [entropy[layer][head], distance ? distance[layer][head] : null, aside[layer][head]];
  };

  const said = (place) => {
    const [entropy, distance, aside] = measured(place);
    const values = {
      layer: place.layer + 1, head: place.head + 1,
      entropy: brief(entropy, 2), distance: distance === null ? "" : brief(distance, 1), aside: percent(aside),
    };
    return page.say(distance === null ? "overview.head.cross" : "overview.head", values);
  };

  const caption = (place) => {
    const [entropy, distance, aside] = measured(place);
    if (order() === "place") return brief(entropy, 2);
    const numbers = { entropy: brief(entropy, 2), distance: brief(distance ?? 0, 1), aside: percent(aside) };
    return `${place.layer + 1}.${place.head + 1} · ${numbers[order()]}`;
  };

  const told = (place) => {
    const { layer, head } = page.state;
    const at = place ?? (typeof head === "number" ? { layer, head } : null);
    readout.textContent = at ? said(at) : page.say("overview.hint");
    readout.classList.toggle("quiet", !at);
  };

  const perPage = () => Math.max(Math.floor(HEADS / page.trace.heads), 1) * page.trace.heads;

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
      const title = (role, text, label) => element("span", { role, class: "title", "aria-label": label }, text);
      const rows = [];
      if (place) {
        const numbers = Array.from({ length: heads }, (_, head) => head + 1);
        const tops = numbers.map((head) => title("columnheader", String(head), page.say("head.one", { head })));
        const corner = title("columnheader", "", page.say("layer"));
        rows.push(element("div", { role: "row", class: "line" }, corner, ...tops));
      }
      for (let at = 0; at < shown.length; at += heads) {
        const layer = shown[at].layer + 1;
        const side = place && title("rowheader", String(layer), page.say("overview.layer", { layer }));
        const line = shown.slice(at, at + heads).map((one, beside) => {
          const attributes = { role: "gridcell", class: "head", "data-at": at + beside, "aria-label": said(one) };
          return element("button", { type: "button", tabindex: -1, ...attributes }, caption(one));
        });
        rows.push(element("div", { role: "row", class: "line" }, side, ...line));
      }
      grid.style.setProperty("--heads", heads);
      grid.style.setProperty("--widest", `${trace.depth > 16 ? WIDEST.many : WIDEST.few}px`);
      grid.dataset.order = place ? "place" : "sorted";
      grid.setAttribute("aria-label", page.say("view.overview"));
      grid.replaceChildren(...rows);
      if (focused) grid.querySelector(`[data-at="${resting}"]`)?.focus();
    }
    const current = shown.findIndex(({ layer, head }) => layer === state.layer && head === state.head);
    for (const cell of grid.querySelectorAll(".head")) {
      const at = Number(cell.dataset.at);
      cell.tabIndex = at === resting ? 0 : -1;
      if (at === current) cell.setAttribute("aria-current", "true");
      else cell.removeAttribute("aria-current");
    }
    for (const side of grid.querySelectorAll("[role=rowheader]")) {
      side.classList.toggle("now", side.textContent === String(state.layer + 1));
    }
  };

  const image = (place, colours, hidden) => {
    const [, heads, rows, columns] = pictures.shape;
    const first = (place.layer * heads + place.head) * rows * columns;
    const pixels = new ImageData(columns, rows);
    const { mask } = page.trace.layers[place.layer];
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const at = row * columns + column;
        const barred = mask.kind === "causal" && ahead(row, column, rows, columns, page.trace.queries.length);
        pixels.data.set(barred ? hidden : colours[pictures.bytes[first + at]], 4 * at);
        pixels.data[4 * at + 3] = 255;
      }
    }
    return pixels;
  };

  const paint = () => {
    if (!pictures || !board.isConnected) return;
    const cellsNow = [...grid.querySelectorAll(".head")];
    const origin = board.getBoundingClientRect();
    const captioned = cellsNow[0].getBoundingClientRect().width >= CAPTIONED;
    grid.dataset.captions = captioned ? "yes" : "no";
    const below = order() === "place" ? "entropy" : order();
    legend.textContent = `${captioned ? `${page.say(`overview.below.${below}`)} ` : ""}${page.say("overview.basis")}`;
    const [width, height] = [grid.offsetWidth + 2 * grid.offsetLeft, grid.offsetHeight + 2 * grid.offsetTop];
    const density = Math.min(devicePixelRatio, 2);
    [canvas.width, canvas.height] = [Math.round(width * density), Math.round(height * density)];
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    const pen = canvas.getContext("2d");
    pen.imageSmoothingEnabled = false;
    const one = new OffscreenCanvas(pictures.shape[3], pictures.shape[2]);
    const small = one.getContext("2d");
    const style = getComputedStyle(board);
    const [colours, hidden] = [ramp(page.dark), rgb(style.getPropertyValue("--hidden"))];
    pen.strokeStyle = style.getPropertyValue("--line");
    for (const cell of cellsNow) {
      const box = cell.getBoundingClientRect();
      small.putImageData(image(shown[Number(cell.dataset.at)], colours, hidden), 0, 0);
      const place = [box.left - origin.left + board.scrollLeft, box.top - origin.top, box.width];
      const [x, y, side] = place.map((value) => Math.round(value * density));
      pen.drawImage(one, x, y, side, side);
      pen.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
    }
  };

  const chosen = () => {
    const texts = orders().map((name) => [name, page.say(`order.${name}`)]);
    const count = page.trace.depth * page.trace.heads;
    const step = (by) => {
      from = Math.min(Math.max(from + by * perPage(), 0), count - 1);
      cells();
      paint();
    };
    const turn = (sign, by, key) => button(sign, () => step(by), { class: "plain", "aria-label": page.say(key) });
    tools.replaceChildren(
      element("span", { class: "caption", "aria-hidden": "true" }, page.say("order")),
      choice(page.say("order"), texts, order(), (value) => page.set({ order: value })),
      ...(count > perPage() ? [turn("‹", -1, "overview.before"), turn("›", 1, "overview.after")] : []),
    );
  };

  const update = async () => {
    const current = page.current();
    const focused = tools.contains(document.activeElement);
    chosen();
    if (focused) tools.querySelector("select").focus();
    told(null);
    cells();
    const { trace } = page;
    if (!fetched.has(trace.index)) fetched.set(trace.index, page.source.overview(trace));
    const found = await fetched.get(trace.index);
    if (!current()) return;
    pictures = found;
    paint();
  };

  const at = (event) => {
    const cell = event.target.closest?.(".head");
    return cell ? Number(cell.dataset.at) : null;
  };
  const pointed = (event) => told(at(event) === null ? null : shown[at(event)]);
  grid.addEventListener("pointerover", pointed);
  grid.addEventListener("pointerleave", () => told(null));
  grid.addEventListener("focusin", pointed);
  grid.addEventListener("focusout", () => told(null));
  grid.addEventListener("click", (event) => at(event) !== null && page.set({ ...shown[at(event)], view: "matrix" }));
  grid.addEventListener("keydown", (event) => {
    const here = at(event);
    if (here === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const { heads } = page.trace;
    const start = here - (here % heads);
    const next = {
      ArrowLeft: here - 1, ArrowRight: here + 1, ArrowUp: here - heads, ArrowDown: here + heads,
      Home: start, End: Math.min(start + heads, shown.length) - 1,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const cell = grid.querySelector(`[data-at="${next}"]`);
    if (!cell) return;
    grid.querySelector(`[data-at="${here}"]`).tabIndex = -1;
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
      return [place.layer + 1, place.head + 1, entropy, distance ?? "", aside];
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
