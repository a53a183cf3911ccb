// A head's own page in a survey: its measures, its distributions, what it looks at, and examples of its looks.

import { element } from "../../drawing/dom.js";
import { svgOf } from "../../drawing/svg.js";
import { doing } from "../measures.js";
import { createDistributions } from "./distributions.js";
import { createExamples } from "./examples.js";
import { createHeatTable } from "./heat_table.js";
import { createMeasureTable } from "./measure_table.js";
import { numbersOf } from "./numbers.js";
import { createTypeTable } from "./type_table.js";

/** The view. @type {(page: SurveyPage) => SurveyView} */
export const createHead = (page) => {
  const [measures, distributions] = [createMeasureTable(page), createDistributions(page)];
  const [types, heat, examples] = [createTypeTable(page), createHeatTable(page), createExamples(page)];
  const whole = element("div", { class: "head-page" },
    measures.element, distributions.element,
    element("div", { class: "head-figures" }, types.element, heat.element), examples.element);
  let painted = ""; // what the figures were painted of
  let asked = ""; // the head whose looking tokens were asked for

  const update = async () => {
    const { survey, layer, head } = page.state;
    const place = `${survey} ${layer} ${head}`;
    const now = [place, page.language, page.dark].join(" ");
    if (now !== painted) {
      painted = now;
      for (const part of [measures, distributions, types]) part.update();
      heat.show(asked === place ? heat.rows() : null);
    }
    examples.update();
    if (asked === place) return;
    asked = place;
    const request = /** @type {HostRequest} */ (/** @type {unknown} */ ({ kind: "tokens", other: survey, layer, head }));
    try {
      const { reply } = await page.host.ask(request);
      if (asked === place) heat.show(/** @type {LookingTokens} */ (/** @type {unknown} */ (reply)));
    } catch (error) {
      if (asked === place) heat.failed(error);
    }
  };
  return {
    element: whole,
    update,
    sentence: () => doing(page, page.survey, page.state.layer, page.state.head),
    numbers: () => numbersOf(page, heat.rows()),
    picture: () => svgOf(whole, [measures.element, distributions.element, types.element, heat.element]),
    destroy: examples.destroy,
  };
};
