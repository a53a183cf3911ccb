// The bar of controls: on a head's page the way back and the pickers of its place, then the view's own.

import { button, choice, element } from "../drawing/dom.js";
import { captioned, relabelled, stepper } from "../pickers.js";

/** @type {(letter: string, count: number) => [number, string][]} */
const numbered = (letter, count) => Array.from({ length: count }, (_, at) => [at, `${letter}${at}`]);

/** The button that leads back to the map. @type {(page: SurveyPage) => HTMLElement} */
const back = (page) =>
  button(["‹ ", page.say("survey.back")], () => page.set({ view: "map" }), { class: "plain survey-return" });

/** The same on a phone, where the bar is in a drawer. @type {(page: SurveyPage) => PagePart} */
export const createReturn = (page) => {
  const place = element("nav", { class: "survey-nav" });
  return {
    element: place,
    update() {
      place.hidden = page.state.view === "map";
      place.replaceChildren(back(page));
    },
  };
};

/**
 * The bar; `view` returns the current view.
 * @type {(page: SurveyPage, view: () => SurveyView | null) => PagePart}
 */
export const createBar = (page, view) => {
  const shared = element("div", { class: "shared" });
  const own = element("div", { class: "own" });
  const bar = element("div", { class: "controls", role: "group" }, shared, own);
  /** The pickers of the open head. @type {() => HTMLElement[]} */
  const place = () => {
    const { state, survey, surveys } = page;
    /** @type {(name: "layer" | "head", letter: string, count: number) => HTMLElement} */
    const picker = (name, letter, count) => {
      const list = choice(page.say(name), numbered(letter, count), state[name], (value) =>
        page.set({ [name]: Number(value) }));
      return stepper(page, name, list, (by) => page.set({ [name]: state[name] + by }));
    };
    /** @type {[number, string][]} */
    const names = surveys.map((one, at) => [at, `${one.name} · ${one.model.name}`]);
    const which = choice(page.say("survey.which"), names, state.survey, (value) => page.set({ survey: Number(value) }));
    return [
      back(page),
      ...(surveys.length > 1 ? [captioned(page, "survey.which", which)] : []),
      picker("layer", "L", survey.depth),
      picker("head", "H", survey.heads),
    ];
  };
  const update = () => {
    bar.setAttribute("aria-label", page.say("controls"));
    relabelled(shared, page.state.view === "head" ? place() : []);
    const controls = view()?.controls ?? null;
    if (own.firstChild !== controls) own.replaceChildren(...(controls ? [controls] : []));
  };
  return { element: bar, update };
};
