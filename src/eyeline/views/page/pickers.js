// What every view is chosen by: the text, the layer, the head, words or pieces, and what is set aside.

import { button, choice, element, tick } from "./dom.js";

const stepper = (page, name, list, step) =>
  element(
    "span",
    { class: "stepper" },
    element("span", { class: "caption", "aria-hidden": "true" }, page.say(name)),
    button("‹", () => step(-1), { "aria-label": page.say(`${name}.before`) }),
    list,
    button("›", () => step(1), { "aria-label": page.say(`${name}.after`) }),
  );

/** The head after (or before) one, the mean and the largest standing before the first. */
export const neighbour = (head, step, count) => {
  const order = ["mean", "max", ...Array(count).keys()];
  return order[Math.min(Math.max(order.indexOf(head) + step, 0), order.length - 1)];
};

/** The row of pickers. */
export const createPickers = (page) => {
  const row = element("div", { class: "pickers" });
  const update = () => {
    const { state, trace } = page;
    const focused = row.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    const layers = Array.from({ length: trace.depth }, (_, layer) => [layer, page.say("layer.of", { layer: layer + 1, count: trace.depth })]);
    const heads = [
      ["mean", page.say("head.mean", { count: trace.heads })],
      ["max", page.say("head.max", { count: trace.heads })],
      ...Array.from({ length: trace.heads }, (_, head) => [head, page.say("head.one", { head: head + 1 })]),
    ];
    const layerList = choice(page.say("layer"), layers, state.layer, (value) => page.set({ layer: Number(value) }));
    const headList = choice(page.say("head"), heads, state.head, (value) =>
      page.set({ head: value === "mean" || value === "max" ? value : Number(value) }),
    );
    row.replaceChildren(
      ...(page.traces.length > 1
        ? [
            element(
              "span",
              { class: "stepper" },
              element("span", { class: "caption", "aria-hidden": "true" }, page.say("trace")),
              choice(page.say("trace"), page.traces.map((one) => [one.index, page.called(one)]), state.trace, (value) =>
                page.set({ trace: Number(value), token: null, clipped: [], removed: [], key: null, box: null }),
              ),
            ),
          ]
        : []),
      stepper(page, "layer", layerList, (step) => page.set({ layer: state.layer + step })),
      stepper(page, "head", headList, (step) => page.set({ head: neighbour(state.head, step, trace.heads) })),
      tick(page.say("unit.pieces"), state.unit === "pieces", (on) => page.set({ unit: on ? "pieces" : "words", box: null })),
      ...(trace.queries.words.some((unit) => unit.aside) || trace.keys.words.some((unit) => unit.aside)
        ? [element("span", { title: page.say("special.why") }, tick(page.say("special"), state.special, (on) => page.set({ special: on, box: null })))]
        : []),
    );
    if (focused) [...row.querySelectorAll("[aria-label]")].find((part) => part.getAttribute("aria-label") === focused)?.focus();
  };
  return { element: row, update };
};
