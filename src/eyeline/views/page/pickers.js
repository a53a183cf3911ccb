// The pickers of all views: text, layer, head, words or pieces, and special tokens.

import { button, choice, element, tick } from "./drawing/dom.js";
import { parts } from "./sentence/bar_list.js";

/** @type {(page: Page, name: string, ...content: Child[]) => HTMLElement} */
const captioned = (page, name, ...content) =>
  element(
    "span",
    { class: "stepper" },
    element("span", { class: "caption", "aria-hidden": "true" }, page.say(name)),
    content,
  );

/** @type {(page: Page, name: string, list: HTMLElement, step: (by: number) => void) => HTMLElement} */
const stepper = (page, name, list, step) =>
  captioned(
    page, name,
    button("‹", () => step(-1), { "aria-label": page.say(`${name}.before`) }),
    list,
    button("›", () => step(1), { "aria-label": page.say(`${name}.after`) }),
  );

/**
 * The head after (or before) a head; the mean and the maximum come before the first.
 * @type {(head: HeadChoice, step: number, count: number) => HeadChoice}
 */
export const neighbour = (head, step, count) => {
  /** @type {HeadChoice[]} */
  const order = ["mean", "max", ...Array(count).keys()];
  return order[Math.min(Math.max(order.indexOf(head) + step, 0), order.length - 1)];
};

/** @typedef {[value: number | string, text: string]} Option */

/**
 * The pickers of a place: `chosen` is called with the new place.
 * @type {(page: Page, place: Place, chosen: (place: Place) => void) => (HTMLElement | null)[]}
 */
export const placePickers = (page, [at, layer, head], chosen) => {
  const { depth, heads } = page.traces[at];
  const lasts = { lastLayer: depth - 1, lastHead: heads - 1 };
  /** @type {Option[]} */
  const layers = Array.from({ length: depth }, (_, number) => [number, `L${number}`]);
  /** @type {Option[]} */
  const named = [
    ["mean", page.say("head.mean", lasts)],
    ["max", page.say("head.max", lasts)],
    ...Array.from({ length: heads }, (_, number) => /** @type {Option} */ ([number, `H${number}`])),
  ];
  const layerList = choice(page.say("layer"), layers, layer, (value) => chosen([at, Number(value), head]));
  /** @type {(value: string) => HeadChoice} */
  const read = (value) => (value === "mean" || value === "max" ? value : Number(value));
  const headList = choice(page.say("head"), named, head, (value) => chosen([at, layer, read(value)]));
  layerList.title = page.say("layer.of", lasts);
  headList.title = page.say("head.of", lasts);
  /** @type {Option[]} */
  const texts = page.traces.map((one) => [one.index, page.called(one)]);
  const textList = () => choice(page.say("trace"), texts, at, (value) => chosen([Number(value), layer, head]));
  return [
    page.traces.length > 1 ? captioned(page, "trace", textList()) : null,
    stepper(page, "layer", layerList, (step) => chosen([at, Math.min(Math.max(layer + step, 0), depth - 1), head])),
    stepper(page, "head", headList, (step) => chosen([at, layer, neighbour(head, step, heads)])),
  ];
};

/** The settings that are reset when another trace is chosen. @type {Readonly<Partial<State>>} */
export const FORGOTTEN = Object.freeze({ token: null, partner: null, key: null, clipped: null, removed: [], box: null });

/**
 * Replace an element's content, keeping the focus on the part with the same label.
 * @type {(row: HTMLElement, content: HTMLElement[]) => void}
 */
const relabelled = (row, content) => {
  const active = row.contains(document.activeElement) ? document.activeElement : null;
  const label = active?.getAttribute("aria-label");
  row.replaceChildren(...content);
  /** @type {NodeListOf<HTMLElement>} */
  const all = row.querySelectorAll("[aria-label]");
  [...all].find((part) => label && part.getAttribute("aria-label") === label)?.focus();
};

/** The largest number of texts named. */
const NAMED = 12;

/** Notes on the texts that the models' vocabularies lack. @type {(page: Page) => HTMLElement[]} */
const unknown = (page) => {
  const { state, trace, traces } = page;
  const shown = state.view === "compare" && state.other ? [trace, traces[state.other[0]]] : [trace];
  const lines = new Set(shown.flatMap((one) => [one.queries, one.keys]));
  return [...lines].filter((line) => line.unknown.texts.length).map(({ unknown: { piece, texts } }) => {
    const named = texts.slice(0, NAMED).flatMap((text, at) => [at ? ", " : "", element("bdi", {}, text)]);
    const more = texts.length > NAMED ? ", …" : "";
    return element("p", { class: "unknown" }, ...parts(page, "unknown", { piece: [piece], texts: [...named, more] }));
  });
};

/**
 * The row of pickers. The compare view has its own pickers for each of its two sides.
 * @type {(page: Page) => PagePart}
 */
export const createPickers = (page) => {
  const row = element("div", { class: "pickers" });
  const update = () => {
    const { state, trace } = page;
    /** @type {(place: Place) => void} */
    const chosen = ([at, layer, head]) =>
      page.set({ trace: at, layer, head, ...(at === state.trace ? {} : FORGOTTEN) });
    const places = state.view === "compare" ? [] : placePickers(page, [state.trace, state.layer, state.head], chosen);
    const aside = [...trace.queries.words, ...trace.keys.words].some((unit) => unit.aside);
    /** @type {[SpecialTokens, string][]} */
    const ways = [
      ["grey", page.say("special.grey")], ["shown", page.say("special.shown")], ["out", page.say("special.out")],
    ];
    const special = choice(page.say("special"), ways, state.special, (value) =>
      page.set({ special: value === "shown" || value === "out" ? value : "grey", box: null }),
    );
    relabelled(row, [
      ...places.filter((part) => part !== null),
      tick(page.say("unit.pieces"), state.unit === "pieces", (on) =>
        page.set({ unit: on ? "pieces" : "words", box: null }),
      ),
      ...(aside ? [element("span", { title: page.say("special.why") }, special)] : []),
      ...unknown(page),
    ]);
  };
  return { element: row, update };
};
