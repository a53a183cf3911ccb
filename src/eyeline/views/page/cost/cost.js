// The cost of attention: n² is felt by dragging n, beside an RNN, whose cost grows as n.

import { button, element } from "../drawing/dom.js";
import { svgOf } from "../drawing/svg.js";
import { refocused } from "../drawing/word_picker.js";
import { curves } from "./curves.js";
import { duration, lengthSaid, size, spoken, times, whole } from "./format.js";
import { ASSUMED, bounded, costOf, fitting, isLength, LEAST, MOST, neat, stepped, timesOf, USUAL } from "./formula.js";
import { squares } from "./square.js";

const START = 1000;
const STEPS = 1000; // of the slider
const GIB = 2 ** 30;

/** What the matrices are to fit in. @type {[bytes: number, key: string][]} */
const ROOMS = [[8 * GIB, "cost.room.phone"], [24 * GIB, "cost.room.card"]];

/** The sizes of the layer that the view is about. @type {(page: Page) => { heads: number, head_dim: number }} */
const sizesOf = ({ header: { growth } }) => (growth ? { heads: growth.heads, head_dim: growth.head_dim } : USUAL);

/** All multiplications. @type {(cost: { products: number, projections: number }) => number} */
const all = ({ products, projections }) => products + projections;

/** The view. @type {(page: Page) => View} */
export const createCost = (page) => {
  const root = element("div", { class: "cost" });
  /** @type {number | null} The number of tokens before a doubling. */
  let before = null;
  const growth = page.header.growth ?? null;
  const n = () => page.state.n ?? START;

  /** @type {(to: number, from?: number | null) => void} */
  const go = (to, from = null) => {
    const next = bounded(to);
    before = from;
    page.set({ n: next === START ? null : next });
  };

  const slider = element("input", { type: "range", min: 0, max: STEPS, step: 1, class: "length", "data-focus": "slider" });
  const field = element("input", { type: "text", inputmode: "numeric", class: "number", size: 9, "data-focus": "field", autocomplete: "off" });
  slider.addEventListener("input", () => go(neat(LEAST * (MOST / LEAST) ** (Number(slider.value) / STEPS))));
  slider.addEventListener("keydown", (event) => {
    /** @type {Record<string, number>} */
    const places = {
      ArrowRight: stepped(n(), 1), ArrowUp: stepped(n(), 1), ArrowLeft: stepped(n(), -1), ArrowDown: stepped(n(), -1),
      PageUp: 2 * n(), PageDown: n() / 2, Home: LEAST, End: MOST,
    };
    const to = places[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    go(to);
  });
  field.addEventListener("change", () => {
    const typed = Number(field.value.replace(/[\s.,_’]/g, ""));
    field.setAttribute("aria-invalid", String(!isLength(typed)));
    if (isLength(typed)) go(typed);
  });

  /** @type {(name: string, now: number, than: number, kind: string) => HTMLElement} */
  const factor = (name, now, than, kind) =>
    element(
      "div",
      { class: `factor ${kind}` },
      element("span", { class: "name" }, name),
      element("b", {}, `${times(page, now / than)} ×`),
    );

  /** @type {() => HTMLElement} */
  const doubling = () => {
    const from = before ?? n();
    const to = before ? n() : Math.min(2 * n(), MOST);
    const sizes = sizesOf(page);
    const [old, next] = [costOf(from, sizes), costOf(to, sizes)];
    return element(
      "section",
      { class: "doubling", role: "status" },
      element(
        "p",
        {},
        page.say(before ? "cost.doubled" : "cost.twice.will", { from: whole(page, from), to: whole(page, to) }),
      ),
      factor(page.say("cost.attention"), next.attention.cells, old.attention.cells, "of-attention"),
      factor("RNN", next.recurrent.cells, old.recurrent.cells, "of-recurrent"),
      element(
        "p",
        { class: "quiet" },
        page.say("cost.all.products", {
          attention: times(page, all(next.attention) / all(old.attention)),
          recurrent: times(page, all(next.recurrent) / all(old.recurrent)),
        }),
      ),
    );
  };

  /** @type {() => [name: string, attention: string, recurrent: string, numbers: [number, number | null]][]} */
  const lines = () => {
    const { attention, recurrent } = costOf(n(), sizesOf(page));
    const took = timesOf(n(), growth);
    return [
      [page.say("cost.line.cells"), spoken(page, attention.cells), spoken(page, recurrent.cells), [attention.cells, recurrent.cells]],
      [page.say("cost.line.products"), spoken(page, attention.products), spoken(page, recurrent.products), [attention.products, recurrent.products]],
      [page.say("cost.line.projections"), spoken(page, attention.projections), spoken(page, recurrent.projections), [attention.projections, recurrent.projections]],
      [page.say("cost.line.matrix"), size(page, attention.matrix), "–", [attention.matrix, null]],
      [page.say("cost.line.without"), size(page, attention.without), size(page, recurrent.without), [attention.without, recurrent.without]],
      [page.say("cost.line.waits"), whole(page, attention.waits), whole(page, recurrent.waits), [attention.waits, recurrent.waits]],
      [page.say(growth ? "cost.line.time" : "cost.line.estimate"), duration(page, took.attention), duration(page, took.recurrent), [took.attention.seconds, took.recurrent.seconds]],
    ];
  };

  const table = () =>
    element(
      "table",
      { class: "costs" },
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          element("td"),
          element("th", { scope: "col", class: "of-attention" }, page.say("cost.attention")),
          element("th", { scope: "col", class: "of-recurrent" }, "RNN"),
        ),
      ),
      element(
        "tbody",
        {},
        lines().map(([name, attention, recurrent]) =>
          element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, attention), element("td", {}, recurrent)),
        ),
      ),
    );

  /** @type {() => HTMLElement} */
  const basis = () => {
    const sizes = sizesOf(page);
    const layer = page.say("cost.layer", { heads: sizes.heads, d: sizes.head_dim, width: sizes.heads * sizes.head_dim });
    if (!growth) {
      const rates = { attention: spoken(page, ASSUMED.attention), recurrent: spoken(page, ASSUMED.recurrent) };
      return element("p", { class: "quiet basis" }, layer, " ", page.say("cost.estimated", rates));
    }
    const { points } = growth.attention;
    const values = {
      machine: growth.machine, threads: growth.threads, date: growth.date, name: growth.recurrent.name,
      versions: Object.entries(growth.versions).map((one) => one.join(" ")).join(", "),
      from: whole(page, points[0][0]), to: whole(page, points[points.length - 1][0]),
    };
    return element("p", { class: "quiet basis" }, layer, " ", page.say("cost.measured", values));
  };

  const pictures = () => {
    const sizes = sizesOf(page);
    /** @type {(of: "attention" | "recurrent") => CostCurve} */
    const timed = (of) => ({
      kind: `of-${of}`, name: of === "attention" ? page.say("cost.attention") : "RNN",
      value: (tokens) => timesOf(tokens, growth)[of].seconds,
      guessed: (tokens) => timesOf(tokens, growth)[of].guessed,
      dots: growth ? growth[of].points : [],
    });
    /** @type {CostCurve[]} */
    const memory = [
      { kind: "of-attention", name: page.say("cost.with.matrices"), value: (tokens) => costOf(tokens, sizes).attention.matrix },
      { kind: "of-recurrent", name: page.say("cost.without.matrices"), value: (tokens) => costOf(tokens, sizes).attention.without },
    ];
    /** @type {(of: number) => string} */
    const tokens = (of) => whole(page, of);
    return element(
      "div",
      { class: "pictures" },
      curves({
        title: page.say("cost.curves.time"), curves: [timed("attention"), timed("recurrent")], n: n(), tokens,
        ticks: [1e-6, 1e-3, 1, 60, 3600, 86400].map((seconds) => [seconds, duration(page, { seconds, guessed: false })]),
      }),
      curves({
        title: page.say("cost.curves.memory"), curves: memory, n: n(), tokens,
        ticks: [1, 2, 3, 4].map((power) => [1024 ** power, size(page, 1024 ** power)]),
        limits: ROOMS.map(([bytes, key]) => [bytes, page.say(key)]),
      }),
      element(
        "p",
        { class: "fits" },
        page.say("cost.fits", {
          phone: whole(page, fitting(ROOMS[0][0], sizes)), card: whole(page, fitting(ROOMS[1][0], sizes)),
        }),
      ),
    );
  };

  // The slider and the field are made once: an element that is put in anew loses its drag.
  const [buttons, long, body] = [element("span", { class: "buttons" }), element("span", { class: "long" }), element("div", { class: "costs-body" })];
  root.append(element("div", { class: "dragged" }, element("label", {}, "n = ", field), slider, buttons, long), body);

  const dragging = () => {
    slider.setAttribute("aria-label", page.say("cost.n"));
    slider.setAttribute("aria-valuetext", page.say("cost.valued", { n: whole(page, n()), text: lengthSaid(page, n()) }));
    field.setAttribute("aria-label", page.say("cost.n"));
    if (isApart(slider, n())) slider.value = String(placeOf(n()));
    field.value = whole(page, n());
    field.setAttribute("aria-invalid", "false");
    const twice = button(page.say("cost.twice"), () => go(2 * n(), n()), { class: "plain", "data-focus": "twice" });
    const half = button(page.say("cost.half"), () => go(n() / 2), { class: "plain", "data-focus": "half" });
    twice.disabled = 2 * n() > MOST;
    half.disabled = n() < 2 * LEAST;
    refocused(buttons, () => buttons.replaceChildren(half, twice));
    long.textContent = page.say("cost.as.long", { text: lengthSaid(page, n()) });
  };

  const update = () => {
    dragging();
    body.replaceChildren(
      element("div", { class: "seen" }, squares(page, n(), before), doubling()),
      element("div", { class: "counted" }, table(), basis()),
      pictures(),
    );
  };

  return {
    element: root,
    uses: [],
    places: () => [],
    sentence: () => page.say("cost.sentence", {
      n: whole(page, n()), cells: spoken(page, n() * n()),
    }),
    update,
    numbers: () => ({
      name: "cost",
      columns: ["n", "quantity", "attention", "rnn"],
      rows: lines().map(([name, , , [attention, recurrent]]) => [n(), name, attention, recurrent]),
    }),
    picture: () => svgOf(root, [body]),
    destroy: () => {},
  };
};

/** The place of n on the slider. @type {(n: number) => number} */
const placeOf = (n) => Math.round((STEPS * Math.log(n / LEAST)) / Math.log(MOST / LEAST));

/** Whether the slider's thumb is elsewhere than n would have it. @type {(slider: HTMLInputElement, n: number) => boolean} */
const isApart = (slider, n) => Math.abs(Number(slider.value) - placeOf(n)) > 4;
