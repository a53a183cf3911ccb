// A head's measures: each as a bar from zero, its number, and its place among all heads.

import { element } from "../../drawing/dom.js";
import { printable } from "../../drawing/labels.js";
import { endOf, endSaid, meaningOf, measureSaid, numberSaid, unitOf, valueSaid } from "../measures.js";
import { placeSaid } from "./ordinals.js";

/** The measures of a survey's heads that aren't of one type of token. @type {(survey: MeasuredHeads) => MeasureName[]} */
export const plainMeasures = (survey) => survey.measures.filter((name) => !name.includes("."));

/** The standard deviation of a head's measure over documents. @type {(survey: MeasuredHeads, measure: MeasureName, layer: number, head: number) => number} */
export const spreadOf = ({ entry, heads }, measure, layer, head) => entry.spread[measure]?.[layer * heads + head] ?? NaN;

/** The other of two surveys, if it has the same heads. @type {(page: SurveyPage) => MeasuredHeads | null} */
export const otherOf = (page) => {
  const other = page.surveys[1 - page.state.survey];
  return other && other.fits(page.survey) ? other : null;
};

/** @param {SurveyPage} page */
export const createMeasureTable = (page) => {
  const title = element("h2", {});
  const rows = element("div", { class: "measure-rows", role: "list" });
  const note = element("p", { class: "quiet" });
  const whole = element("section", { class: "head-measures" }, title, rows, note);

  /** Where a measure's bar ends: shares have the whole row as their scale, they are parts of one thing. @type {(measure: MeasureName, other: MeasuredHeads | null) => number} */
  const barEnd = (measure, other) => {
    const all = page.survey.all(measure);
    return unitOf(measure) === "share" ? 1 : endOf(measure, other ? [...all, ...other.all(measure)] : all);
  };

  /** @type {(measure: MeasureName, other: MeasuredHeads | null) => HTMLElement} */
  const row = (measure, other) => {
    const { survey, state: { layer, head } } = page;
    const [value, all] = [survey.value(measure, layer, head), survey.all(measure)];
    const second = other ? other.value(measure, layer, head) : NaN;
    const end = barEnd(measure, other);
    const spread = spreadOf(survey, measure, layer, head);
    const number = valueSaid(page, measure, value, end);
    const spreadText = Number.isNaN(spread) ? "" : ` ± ${numberSaid(measure, spread, end)}`;
    const mark = Number.isNaN(second) ? null : element("span", {
      class: "other-mark", title: `${printable(other?.name ?? "")}: ${valueSaid(page, measure, second, end)}`,
      style: { "inset-inline-start": `${(100 * second) / end}%` },
    });
    return element(
      "div", { class: "measure-row", role: "listitem", title: meaningOf(page, measure), "data-measure": measure },
      element("span", { class: "measure-name" }, measureSaid(page, measure)),
      element("span", { class: "measure-room", "aria-hidden": "true" },
        element("span", { class: "measure-fill", style: { width: `${(100 * (value || 0)) / end}%` } }), mark),
      element("span", { class: "measure-number" }, number, element("span", { class: "quiet" }, spreadText)),
      element("span", { class: "quiet measure-place" }, placeSaid(page, value, all)),
    );
  };

  const update = () => {
    const other = otherOf(page);
    title.textContent = page.say("survey.head.measures");
    rows.replaceChildren(...plainMeasures(page.survey).map((measure) => row(measure, other)));
    const ends = plainMeasures(page.survey).filter((measure) => unitOf(measure) !== "share").map((measure) =>
      `${measureSaid(page, measure)} ${endSaid(page, measure, barEnd(measure, other))}`);
    const parts = [page.say("survey.head.measures.note", { ends: ends.join(", ") })];
    if (other) parts.push(page.say("survey.head.measures.other", { name: printable(other.name), model: other.model.name }));
    note.textContent = parts.join(" ");
  };
  return { element: whole, update };
};
