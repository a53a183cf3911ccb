// The overview: a small picture of every head of every layer, in the chosen order.

import { button, choice, contextOf, element } from "../drawing/dom.js";
import { isolated, labelled, percent } from "../drawing/labels.js";
import { svgOf } from "../drawing/svg.js";
import { captioned, relabelled } from "../pickers.js";
import { countedKinds, kindsOf } from "../weights/kinds.js";
import { gridRows, headAt, listenForSteps } from "./grid.js";
import { badge, caption, doing, findingOf, measuresOf, measuring } from "./head_words.js";
import { fillKindFilter } from "./kind_filter.js";
import { legendParts } from "./legend.js";
import { pairLists, pairNumbers, pairOf } from "./pair_order.js";
import { Thumbnails, cellIsPair } from "./thumbnails.js";

const HEADS = 1024; // heads drawn at once
const CAPTIONED = 50; // pixels: narrower pictures have no room for a caption
const FADED = 0.14; // the opacity of the pictures of other kinds
const WIDEST = [112, 220]; // pixels of a picture, where layers are many or few:
const HIGH = 560; // pixels of all layers, where there is room
const APART = 6; // pixels between a picture and its tooltip
/** @type {Order[]} */
const ORDERS = ["place", "entropy", "distance", "aside", "pair"];
/** @type {State["thumbnails"][]} */
const SCALES = ["own", "shared"];

/** The numbers of a colour of the style sheet, "#rrggbb". @type {(text: string) => RGB} */
const rgb = (text) => {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(text.trim().slice(at, at + 2), 16));
  return [red, green, blue];
};

