// The steps view: softmax(q·kᵀ / √d)·v for one token, step by step, with every number.

import { Canvases } from "../drawing/canvases.js";
import { button, element, phrase, tick } from "../drawing/dom.js";
import { products } from "./formula.js";
import { percent } from "../drawing/labels.js";
import { svgOf } from "../drawing/svg.js";
import { stepsTable } from "./table.js";
import { datum, word } from "./elements.js";
import { scaleName, scoresStep } from "./scores_step.js";
import { listen } from "./interaction.js";
import { valuesStep } from "./values_step.js";
import { keysStep, productsStep, queryStep } from "./vectors_steps.js";
import { endsOf, largest, walked } from "./walkthrough.js";
import { refocused, wordPicker } from "../drawing/word_picker.js";

/** The formula with the shapes of its parts. @type {(walk: Walkthrough) => HTMLElement} */
const formula = (walk) => {
  const { M, D, E, v } = walk.head;
  /** @type {(symbol: string, size?: string, kind?: string) => HTMLElement} */
  const part = (symbol, size = "", kind = "") =>
    element(
      "span",
      { class: `part ${kind}` },
      element("span", { class: "symbol" }, symbol),
      element("span", { class: "size" }, size),
    );
  return element(
    "p",
    { class: "formula" },
    part("softmax(", "", "name"),
    part("q", `1 × ${D}`, "query"),
    part("·"),
    part("Kᵀ", `${D} × ${M}`, "key"),
    part(scaleName(walk)),
    part(")", "", "name"),
    part("·"),
    part("V", v ? `${M} × ${E}` : "", "value"),
    part("="),
    part("x′", v ? `1 × ${E}` : ""),
  );
};

/**
 * The words to choose from, and the pieces of the chosen word if it has several.
 * @type {(page: Page, walk: Walkthrough) => (HTMLElement | null)[]}
 */
const chooser = (page, walk) => {
  const { queries } = walk.trace;
  /** @type {(unit: Unit) => void} */
  const choose = (unit) => page.set({ token: unit.first, toward: "from" });
  const units = queries.units(page.state.unit);
  const chosen = queries.unitOf(walk.token, page.state.unit);
  const pieces = queries.pieces.slice(chosen.first, chosen.last);
  const own = { units: pieces, chosen: walk.token - chosen.first, name: page.say("steps.piece") };
  return [
    wordPicker({ units, chosen: chosen.index, name: page.say("steps.token"), focus: "query", choose }),
    pieces.length > 1
      ? element(
          "div",
          { class: "of-pieces" },
          element("span", { class: "caption" }, page.say("steps.pieces", { count: pieces.length })),
          wordPicker({ ...own, focus: "piece", choose }),
        )
      : null,
  ];
};

// The remark that this head is the default, and a button that chooses it.
/** @type {(page: Page, walk: Walkthrough) => Child} */
const notChosen = (page, { number, layer, trace }) => {
  const chosen = page.say(`head.${page.state.head}`, { lastHead: trace.heads - 1 });
  const take = button(page.say("steps.choose.head", { head: number }), () => page.set({ head: number }), {
    class: "plain",
    "data-focus": "head",
  });
  return [page.say("steps.hardest", { head: number, layer, chosen }), " ", take];
};

/** Remarks on the head. @type {(page: Page, walk: Walkthrough) => HTMLElement[]} */
const remarks = (page, walk) => {
  const { head, trace, number } = walk;
  const { heads, key_heads: count } = trace.model;
  const together = heads / count;
  const key = Math.floor(number / together);
  const sharing = { first: key * together, last: (key + 1) * together - 1, key, lastKey: count - 1 };
  return [
    walk.given ? null : notChosen(page, walk),
    together > 1 ? page.say("steps.shared", sharing) : null,
    trace.kind === "decoder" ? page.say("steps.turned") : null,
    trace.crossing ? page.say("steps.cross", { queries: head.N, keys: head.M }) : null,
  ]
    .filter(Boolean)
    .map((remark) => element("p", { class: "remark" }, remark));
};

/** @type {(name: string, label: HTMLLabelElement) => HTMLLabelElement} */
const focused = (name, label) => {
  label.querySelector("input")?.setAttribute("data-focus", name);
  return label;
};

/** The toggles that change the steps, and a way back. @type {(page: Page, walk: Walkthrough) => HTMLElement} */
const toggles = (page, walk) => {
  const { state, trace } = page;
  const { removed } = state;
  const always = trace.crossing || walk.head.mask.kind === "causal"; // looking ahead can't be changed here
  const ahead = tick(page.say("steps.no.ahead"), !state.ahead, (on) => page.set({ ahead: !on }));
  const scaled = tick(page.say("steps.no.scale", { d: walk.head.D }), !state.scaled, (on) => page.set({ scaled: !on }));
  const back = button(page.say("steps.as.trained"), () => page.set({ ahead: true, scaled: true, removed: [] }), {
    class: "plain",
    "data-focus": "back",
  });
  return element(
    "div",
    { class: "toggles", role: "group", "aria-label": page.say("steps.what.if") },
    element("span", { class: "caption" }, page.say("steps.what.if")),
    always ? null : focused("ahead", ahead),
    walk.before.scale === 1 ? null : focused("scaled", scaled),
    removed.length ? element("span", { class: "removed" }, page.say("steps.removed", { count: removed.length })) : null,
    walk.changed || removed.length ? back : null,
  );
};

