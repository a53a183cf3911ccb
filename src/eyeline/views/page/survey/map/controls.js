// The map's controls: the measure of its colours, the order of its heads, and two surveys side by side or their difference.

import { choice, element } from "../../drawing/dom.js";
import { captioned, relabelled } from "../../pickers.js";
import { measureSaid } from "../measures.js";

/** @type {MapOrder[]} */
const ORDERS = ["place", "layer", "all"];
/** @type {SurveyState["sides"][]} */
const SIDES = ["both", "difference"];

/** The measures of all surveys, each once, in groups: a head's own, what it gives, what tokens receive. @type {(page: SurveyPage) => MeasureName[][]} */
export const grouped = ({ surveys }) => {
  const known = new Set(surveys.flatMap(({ tables }) => [...tables.keys()]));
  const all = [...known].filter((name) => surveys.some(({ measures }) => measures.includes(name)));
  const own = all.filter((name) => !name.includes("."));
  return [own, ...["to.", "received."].map((side) => all.filter((name) => name.startsWith(side)))];
};

/** Rebuild the controls in an element. @type {(page: SurveyPage, row: HTMLElement) => void} */
export const fillControls = (page, row) => {
  const { state, surveys } = page;
  const measures = choice(page.say("survey.measure"), [], "", (measure) => page.set({ measure }));
  const titles = ["own", "to", "received"].map((name) => page.say(`survey.measures.${name}`));
  measures.append(
    ...grouped(page).flatMap((names, at) => names.length
      ? [element("optgroup", { label: titles[at] }, ...names.map((name) =>
          element("option", { value: name }, measureSaid(page, name))))]
      : []),
  );
  measures.value = state.measure;
  /** @type {[MapOrder, string][]} */
  const orders = ORDERS.map((order) => [order, page.say(`survey.order.${order}`)]);
  /** @type {[SurveyState["sides"], string][]} */
  const sides = SIDES.map((side) => [side, page.say(`survey.sides.${side}`)]);
  const [first, second] = surveys;
  relabelled(row, [
    captioned(page, "survey.measure", measures),
    captioned(page, "survey.order", choice(page.say("survey.order"), orders, state.order, (value) =>
      page.set({ order: ORDERS.find((one) => one === value) }))),
    ...(second && first.fits(second)
      ? [captioned(page, "survey.sides", choice(page.say("survey.sides"), sides, state.sides, (value) =>
          page.set({ sides: SIDES.find((one) => one === value) })))]
      : []),
  ]);
};