/** The view. @type {(page: Page) => View} */
export const createOverview = (page) => {
  /** @type {Map<number, Promise<Pictures>>} The pictures of each trace. */
  const fetched = new Map();
  /** @type {{ key: string, thumbnails: Thumbnails } | null} */
  let current = null;
  /** @type {{ key: string, numbers: number[][] } | null} What the pair of words has in each head. */
  let pair = null;
  /** @type {OneHead[]} The drawn heads. */
  let shown = [];
  let drawn = ""; // the key of the drawing
  let from = 0; // the index of the first drawn head in the order
  let resting = 0; // the drawn head that Tab focuses

  /** What matters, where the host knows it. */
  const matters = page.rooms.createMatters?.(page, () => paint()) ?? null;
  const tools = element("div", { class: "overview-tools" });
  const filter = element("div", { class: "overview-kinds", role: "group" });
  const legend = element("p", { class: "overview-legend quiet" });
  const canvas = element("canvas", { class: "painted", "aria-hidden": "true" });
  const grid = element("div", { class: "heads", role: "grid" });
  const board = element("div", { class: "board" }, canvas, grid);
  const tip = element("div", { class: "head-tip", hidden: true, "aria-hidden": "true" });
  const whole = element("div", { class: "overview" }, filter, legend, board, tip, tools);

  /** @type {() => Order[]} */
  const orders = () =>
    ORDERS.filter((order) => (order !== "distance" || page.trace.distance) && (order !== "pair" || pairOf(page)));
  /** @type {() => Order} */
  const order = () => (orders().includes(page.state.order) ? page.state.order : "place");
  /** Whether a head is of the kind that the state asks for. @type {(one: OneHead) => boolean} */
  const wanted = ({ layer, head }) => {
    const { kind } = page.state;
    return !kind || !page.trace.kinds || kindsOf(page.trace, layer, head).some(([name]) => name === kind);
  };

  // All heads in the chosen order: by layer, or first those with the least entropy, the largest distance, the most
  // weight set aside, or the most weight between the two chosen words.
  const ordered = () => {
    const { trace } = page;
    const all = trace.entropy.flatMap((heads, layer) => heads.map((_, head) => ({ layer, head })));
    const { entropy, distance, aside } = trace;
    const measure = { place: null, entropy, distance, aside, pair: pair?.numbers }[order()];
    if (!measure) return all;
    const sign = order() === "entropy" ? 1 : -1;
    return all.sort((one, other) => sign * (measure[one.layer][one.head] - measure[other.layer][other.head]));
  };

  /** How much the pair of words has in a head; empty in another order. @type {(one: OneHead) => string} */
  const paired = ({ layer, head }) => {
    const words = pairOf(page);
    if (!words || !pair || order() !== "pair") return "";
    const [query, key] = [isolated(labelled(words.query)), isolated(labelled(words.key))];
    return page.say("overview.pair.is", { query, key, share: percent(pair.numbers[layer][head]) });
  };
  /** @type {(one: OneHead) => string} */
  const measure = (one) => {
    const by = order();
    if (by !== "pair") return caption(page, one, by);
    return `L${one.layer}H${one.head} · ${percent(pair?.numbers[one.layer][one.head] ?? 0)}`;
  };
  /** @type {(one: OneHead) => string} */
  const said = (one) =>
    [doing(page, one), measuring(page, one), paired(one), matters?.said(one)].filter(Boolean).map((text) => `${text}.`).join(" ");

  const perPage = () => Math.max(Math.floor(HEADS / page.trace.heads), 1) * page.trace.heads;
  /** @type {() => HTMLElement[]} */
  const allCells = () => [.../** @type {NodeListOf<HTMLElement>} */ (grid.querySelectorAll(".head"))];
  /** @type {(at: number) => HTMLElement | null} */
  const cellAt = (at) => grid.querySelector(`[data-at="${at}"]`);

  const cells = () => {
    const { trace, state } = page;
    const list = ordered();
    from = Math.min(from, Math.floor((list.length - 1) / perPage()) * perPage());
    const now = [trace.serial, order(), order() === "pair" ? pair?.key : "", page.language, from].join();
    if (now !== drawn) {
      const focused = grid.contains(document.activeElement) ? document.activeElement?.getAttribute("data-focus") : null;
      drawn = now;
      shown = list.slice(from, from + perPage());
      const start = typeof state.head === "number" ? state.head : 0;
      resting = Math.max(shown.findIndex(({ layer, head }) => layer === state.layer && head === start), 0);
      const placed = order() === "place";
      grid.style.setProperty("--heads", String(trace.heads));
      const [least, most] = WIDEST;
      grid.style.setProperty("--widest", `${Math.min(Math.max(Math.round(HIGH / trace.depth), least), most)}px`);
      grid.dataset.order = placed ? "place" : "sorted";
      grid.setAttribute("aria-label", page.say("view.overview"));
      grid.replaceChildren(...gridRows(page, shown, placed, (one) => {
        const kind = badge(page, one);
        return { label: said(one), measure: placed && kind ? null : measure(one), badge: kind };
      }));
      const same = shown.findIndex(({ layer, head }) => focused === `L${layer}H${head}`);
      if (same >= 0) resting = same;
      if (focused) cellAt(resting)?.focus();
    }
    for (const cell of allCells()) {
      const at = Number(cell.dataset.at);
      const { layer, head } = shown[at];
      cell.tabIndex = at === resting ? 0 : -1;
      cell.classList.toggle("faded", !wanted(shown[at]));
      if (layer === state.layer && head === state.head) cell.setAttribute("aria-current", "true");
      else cell.removeAttribute("aria-current");
    }
    for (const side of grid.querySelectorAll("[role=rowheader]")) {
      side.classList.toggle("now", side.textContent === `L${state.layer}`);
    }
  };

  const paint = () => {
    const all = allCells();
    if (!current || !board.isConnected || !all.length) return;
    const { thumbnails } = current;
    const roomy = all[0].getBoundingClientRect().width >= CAPTIONED;
    grid.dataset.captions = roomy ? "yes" : "no";
    const below = roomy && (order() !== "place" || !page.trace.kinds);
    const written = order() === "place" ? "entropy" : order();
    const shows = matters?.on ? matters : null;
    legend.replaceChildren(...(shows ? shows.legend() : legendParts(page, thumbnails, below ? page.say(`overview.below.${written}`) : null)));
    const origin = board.getBoundingClientRect(); // after the legend, which may have moved it
    const [width, height] = [grid.offsetWidth + 2 * grid.offsetLeft, grid.offsetHeight + 2 * grid.offsetTop];
    const density = Math.min(devicePixelRatio, 2);
    [canvas.width, canvas.height] = [Math.round(width * density), Math.round(height * density)];
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    const pen = contextOf(canvas);
    pen.imageSmoothingEnabled = false;
    const style = getComputedStyle(board);
    /** @type {(name: string) => RGB} */
    const colour = (name) => rgb(style.getPropertyValue(name));
    const [hidden, ground, aside] = ["--hidden", "--raised", "--aside"].map(colour);
    const colours = { dark: page.dark, hidden, ground, aside };
    const room = { hidden: style.getPropertyValue("--hidden"), font: `${Math.round(11 * density)}px ${style.fontFamily}` };
    pen.strokeStyle = style.getPropertyValue("--line");
    const small = element("canvas");
    const end = page.state.thumbnails === "shared" ? thumbnails.end : null;
    for (const cell of all) {
      const { layer, head } = shown[Number(cell.dataset.at)];
      if (!shows) {
        const one = thumbnails.of(layer, head);
        const image = thumbnails.image(one, end ?? one.next, colours);
        [small.width, small.height] = [image.width, image.height];
        contextOf(small).putImageData(image, 0, 0);
      } else cell.setAttribute("aria-label", said(shown[Number(cell.dataset.at)]));
      const box = cell.getBoundingClientRect();
      const place = [box.left - origin.left + board.scrollLeft, box.top - origin.top, box.width];
      const [x, y, side] = place.map((value) => Math.round(value * density));
      pen.globalAlpha = cell.classList.contains("faded") ? FADED : 1;
      if (shows) shows.paint(pen, shown[Number(cell.dataset.at)], x, y, side, room);
      else pen.drawImage(small, x, y, side, side);
      pen.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
    }
  };

  const controls = () => {
    const count = page.trace.depth * page.trace.heads;
    /** @type {(by: number) => void} */
    const step = (by) => {
      from = Math.min(Math.max(from + by * perPage(), 0), count - 1);
      cells();
      paint();
    };
    /** @type {(sign: string, by: number, key: string) => HTMLElement} */
    const turn = (sign, by, key) => button(sign, () => step(by), { class: "plain", "aria-label": page.say(key) });
    /** @type {[name: Order, text: string][]} */
    const texts = orders().map((name) => [name, page.say(`order.${name}`)]);
    const lists = pairLists(page);
    /** @type {[name: State["thumbnails"], text: string][]} */
    const scales = SCALES.map((name) => [name, page.say(`overview.scale.${name}`)]);
    relabelled(tools, [
      ...(matters?.controls() ?? []),
      captioned(page, "order", choice(page.say("order"), texts, order(), (value) =>
        page.set({ order: ORDERS.find((one) => one === value) }))),
      ...(matters?.on ? [] : [captioned(page, "overview.scale", choice(page.say("overview.scale"), scales, page.state.thumbnails, (value) =>
        page.set({ thumbnails: SCALES.find((one) => one === value) })))]),
      ...(lists ? [lists] : []),
      ...(count > perPage() ? [turn("‹", -1, "overview.before"), turn("›", 1, "overview.after")] : []),
    ]);
  };

  const update = async () => {
    const still = page.current();
    controls();
    fillKindFilter(page, filter);
    const { trace, state } = page;
    const words = pairOf(page);
    if (words) {
      const key = [trace.serial, state.unit, state.special, words.query.index, words.key.index].join();
      const numbers = pair?.key === key ? pair.numbers : await pairNumbers(page, words);
      if (!still()) return;
      pair = { key, numbers };
    }
    cells();
    const asked = fetched.get(trace.serial) ?? page.host.overview(trace);
    fetched.set(trace.serial, asked);
    const found = await asked;
    if (!still()) return;
    const key = [trace.serial, state.unit, state.special].join();
    if (current?.key !== key) current = { key, thumbnails: new Thumbnails(page, found) };
    paint();
    matters?.update();
  };

  /** Show the words of a drawn head beside it, or none. @type {(at: number | null) => void} */
  const tell = (at) => {
    const cell = at === null ? null : cellAt(at);
    tip.hidden = !cell;
    if (at === null || !cell) return;
    tip.replaceChildren(
      element("p", {}, element("strong", {}, doing(page, shown[at]))),
      paired(shown[at]) && element("p", {}, paired(shown[at])),
      matters?.said(shown[at]) ? element("p", {}, matters.said(shown[at])) : "",
      element("p", { class: "quiet" }, measuring(page, shown[at])),
    );
    const [box, origin] = [cell.getBoundingClientRect(), whole.getBoundingClientRect()];
    const left = box.left + box.width / 2 - origin.left - tip.offsetWidth / 2;
    tip.style.left = `${Math.max(Math.min(left, whole.clientWidth - tip.offsetWidth), 0)}px`;
    const under = box.bottom + APART + tip.offsetHeight <= innerHeight;
    tip.style.top = `${(under ? box.bottom + APART : box.top - APART - tip.offsetHeight) - origin.top}px`;
  };
  for (const kind of ["pointerover", "focusin"]) grid.addEventListener(kind, (event) => tell(headAt(event)));
  for (const kind of ["pointerleave", "focusout"]) grid.addEventListener(kind, () => tell(null));
  grid.addEventListener("click", (event) => {
    const at = headAt(event);
    if (at !== null) page.set({ ...shown[at], view: "matrix" });
  });
  listenForSteps(grid, () => page.trace.heads, (at) => {
    resting = at;
  });
  const resized = new ResizeObserver(paint);
  resized.observe(board);

  const numbers = () => ({
    name: "heads",
    columns: [
      "layer", "head", "kinds", "entropy", "distance", "aside",
      ...(order() === "pair" ? ["pair"] : []), ...(matters?.on && matters.found ? ["effect"] : []),
    ],
    rows: ordered().map((place) => {
      const { layer, head } = place;
      const [entropy, distance, aside] = measuresOf(page, place);
      const kinds = kindsOf(page.trace, layer, head).map(([kind]) => kind);
      const between = pair && order() === "pair" ? [pair.numbers[layer][head]] : [];
      const effect = matters?.on && matters.found ? [matters.of(place)] : [];
      return [layer, head, kinds.join(" "), entropy, distance ?? "", aside, ...between, ...effect];
    }),
  });

  return {
    element: whole,
    controls: tools,
    /** @returns {Control[]} */
    get uses() {
      return cellIsPair(page.trace) ? ["trace", "unit", "special"] : ["trace"];
    },
    sentence() {
      const [first] = ordered();
      if (matters?.on && matters.found) return matters.finding();
      if (paired(first)) return `L${first.layer}H${first.head}: ${paired(first)}`;
      return findingOf(page, countedKinds(page.trace));
    },
    places: () => [[page.state.trace, null, null]],
    update,
    numbers,
    picture: () => svgOf(whole, [legend, board]),
    destroy: () => resized.disconnect(),
  };
};
