// The measures in words: their names, units, and the ends of their scales.

import { figure, isolated, onScale, percent, printable } from "../drawing/labels.js";
import { roundEnd, scaleEnd } from "../weights/quantity.js";
import { said } from "../words.js";

/** Steps of the ends of scales that are no shares. */
const STEPS = [1, 1.5, 2, 3, 4, 5, 6, 8];

/** What a measure's numbers are: shares of weight, nats, tokens, or weight that a token receives. @typedef {"share" | "nats" | "tokens" | "weight"} Unit */

/** @type {(measure: MeasureName) => Unit} */
export const unitOf = (measure) => {
  if (measure === "entropy") return "nats";
  if (measure === "distance") return "tokens";
  return measure.startsWith("received.") ? "weight" : "share";
};

/** The name of a type of token; a user's own is as it is. @type {(page: SurveyPage, type: string) => string} */
export const typeName = (page, type) =>
  said(page.language, `survey.type.${type}`) ?? isolated(printable(type));

/** The same of the type that a measure names. @type {(page: SurveyPage, measure: MeasureName) => string} */
const typeSaid = (page, measure) => typeName(page, page.surveys.map((one) => one.typeOf(measure)).find(Boolean) ?? "");

/** The name of a measure: "entropy", "weight on punctuation". @type {(page: SurveyPage, measure: MeasureName) => string} */
export const measureSaid = (page, measure) => {
  const [side, type] = measure.split(/\.(.*)/s);
  if (type === undefined) return page.say(`survey.measure.${measure}`);
  return page.say(`survey.measure.${side}`, { type: typeSaid(page, measure) });
};

/** What a measure means, in one sentence. @type {(page: SurveyPage, measure: MeasureName) => string} */
export const meaningOf = (page, measure) => {
  const [side, type] = measure.split(/\.(.*)/s);
  if (type === undefined) return page.say(`survey.means.${measure}`);
  return page.say(`survey.means.${side}`, { type: typeSaid(page, measure) });
};

/** The end of a measure's scale from zero, for these numbers. @type {(measure: MeasureName, numbers: Iterable<number>) => number} */
export const endOf = (measure, numbers) => {
  if (unitOf(measure) === "share") return scaleEnd(numbers) || 0.01;
  let most = 0;
  for (const number of numbers) if (number > most) most = number;
  return roundEnd(most, { steps: STEPS });
};

/** A number of a measure, without its unit but for %. @type {(measure: MeasureName, value: number, end: number) => string} */
export const numberSaid = (measure, value, end) => {
  if (Number.isNaN(value)) return "–";
  if (unitOf(measure) === "share") return onScale(value, end);
  const digits = end >= 100 ? 0 : end >= 10 ? 1 : 2;
  const least = 10 ** -digits;
  return value > 0 && value < least / 2 ? `<${least.toFixed(digits)}` : figure(value, digits);
};

/** A number with its unit: "2.41 nats", "93%". @type {(page: SurveyPage, measure: MeasureName, value: number, end: number) => string} */
export const valueSaid = (page, measure, value, end) => {
  const number = numberSaid(measure, value, end);
  const unit = unitOf(measure);
  return unit === "share" || Number.isNaN(value) ? number : page.say(`survey.unit.${unit}`, { number });
};

/**
 * A difference of two numbers with its sign: that of shares is in percentage points, without their name.
 * @type {(measure: MeasureName, value: number, end: number) => string}
 */
export const signedSaid = (measure, value, end) => {
  if (Number.isNaN(value)) return "–";
  const size = unitOf(measure) === "share" ? (100 * Math.abs(value)).toFixed(1) : numberSaid(measure, Math.abs(value), end);
  return Number(size.replace("<", "")) === 0 ? size : `${value > 0 ? "+" : "−"}${size}`;
};

/** A difference with its unit: "+3.1 percentage points". @type {(page: SurveyPage, measure: MeasureName, value: number, end: number) => string} */
export const differenceSaid = (page, measure, value, end) => {
  const unit = unitOf(measure) === "share" ? "points" : unitOf(measure);
  const number = signedSaid(measure, value, end);
  return Number.isNaN(value) ? number : page.say(`survey.unit.${unit}`, { number });
};

/** A round number as short as it is. @type {(value: number) => string} */
export const plain = (value) => String(Number(value.toPrecision(3)));

/** The end of a scale with its unit: "5 nats". @type {(page: SurveyPage, measure: MeasureName, end: number) => string} */
export const endSaid = (page, measure, end) => {
  const unit = unitOf(measure);
  return unit === "share" ? percent(end) : page.say(`survey.unit.${unit}`, { number: plain(end) });
};

/** What a head does, by its kinds: "looks at the previous token (81%)". @type {(page: SurveyPage, survey: MeasuredHeads, layer: number, head: number) => string} */
export const deeds = (page, survey, layer, head) => {
  const texts = survey.kindsOf(layer, head).map((kind) => {
    const measure = survey.decides(kind);
    const value = measure === null ? 0 : survey.value(measure, layer, head);
    return page.say(`kind.does.${kind}`, { value: kind === "broad" ? figure(value, 1) : percent(value) });
  });
  return texts.join("; ");
};

/** The same after its name. @type {(page: SurveyPage, survey: MeasuredHeads, layer: number, head: number) => string} */
export const doing = (page, survey, layer, head) =>
  `L${layer}H${head} ${deeds(page, survey, layer, head)}`.trim();
