// What every view is chosen by: the text, the layer, the head, words or pieces, and what is set aside.

import { button, choice, element, tick } from "./drawing/dom.js";

const captioned = (page, name, ...parts) =>
  element(
    "span",
    { class: "stepper" },
    element("span", { class: "caption", "aria-hidden": "true" }, page.say(name)),
    parts,
  );

const stepper = (page, name, list, step) =>
  captioned(
    page, name,
    button("‹", () => step(-1), { "aria-label": page.say(`${name}.before`) }),
    list,
    button("›", () => step(1), { "aria-label": page.say(`${name}.after`) }),
  );

/** The head after (or before) one, the mean and the largest standing before the first. */
export const neighbour = (head, step, count) => {
  const order = ["mean", "max", ...Array(count).keys()];
  return order[Math.min(Math.max(order.indexOf(head) + step, 0), order.length - 1)];
};

/** The pickers of a place, [trace, layer, head]: `chosen` is called with another. */
export const placePickers = (page, [at, layer, head], chosen) => {
  const { depth, heads } = page.traces[at];
  const layerName = (number) => page.say("layer.of", { layer: number + 1, count: depth });
  const layers = Array.from({ length: depth }, (_, number) => [number, layerName(number)]);
  const named = [
    ["mean", page.say("head.mean", { count: heads })],
    ["max", page.say("head.max", { count: heads })],
    ...Array.from({ length: heads }, (_, number) => [number, page.say("head.one", { head: number + 1 })]),
  ];
  const layerList = choice(page.say("layer"), layers, layer, (value) => chosen([at, Number(value), head]));
  const read = (value) => (value === "mean" || value === "max" ? value : Number(value));
  const headList = choice(page.say("head"), named, head, (value) => chosen([at, layer, read(value)]));
  const texts = page.traces.map((one) => [one.index, page.called(one)]);
  const textList = () => choice(page.say("trace"), texts, at, (value) => chosen([Number(value), layer, head]));
  return [
    page.traces.length > 1 ? captioned(page, "trace", textList()) : null,
    stepper(page, "layer", layerList, (step) => chosen([at, Math.min(Math.max(layer + step, 0), depth - 1), head])),
    stepper(page, "head", headList, (step) => chosen([at, layer, neighbour(head, step, heads)])),
  ];
};

/** What a page forgets when it shows another trace. */
export const FORGOTTEN = Object.freeze({ token: null, partner: null, key: null, clipped: [], removed: [], box: null });

/** Build anew what is in an element, the focus staying on the part of the same label. */
const relabelled = (row, parts) => {
  const label = row.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  row.replaceChildren(...parts);
  const alike = (part) => label && part.getAttribute("aria-label") === label;
  [...row.querySelectorAll("[aria-label]")].find(alike)?.focus();
};

/** The row of pickers. A comparison has pickers of its own for each of its two sides. */
export const createPickers = (page) => {
  const row = element("div", { class: "pickers" });
  const update = () => {
    const { state, trace } = page;
    const chosen = ([at, layer, head]) =>
      page.set({ trace: at, layer, head, ...(at === state.trace ? {} : FORGOTTEN) });
    const places = state.view === "compare" ? [] : placePickers(page, [state.trace, state.layer, state.head], chosen);
    const aside = [...trace.queries.words, ...trace.keys.words].some((unit) => unit.aside);
    const special = tick(page.say("special"), state.special, (on) => page.set({ special: on, box: null }));
    relabelled(row, [
      ...places.filter(Boolean),
      tick(page.say("unit.pieces"), state.unit === "pieces", (on) =>
        page.set({ unit: on ? "pieces" : "words", box: null }),
      ),
      ...(aside ? [element("span", { title: page.say("special.why") }, special)] : []),
    ]);
  };
  return { element: row, update };
};
