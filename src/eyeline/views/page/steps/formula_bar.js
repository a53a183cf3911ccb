// The formula above the steps: it stays in view, and lights up the part that one is at.

import { element } from "../drawing/dom.js";
import { scaleName } from "./scaled_step.js";

/** A symbol, and the role whose colour it has. @typedef {[symbol: string, role?: Role]} Symbol */
/** A part of the formula: its step and its symbols. @typedef {[at: number, ...symbols: Symbol[]]} Part */

/** @type {(walk: Walkthrough) => (Part | string)[]} */
const partsOf = (walk) => [
  [0, ["x"]],
  "→",
  [1, ["W"]],
  "→",
  [4, ["softmax("]],
  [2, ["q", "query"], ["·"], ["Kᵀ", "key"]],
  [3, [scaleName(walk)]],
  [4, [")"]],
  [5, ["·"], ["V", "value"]],
  "→",
  [6, ["Wₒ"], [" + x"]],
];

/**
 * The bar, a function that makes its parts, and one that lights up a step. A press on a part calls `go` with its step.
 * @param {Page} page
 * @param {(at: number) => void} go
 */
export const createFormulaBar = (page, go) => {
  const line = element("div", { class: "line" });
  const said = element("p", { class: "here" });
  const bar = element("nav", { class: "formula" }, line, said);
  /** @type {string[]} The names of the steps. */
  let names = [];
  let shown = 0;

  /** @type {(at: number) => void} */
  const light = (at) => {
    shown = at;
    for (const part of line.children) {
      const here = part.getAttribute("data-part") === String(at);
      part.classList.toggle("here", here);
      if (here && part.matches("button")) part.setAttribute("aria-current", "step");
      else part.removeAttribute("aria-current");
    }
    said.replaceChildren(element("span", { class: "nth" }, at), " ", names[at] ?? "");
  };

  /** @type {(part: Part, again: boolean) => HTMLElement} */
  const drawn = ([at, ...symbols], again) => {
    const inside = symbols.map(([symbol, role]) => element("span", { class: role }, symbol));
    const symbol = element("span", { class: "symbol" }, inside);
    const attributes = { class: "part", "data-part": at, on: { click: () => go(at) } };
    if (again) return element("span", { ...attributes, "aria-hidden": "true" }, symbol); // the closing bracket
    const name = page.say("steps.go", { nth: at, name: names[at] });
    return element(
      "button",
      { ...attributes, type: "button", "aria-label": name, title: name, "data-focus": `formula-${at}` },
      symbol,
      element("span", { class: "name" }, element("b", {}, at), " ", page.say(`steps.short.${at}`)),
    );
  };

  /** @type {(walk: Walkthrough) => void} */
  const show = (walk) => {
    bar.setAttribute("aria-label", page.say("steps.formula"));
    const scale = { scale: scaleName(walk) };
    names = Array.from({ length: 7 }, (_, at) => page.say(`steps.name.${at}`, scale));
    /** @type {Set<number>} */
    const before = new Set();
    const parts = partsOf(walk).map((part) => {
      if (typeof part === "string") return element("span", { class: "arrow", "aria-hidden": "true" }, part);
      const again = before.has(part[0]);
      before.add(part[0]);
      return drawn(part, again);
    });
    line.replaceChildren(...parts);
    light(shown);
  };
  return { element: bar, show, light };
};
