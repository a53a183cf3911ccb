// What a head looks at by type of token, and what a token of each type receives.

import { element } from "../../drawing/dom.js";
import { figure, onScale } from "../../drawing/labels.js";
import { scaleEnd } from "../../weights/quantity.js";
import { endOf, typeName } from "../measures.js";
import { wordOf } from "../measured.js";
import { otherOf } from "./measure_table.js";

/** What a token receives, in as many digits as say something. @type {(value: number) => string} */
const receivedSaid = (value) =>
  value > 0 && value < 0.005 ? "<0.01" : figure(value, value < 10 ? 2 : value < 100 ? 1 : 0);

/** @param {SurveyPage} page */
export const createTypeTable = (page) => {
  const title = element("h2", {});
  const table = element("table", { class: "type-table" });
  const note = element("p", { class: "quiet" });
  const whole = element("section", { class: "by-type" }, title, table, note);

  /** A bar of the part of its scale; `even` is where all would be the same, `second` another survey's. */
  /** @type {(part: number, special: boolean, second: number, even?: number) => HTMLElement} */
  const bar = (part, special, second, even) =>
    element("span", { class: "measure-room", "aria-hidden": "true" },
      element("span", { class: special ? "measure-fill aside" : "measure-fill", style: { width: `${100 * (part || 0)}%` } }),
      even === undefined ? null : element("span", { class: "even-mark", style: { "inset-inline-start": `${100 * even}%` } }),
      second >= 0 ? element("span", { class: "other-mark", style: { "inset-inline-start": `${100 * second}%` } }) : null);

  const update = () => {
    const { survey, state: { layer, head } } = page;
    title.textContent = page.say("survey.head.types");
    const other = otherOf(page);
    /** @type {(side: string, type: string) => number} */
    const second = (side, type) => other?.value(`${side}.${wordOf(type)}`, layer, head) ?? NaN;
    const rows = survey.types.map((type) => ({
      type,
      to: survey.value(`to.${wordOf(type)}`, layer, head),
      received: survey.value(`received.${wordOf(type)}`, layer, head),
      others: { to: second("to", type), received: second("received", type) },
    })).filter(({ to, received }) => to > 0 || received >= 0); // without those that the corpus has none of
    const toEnd = scaleEnd(rows.flatMap(({ to, others }) => [to, others.to])) || 1;
    const receivedEnd = Math.max(endOf("received.", rows.flatMap(({ received, others }) => [received, others.received])), 1);
    const named = ["survey.head.type", "survey.head.to", "survey.head.received"].map((key) => page.say(key));
    table.replaceChildren(
      element("thead", {}, element("tr", {},
        element("th", { scope: "col" }, named[0]),
        element("th", { scope: "col", colspan: 2 }, named[1], element("span", { class: "quiet" }, ` 0 – ${onScale(toEnd, toEnd)}`)),
        element("th", { scope: "col", colspan: 2 }, named[2], element("span", { class: "quiet" }, ` 0 – ${figure(receivedEnd, receivedEnd < 10 ? 1 : 0)}`)))),
      element("tbody", {}, ...rows.map(({ type, to, received, others }) => {
        const special = type === "special" || type === "first";
        return element("tr", { "data-type": type },
          element("th", { scope: "row" }, typeName(page, type)),
          element("td", { class: "bar-cell" }, bar(to / toEnd, special, others.to / toEnd)),
          element("td", { class: "number" }, Number.isNaN(to) ? "–" : onScale(to, toEnd)),
          element("td", { class: "bar-cell" }, bar(received / receivedEnd, special, others.received / receivedEnd, 1 / receivedEnd)),
          element("td", { class: "number" }, receivedSaid(received)));
      })),
    );
    note.textContent = page.say("survey.head.types.note");
  };
  return { element: whole, update };
};
