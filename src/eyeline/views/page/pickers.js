// The pickers of a place: text, layer and head.

import { button, choice, element } from "./drawing/dom.js";
import { asTrained, sameEdits } from "./weights/traces.js";

/** A control with its caption, the text of `name`. @type {(page: Pick<Framed, "say">, name: string, ...content: Child[]) => HTMLElement} */
export const captioned = (page, name, ...content) =>
  element(
    "span",
    { class: "stepper" },
    element("span", { class: "caption", "aria-hidden": "true" }, page.say(name)),
    content,
  );

/** @type {(page: Pick<Framed, "say">, name: string, list: HTMLElement, step: (by: number) => void) => HTMLElement} */
export const stepper = (page, name, list, step) =>
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
    ["mean", page.say("head.all.mean")],
    ["max", page.say("head.all.max")],
    ...Array.from({ length: heads }, (_, number) => /** @type {Option} */ ([number, `H${number}`])),
  ];
  const layerList = choice(page.say("layer"), layers, layer, (value) => chosen([at, Number(value), head]));
  /** @type {(value: string) => HeadChoice} */
  const read = (value) => (value === "mean" || value === "max" ? value : Number(value));
  const headList = choice(page.say("head"), named, head, (value) => chosen([at, layer, read(value)]));
  layerList.title = page.say("layer.of", lasts);
  headList.className = "head-list"; // as wide as its numbers, not as its longest choice
  headList.title = page.say("head.of", lasts);
  /** @type {Option[]} */
  const texts = page.traces
    .filter((one) => !one.edits.length || one.index === at || sameEdits(one.edits, page.state.edits))
    .map((one) => [one.index, page.called(one)]);
  const textList = () => choice(page.say("trace"), texts, at, (value) => chosen([Number(value), layer, head]));
  return [
    texts.length > 1 ? captioned(page, "trace", textList()) : null,
    stepper(page, "layer", layerList, (step) => chosen([at, Math.min(Math.max(layer + step, 0), depth - 1), head])),
    stepper(page, "head", headList, (step) => chosen([at, layer, neighbour(head, step, heads)])),
  ];
};

/** The settings that are reset when another trace is chosen. @type {Readonly<Partial<State>>} */
export const FORGOTTEN = Object.freeze({
  token: null, partner: null, key: null, clipped: null, removed: [], box: null, edits: [],
});

/** The settings that are reset when one trace is chosen after another: none in another run with edits of the same text. @type {(page: Page, from: number, to: number) => Partial<State>} */
export const forgottenFrom = ({ traces }, from, to) =>
  asTrained(traces, traces[from]) === asTrained(traces, traces[to]) ? {} : FORGOTTEN;

/**
 * Replace an element's content, keeping the focus on the part with the same label.
 * @type {(row: HTMLElement, content: HTMLElement[]) => void}
 */
export const relabelled = (row, content) => {
  const active = row.contains(document.activeElement) ? document.activeElement : null;
  const label = active?.getAttribute("aria-label");
  row.replaceChildren(...content);
  /** @type {NodeListOf<HTMLElement>} */
  const all = row.querySelectorAll("[aria-label]");
  [...all].find((part) => label && part.getAttribute("aria-label") === label)?.focus();
};
