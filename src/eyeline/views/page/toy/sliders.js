// The sliders of one query's scores: dragging one moves the key along the query, so that the formula stays whole.

import { button, choice, element } from "../drawing/dom.js";
import { isolated, named, percent } from "../drawing/labels.js";
import { plain } from "./arithmetic.js";
import { scored } from "./example.js";

const LEAST = 4; // the scores that a slider reaches at least, on either side of 0
const STEP = 0.1;

/** @type {(scores: number[]) => number} */
const reach = (scores) => Math.max(LEAST, ...scores.map((score) => Math.ceil(Math.abs(score) - 1e-9)));

/**
 * The strip of sliders; `fill` shows the scores and weights of a toy in it.
 * @type {(of: { page: Page, toy: () => Toy, change: (toy: Toy) => void }) => {
 *   element: HTMLElement, fill: (toy: Toy, steps: ToySteps) => void,
 * }}
 */
export const createSliders = ({ page, toy, change }) => {
  const { words } = toy();
  const held = { row: -1 }; // the key whose slider is being dragged, whose thumb stays under the pointer
  const inputs = words.map((word, key) => {
    const input = element("input", {
      type: "range", step: STEP, "aria-label": page.say("toy.score.of", { word: isolated(named(word)) }), "data-focus": `slide-${key}`,
    });
    input.addEventListener("input", () => {
      held.row = key;
      change(scored(toy(), toy().row, key, Number(input.value)));
    });
    input.addEventListener("change", () => (held.row = -1));
    return input;
  });
  const lines = words.map((word, key) =>
    element(
      "div",
      { class: "slide", "data-slide": key },
      element("bdi", { class: "word key" }, named(word)),
      inputs[key],
      element("span", { class: "number score" }),
      element("span", { class: "number weight" }),
    ),
  );
  const who = element("span", {});
  const why = element("p", { class: "quiet" });
  const strip = element(
    "section",
    { class: "slides", "aria-label": page.say("toy.slide") },
    element("div", { class: "head" }, element("span", {}, page.say("toy.slide")), " ", who),
    why,
    element("div", { class: "lines" }, lines),
  );
  /** @type {(toy: Toy, steps: ToySteps) => void} */
  const fill = ({ words: names, q, row }, { scores, weights }) => {
    /** @type {[number, string][]} */
    const options = names.map((word, at) => [at, named(word)]);
    const list = choice(page.say("toy.row"), options, row, (value) => change({ ...toy(), row: Number(value) }));
    list.setAttribute("data-focus", "row");
    if (who.firstChild !== document.activeElement || who.childElementCount === 0) who.replaceChildren(list);
    const nothing = q[row].every((number) => number === 0);
    const end = reach(scores[row]);
    inputs.forEach((input, key) => {
      if (held.row !== key) {
        [input.min, input.max] = [String(-end), String(end)];
        input.value = String(scores[row][key]);
      }
      input.disabled = nothing;
      input.setAttribute("aria-valuetext", `${plain(scores[row][key])}, ${percent(weights[row][key])}`);
      lines[key].querySelector(".score")?.replaceChildren(plain(scores[row][key]));
      lines[key].querySelector(".weight")?.replaceChildren(percent(weights[row][key]));
    });
    why.textContent = page.say(nothing ? "toy.slide.nothing" : "toy.slide.why", { word: isolated(named(names[row])) });
  };
  return { element: strip, fill };
};

/** The mask, as a control in the step that it changes. @type {(page: Page, mask: ToyMask, chosen: (mask: ToyMask) => void) => HTMLElement} */
export const maskChoice = (page, mask, chosen) => {
  /** @type {[ToyMask, string][]} */
  const options = [
    ["none", page.say("toy.mask.none")],
    ["causal", page.say("toy.mask.causal")],
    ["padding", page.say("toy.mask.padding")],
  ];
  const list = choice(page.say("toy.mask"), options, mask, (value) => {
    const next = options.find(([name]) => name === value)?.[0];
    if (next) chosen(next);
  });
  list.setAttribute("data-focus", "mask");
  return list;
};

/** A button of the view. @type {(text: string, focus: string, pressed: () => void) => HTMLButtonElement} */
export const plainButton = (text, focus, pressed) => button(text, pressed, { class: "plain", "data-focus": focus });