/** @type {Space[]} */
const SPACES = ["match", "pass"];

/** The view. @type {(page: Page) => View} */
export const createSteps = (page) => {
  const root = element("div", { class: "steps" });
  /** @type {Record<Space, ((at: number) => void)[]>} Functions that write the number at a coordinate. */
  const tellers = { match: [], pass: [] };
  const reading = { match: { at: 0, of: 1 }, pass: { at: 0, of: 1 } };
  /** @type {number | null} The key whose products are shown: the hovered one, or else the chosen one. */
  let shown = null;

  // Until there is a walkthrough the root is empty, and nothing uses it.
  const room = /** @type {StepsRoom} */ ({
    page,
    reading,
    canvases: new Canvases(),
    colour: (name) => getComputedStyle(root).getPropertyValue(name),
    tell: (space, value) => {
      const node = element("span", { class: "at" });
      tellers[space].push((at) => node.replaceChildren(datum(value(at))));
      return node;
    },
    which: (space) => {
      const node = element("span", { class: "which" });
      tellers[space].push((at) => (node.textContent = page.say("steps.which", { coordinate: at })));
      return node;
    },
    choose: (key) => page.set({ key }),
    remove: (j) => {
      const { removed } = page.state;
      const out = removed.includes(j);
      page.set({ key: room.walk.key, removed: out ? removed.filter((other) => other !== j) : [...removed, j] });
    },
    rest: () => {
      const { count, weight } = room.walk.rest;
      const text = page.say("steps.more.share", { count, share: percent(weight) });
      return count ? element("p", { class: "quiet more" }, text) : null;
    },
  });

  /** Read a coordinate in all strips of a space. @type {(space: Space, wanted: number) => void} */
  const readAt = (space, wanted) => {
    const { of } = reading[space];
    const at = Math.min(Math.max(wanted, 0), of - 1);
    reading[space].at = at;
    root.style.setProperty(`--${space}`, `${(100 * at) / of}%`);
    root.style.setProperty(`--${space}-width`, `${100 / of}%`);
    for (const tell of tellers[space]) tell(at);
    for (const slider of root.querySelectorAll(`[role=slider][data-space=${space}]`)) {
      const value = slider.closest(".row")?.querySelector(".at")?.textContent ?? "";
      slider.setAttribute("aria-valuenow", String(at));
      slider.setAttribute("aria-valuetext", page.say("steps.coordinate.is", { coordinate: at, value }));
    }
  };

  // The coordinate that is read while none is hovered.
  /** @type {(space: Space) => number} */
  const settled = (space) => {
    const { walk } = room;
    if (space === "pass") return page.state.passed ?? (walk.now.output ? largest(walk.now.output) : 0);
    return page.state.coordinate ?? largest(products(walk.head, walk.token, walk.key));
  };

  const mark = () => {
    for (const row of root.querySelectorAll("[data-key]")) {
      row.classList.toggle("chosen", Number(row.getAttribute("data-key")) === shown);
    }
  };

  // Show the products of a key while it is hovered.
  /** @type {(j: number) => void} */
  const point = (j) => {
    if (j === shown) return;
    shown = j;
    const old = root.querySelector("[data-step='3']");
    refocused(root, () => old?.replaceWith(productsStep(room, j)));
    room.canvases.sweep();
    readAt("match", reading.match.at);
    mark();
  };

  const build = () => {
    const { walk } = room;
    for (const list of Object.values(tellers)) list.length = 0;
    Object.assign(reading.match, { at: 0, of: walk.head.D });
    Object.assign(reading.pass, { at: 0, of: Math.max(walk.head.E, 1) });
    shown = walk.key;
    const title = phrase(page.say("steps.title"), { word: word(walk.word, "query") });
    const where = page.named(walk.trace, walk.layer, walk.number);
    root.replaceChildren(
      ...chooser(page, walk).filter((part) => part !== null),
      element("h2", {}, title, element("small", {}, where)),
      formula(walk),
      ...remarks(page, walk),
      toggles(page, walk),
      queryStep(room),
      keysStep(room),
      productsStep(room, walk.key),
      scoresStep(room),
      valuesStep(room),
    );
    room.canvases.sweep();
    for (const space of SPACES) readAt(space, settled(space));
    mark();
  };

  listen(root, room, { readAt, settled, point });

  const update = async () => {
    const current = page.current();
    const walk = await walked(page);
    if (!current()) return;
    Object.assign(room, { walk, ends: endsOf(walk) });
    refocused(root, build);
  };

  return {
    element: root,
    update,
    numbers: () => stepsTable(room.walk),
    picture: () => svgOf(root, [...root.children].filter((part) => !part.matches(".toggles"))),
    destroy: () => room.canvases.clear(),
  };
};
