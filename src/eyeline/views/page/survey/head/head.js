// A head's own page.

import { element } from "../../drawing/dom.js";
import { svgOf } from "../../drawing/svg.js";
import { doing } from "../measures.js";

/** The view. @type {(page: SurveyPage) => SurveyView} */
export const createHead = (page) => {
  const whole = element("div", { class: "survey-head" });
  const told = () => doing(page, page.survey, page.state.layer, page.state.head);
  return {
    element: whole,
    sentence: told,
    quantity: () => "",
    update: () => whole.replaceChildren(element("p", {}, told())),
    numbers: () => ({ name: "head", columns: [], rows: [] }),
    picture: () => svgOf(whole, [whole]),
  };
};
