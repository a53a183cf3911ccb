// The steps view: one token's attention, from x to what is added to x, step by step, with every number.

import { Canvases } from "../drawing/canvases.js";
import { element } from "../drawing/dom.js";
import { percent } from "../drawing/labels.js";
import { svgOf } from "../drawing/svg.js";
import { refocused } from "../drawing/word_picker.js";
import { datum } from "./elements.js";
import { products } from "./formula.js";
import { createFormulaBar } from "./formula_bar.js";
import { chooser, controlsOf, remarks, sentenceOf, titleOf } from "./heading.js";
import { inputStep } from "./input_step.js";
import { listen } from "./interaction.js";
import { joinedStep } from "./joined_step.js";
import { land } from "./motion.js";
import { missingStep, projectionsStep, spaceOf, takenApart } from "./projections_step.js";
import { scaledStep, softmaxStep } from "./scaled_step.js";
import { productsBlock, scoresStep } from "./scores_step.js";
import { createScroller } from "./scroller.js";
import { stepsTable } from "./table.js";
import { valuesStep } from "./values_step.js";
import { endsOf, largest, walked } from "./walkthrough.js";

/** @type {Space[]} */
const SPACES = ["match", "pass", "input"];

/** The steps of a walkthrough. @type {(room: StepsRoom) => HTMLElement[]} */
const stepsIn = (room) => {
  const made = room.walk.projections;
  return [
    ...(made ? [inputStep(room, made), projectionsStep(room, made)] : [missingStep(room, "1")]),
    scoresStep(room),
    scaledStep(room),
    softmaxStep(room),
    valuesStep(room),
    ...(made && room.walk.now.output ? [joinedStep(room, made)] : made ? [] : [missingStep(room, "6")]),
  ];
};

/** The view. @type {(page: Page) => View} */
export const createSteps = (page) => {
  const root = element("div", { class: "steps" });
  const controls = element("span", { class: "tools" });
  /** @type {Record<Space, ((at: number) => void)[]>} Functions that write the number at a coordinate. */
  const tellers = { match: [], pass: [], input: [] };
  const reading = { match: { at: 0, of: 1 }, pass: { at: 0, of: 1 }, input: { at: 0, of: 1 } };
  /** @type {number | null} The key whose products are shown: the hovered one, or else the chosen one. */
  let shown = null;
  /** @type {number | null} The coordinate of x that was chosen. */
  let inside = null;
  /** @type {Set<number>} The steps whose numbers have moved into place. */
  const landed = new Set();

  const scroller = createScroller(root, (at) => {
    bar.light(at);
    const step = root.querySelector(`:scope > [data-step="${at}"]`);
    if (!step || landed.has(at)) return;
    landed.add(at);
    land(root, step);
  });
  const bar = createFormulaBar(page, (at) => scroller.go(room.walk.projections || at !== 0 ? at : 1));

  // Until there is a walkthrough the root is empty, and nothing uses it.
  const room = /** @type {StepsRoom} */ ({
    page,
    reading,
    role: null,
    sources: page.rooms.createSources?.(page),
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
    takeApart: (role) => {
      if (role === room.role) return;
      room.role = role;
      inside = null;
      refocused(root, build);
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
    const { walk, role } = room;
    if (space === "pass") return page.state.passed ?? (walk.now.output ? largest(walk.now.output) : 0);
    if (space === "match") return page.state.coordinate ?? largest(products(walk.head, walk.token, walk.key));
    if (!walk.projections) return 0;
    return inside ?? largest(takenApart(walk, walk.projections, role ?? "query", settled(spaceOf(role ?? "query"))));
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
    const old = root.querySelector("[data-block='products']");
    refocused(root, () => old?.replaceWith(productsBlock(room, j)));
    room.canvases.sweep();
    readAt("match", reading.match.at);
    mark();
  };

  const build = () => {
    const { walk } = room;
    for (const list of Object.values(tellers)) list.length = 0;
    Object.assign(reading.match, { at: 0, of: walk.head.D });
    Object.assign(reading.pass, { at: 0, of: Math.max(walk.head.E, 1) });
    Object.assign(reading.input, { at: 0, of: walk.projections?.width ?? 1 });
    for (const space of SPACES) reading[space].at = Math.min(settled(space), reading[space].of - 1);
    shown = walk.key;
    bar.show(walk);
    root.replaceChildren(
      ...chooser(page, walk).filter((part) => part !== null),
      titleOf(page, walk),
      ...remarks(page, walk),
      bar.element,
      ...stepsIn(room),
      element("div", { class: "end" }),
    );
    room.canvases.sweep();
    for (const space of SPACES) readAt(space, settled(space));
    mark();
    scroller.watch();
  };

  listen(root, room, {
    readAt,
    settled,
    point,
    settle: (at) => {
      inside = at;
      readAt("input", at);
    },
  });

  let told = "";
  /** @type {number | null} The step that the state last asked for. */
  let gone = null;
  const update = async () => {
    const current = page.current();
    const walk = await walked(page);
    if (!current()) return;
    const about = `${walk.trace.serial} ${walk.layer} ${walk.number} ${walk.token}`;
    if (about !== told) landed.clear();
    told = about;
    Object.assign(room, { walk, ends: endsOf(walk) });
    refocused(controls, () => controls.replaceChildren(...controlsOf(page, walk)));
    refocused(root, build);
    const { step } = page.state;
    if (step !== null && step !== gone) scroller.go(step);
    gone = step;
  };

  return {
    element: root,
    controls,
    uses: ["trace", "layer", "head", "unit", "ahead", "padded"],
    update,
    places: () => [[room.walk.trace.index, room.walk.layer, room.walk.number]], // of a mean, a head is shown
    sentence: () => sentenceOf(page, room.walk),
    numbers: () => stepsTable(room.walk),
    picture: () => {
      root.classList.add("still"); // else the formula would lie over the steps
      const drawn = svgOf(root, [...root.children]);
      root.classList.remove("still");
      return drawn;
    },
    destroy: () => {
      scroller.end();
      room.canvases.clear();
    },
  };
};
