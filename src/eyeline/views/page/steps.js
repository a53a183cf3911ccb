// The steps view: softmax(q·kᵀ / √d)·v walked through for one token, with every number.

import { Canvases } from "./canvases.js";
import { button, element, phrase, tick } from "./dom.js";
import { percent } from "./labels.js";
import { numbersOfSteps, pictureOfSteps } from "./stepsaway.js";
import { scaleName, scoresStep } from "./stepscores.js";
import { datum, keysStep, productsStep, queryStep, valuesStep } from "./stepvectors.js";
import { products } from "./formula.js";
import { largest, tokenOf, walked } from "./walk.js";
import { refocused, wordline } from "./wordline.js";

// The formula with the shapes of its parts.
const formula = (walk) => {
  const { N, M, D, E } = { ...walk.head };
  const part = (symbol, size, kind = "") =>
    element("span", { class: `part ${kind}` }, element("span", { class: "symbol" }, symbol), element("span", { class: "size" }, size));
  const values = walk.head.v ? `${M} × ${E}` : "";
  return element(
    "p",
    { class: "formula", "data-queries": N },
    part("softmax(", "", "name"), part("q", `1 × ${D}`, "query"), part("·", ""), part("Kᵀ", `${D} × ${M}`, "key"),
    part(scaleName(walk), ""), part(")", "", "name"), part("·", ""), part("V", values, "value"), part("=", ""), part("x′", walk.head.v ? `1 × ${E}` : "", "result"),
  );
};

// The words to choose from, and the pieces of the one that is chosen if it has several.
const chooser = (page, walk) => {
  const { queries } = walk.trace;
  const choose = (unit) => page.set({ token: unit.first, toward: "from" });
  const name = page.say("steps.token");
  const { unit } = page.state;
  const units = queries.units(unit);
  const chosen = queries.unitOf(walk.token, unit);
  const pieces = queries.pieces.slice(chosen.first, chosen.last);
  return element(
    "div",
    { class: "chooser" },
    wordline({ units, chosen: chosen.index, name, focus: "query", choose }),
    pieces.length > 1
      ? element("div", { class: "of-pieces" }, element("span", { class: "caption" }, page.say("steps.pieces", { count: pieces.length })),
          wordline({ units: pieces, chosen: walk.token - chosen.first, name: page.say("steps.piece"), focus: "piece", choose }))
      : null,
  );
};

// What there is to know of the head before its numbers.
const remarks = (page, walk) => {
  const { head, trace, number, layer } = walk;
  const together = trace.model.heads / trace.model.key_heads;
  const first = number - (number % together);
  return [
    walk.given ? null : [
      page.say("steps.hardest", { head: number + 1, layer: layer + 1, chosen: page.say(`head.${page.state.head}`, { count: trace.heads }) }), " ",
      button(page.say("steps.choose.head", { head: number + 1 }), () => page.set({ head: number }), { class: "plain", "data-focus": "head" }),
    ],
    together > 1 ? page.say("steps.shared", { first: first + 1, last: first + together, key: Math.floor(number / together) + 1, count: trace.model.key_heads }) : null,
    trace.kind === "decoder" ? page.say("steps.turned") : null,
    trace.crossing ? page.say("steps.cross", { queries: head.N, keys: head.M }) : null,
  ].filter(Boolean).map((remark) => element("p", { class: "remark" }, remark));
};

const toggles = (page, walk) => {
  const { state, trace } = page;
  const back = { ahead: true, scaled: true, removed: [] };
  return element(
    "div",
    { class: "toggles", role: "group", "aria-label": page.say("steps.what.if") },
    element("span", { class: "caption" }, page.say("steps.what.if")),
    trace.crossing || walk.head.mask.kind === "causal" ? null : focused("ahead", tick(page.say("steps.no.ahead"), !state.ahead, (on) => page.set({ ahead: !on }))),
    walk.before.scale === 1 ? null : focused("scaled", tick(page.say("steps.no.scale", { d: walk.head.D }), !state.scaled, (on) => page.set({ scaled: !on }))),
    state.removed.length ? element("span", { class: "removed" }, page.say("steps.removed", { count: state.removed.length })) : null,
    walk.changed || state.removed.length ? button(page.say("steps.as.trained"), () => page.set(back), { class: "plain", "data-focus": "back" }) : null,
  );
};

const focused = (name, label) => {
  label.querySelector("input").dataset.focus = name;
  return label;
};

/** The view. */
export const createSteps = (page) => {
  const root = element("div", { class: "steps" });
  const canvases = new Canvases();
  let walk = null;
  let tellers = { match: new Set(), pass: new Set() };
  let shown = null; // the key whose products are shown: the chosen one, or the one that is pointed at
  const reading = { match: { at: 0, of: 1 }, pass: { at: 0, of: 1 } };

  // Reads a coordinate in all strips of a space.
  const readAt = (space, at) => {
    const { of } = reading[space];
    reading[space].at = Math.min(Math.max(at, 0), of - 1);
    root.style.setProperty(`--${space}`, `${(100 * reading[space].at) / of}%`);
    root.style.setProperty(`--${space}-width`, `${100 / of}%`);
    for (const tell of tellers[space]) tell();
    for (const slider of root.querySelectorAll(`[role=slider][data-space=${space}]`)) {
      slider.setAttribute("aria-valuenow", reading[space].at + 1);
      const said = slider.closest(".row").querySelector(".at")?.textContent ?? "";
      slider.setAttribute("aria-valuetext", page.say("steps.coordinate.is", { coordinate: reading[space].at + 1, value: said }));
    }
  };

  const settled = (space) => {
    if (space === "pass") return page.state.passed ?? (walk.head.v ? largest(walk.now.output) : 0);
    return page.state.coordinate ?? largest(products(walk.head, walk.token, walk.key));
  };

  const room = {
    page,
    canvases,
    reading,
    colour: (name) => getComputedStyle(root).getPropertyValue(name),
    tell: (space, value) => {
      const node = element("span", { class: "at" });
      const tell = () => node.replaceChildren(datum(value(reading[space].at)));
      tellers[space].add(tell);
      return node;
    },
    which: (space) => {
      const node = element("span", { class: "which" });
      tellers[space].add(() => (node.textContent = page.say("steps.which", { coordinate: reading[space].at + 1 })));
      return node;
    },
    choose: (key) => page.set({ key }),
    remove: (j) => {
      const { removed } = page.state;
      page.set({ key: walk.key, removed: removed.includes(j) ? removed.filter((other) => other !== j) : [...removed, j] });
    },
    rest: () => (walk.rest.count ? element("p", { class: "quiet more" }, page.say("steps.more.share", { count: walk.rest.count, share: percent(walk.rest.weight) })) : null),
  };

  const mark = () => {
    for (const row of root.querySelectorAll("[data-key]")) row.classList.toggle("chosen", Number(row.dataset.key) === shown);
  };

  // Shows the products of a key that is pointed at, until it no longer is.
  const point = (j) => {
    if (!walk || j === shown) return;
    shown = j;
    const old = root.querySelector("[data-step='3']");
    refocused(root, () => old.replaceWith(productsStep(room, j)));
    canvases.sweep();
    readAt("match", reading.match.at);
    mark();
  };

  const build = () => {
    tellers = { match: new Set(), pass: new Set() };
    Object.assign(reading, { match: { at: 0, of: walk.head.D }, pass: { at: 0, of: Math.max(walk.head.E, 1) } });
    shown = walk.key;
    const title = phrase(page.say("steps.title"), { word: element("bdi", { class: "word query" }, walk.word) });
    root.replaceChildren(
      element("div", { class: "top" },
        chooser(page, walk),
        element("h2", {}, title, element("small", {}, page.say("steps.where", { layer: walk.layer + 1, head: walk.number + 1 }))),
        formula(walk),
        remarks(page, walk),
        toggles(page, walk)),
      queryStep(room), keysStep(room), productsStep(room, shown), scoresStep(room), valuesStep(room),
    );
    canvases.sweep();
    readAt("match", settled("match"));
    readAt("pass", settled("pass"));
    mark();
  };

  const place = (event) => {
    const strip = event.target.closest?.(".strip");
    if (!strip) return null;
    const { left, width } = strip.getBoundingClientRect();
    const { space } = strip.dataset;
    return { space, at: Math.floor(((event.clientX - left) / width) * reading[space].of) };
  };
  root.addEventListener("pointermove", (event) => {
    const found = place(event);
    if (found && found.at !== reading[found.space].at) readAt(found.space, found.at);
  });
  root.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch" || !walk) return;
    const row = event.target.closest?.("[data-step='2'] [data-key], [data-step='4'] [data-key]");
    point(row ? Number(row.dataset.key) : walk.key);
    if (!event.target.closest?.(".strip")) for (const space of ["match", "pass"]) readAt(space, settled(space));
  });
  root.addEventListener("pointerleave", () => {
    if (!walk) return;
    point(walk.key);
    for (const space of ["match", "pass"]) readAt(space, settled(space));
  });
  root.addEventListener("click", (event) => {
    const found = place(event);
    const row = event.target.closest?.("[data-step='2'] [data-key], [data-step='4'] [data-key]");
    const key = row ? { key: Number(row.dataset.key) } : {};
    if (found) page.set({ ...key, [found.space === "match" ? "coordinate" : "passed"]: found.at });
    else if (row && !event.target.closest("input, button")) page.set(key);
  });
  root.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const slider = event.target.closest("[role=slider]");
    const among = event.target.closest("[data-focus=keys]");
    if (!slider && !among) return;
    const space = slider?.dataset.space ?? "match";
    const { at, of } = reading[space];
    const coordinate = { ArrowLeft: at - 1, ArrowRight: at + 1, ...(slider && { ArrowDown: at - 1, ArrowUp: at + 1, Home: 0, End: of - 1 }) }[event.key];
    const next = among && { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (coordinate !== undefined) {
      page.set({ [space === "match" ? "coordinate" : "passed"]: Math.min(Math.max(coordinate, 0), of - 1) });
    } else if (next) {
      const { keys } = walk;
      page.set({ key: keys[Math.min(Math.max(keys.indexOf(walk.key) + next, 0), keys.length - 1)] });
    } else if (among && ["Delete", "Backspace"].includes(event.key)) {
      room.remove(walk.key);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  });

  const update = async () => {
    const current = page.current();
    const found = await walked(page);
    if (!current()) return;
    room.walk = walk = found;
    refocused(root, build);
  };

  return {
    element: root,
    update,
    numbers: () => (walk ? numbersOfSteps(walk) : { name: "steps", columns: [], rows: [] }),
    picture: () => (walk ? pictureOfSteps(page, walk, shown, room.colour) : ""),
    destroy: () => canvases.clear(),
  };
};
