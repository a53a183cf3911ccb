// What the map says in one or two sentences: which kinds, how many, where; and the measure's ends.

import { endOf, measureSaid, signedSaid, unitOf, valueSaid } from "../measures.js";
import { shortName } from "../provenance.js";
import { countedKinds } from "./kind_filter.js";

/** The name of a head, from its number. @type {(survey: MeasuredHeads, at: number) => string} */
export const nameOf = ({ heads }, at) => `L${Math.floor(at / heads)}H${at % heads}`;

/** The heads with the least and the largest number; null if there are none. @type {(values: Float64Array, wanted: (at: number) => boolean) => [least: number, most: number] | null} */
const ends = (values, wanted) => {
  const all = Array.from(values, (_, at) => at).filter((at) => !Number.isNaN(values[at]) && wanted(at));
  if (!all.length) return null;
  /** @type {(better: (one: number, other: number) => boolean) => number} */
  const best = (better) => all.reduce((found, at) => (better(values[at], values[found]) ? at : found));
  return [best((one, other) => one < other), best((one, other) => one > other)];
};

/** The layer with most heads of a kind, and how many. @type {(survey: MeasuredHeads, kind: KindName) => { layer: number, count: number }} */
const where = (survey, kind) => {
  const counts = Array.from({ length: survey.depth }, (_, layer) =>
    survey.kind.slice(layer * survey.heads, (layer + 1) * survey.heads).filter((one) => one === kind).length);
  const count = Math.max(...counts);
  return { layer: counts.indexOf(count), count };
};

/** A measure's least and largest number among some heads. @type {(page: SurveyPage, survey: MeasuredHeads, wanted: (at: number) => boolean) => string} */
const spread = (page, survey, wanted) => {
  const { measure } = page.state;
  const values = survey.all(measure);
  const found = ends(values, wanted);
  if (!found) return "";
  const end = endOf(measure, values);
  const [least, most] = found.map((at) => valueSaid(page, measure, values[at], end));
  const [low, high] = found.map((at) => nameOf(survey, at));
  const name = measureSaid(page, measure);
  if (low === high) return page.say("survey.finding.only", { measure: name, most, high });
  return page.say("survey.finding.ends", { measure: name, least, low, most, high });
};

/** Of one survey: its kinds, or the chosen one. @type {(page: SurveyPage, survey: MeasuredHeads) => string} */
const ofOne = (page, survey) => {
  const { kind } = page.state;
  const counts = countedKinds(survey);
  if (kind) {
    const count = counts.get(kind) ?? 0;
    const { layer, count: most } = where(survey, kind);
    const values = { count, of: survey.count, kind: page.say(`kind.${kind}`), layer, most };
    const said = page.say(count ? "survey.finding.kind" : "survey.finding.none", values);
    return [said, spread(page, survey, (at) => survey.kind[at] === kind)].filter(Boolean).join(" ");
  }
  const told = [...counts].filter(([name]) => name !== "mixed").sort((one, other) => other[1] - one[1]);
  const kinds = told.map(([name, count]) => `${page.say(`kind.${name}`)} ${count}`).join(", ");
  const mixed = counts.get("mixed") ?? 0;
  const said = told.length
    ? page.say("survey.finding.kinds", { of: survey.count, kinds, mixed })
    : page.say("survey.finding.mixed", { of: survey.count });
  return `${said} ${spread(page, survey, () => true)}`.trim();
};

/** Of two: how many heads of each kind. @type {(page: SurveyPage) => string} */
const ofBoth = (page) => {
  const [first, second] = page.surveys.map(countedKinds);
  const kinds = [...new Set([...first.keys(), ...second.keys()])];
  /** @type {(name: KindName) => number} */
  const size = (name) => (name === "mixed" ? 0 : (first.get(name) ?? 0) + (second.get(name) ?? 0));
  const { kind } = page.state;
  const told = kind ? [kind] : kinds.sort((one, other) => size(other) - size(one));
  const counts = told.map((name) => page.say("survey.finding.pair", {
    kind: page.say(`kind.${name}`), first: first.get(name) ?? 0, second: second.get(name) ?? 0,
  }));
  return page.say("survey.finding.both", {
    first: shortName(page, 0), second: shortName(page, 1),
    kinds: counts.join(", "),
  });
};

/** Of their difference: the largest changes up and down. @type {(page: SurveyPage, values: Float64Array, end: number) => string} */
const ofDifference = (page, values, end) => {
  const [survey] = page.surveys;
  const { measure, kind } = page.state;
  const found = ends(values, (at) => !kind || page.surveys.some((one) => one.kind[at] === kind));
  const name = measureSaid(page, measure);
  if (!found || !found.some((at) => values[at] !== 0)) return page.say("survey.finding.nothing", { measure: name });
  /** @type {(at: number) => string} */
  const said = (at) => `${nameOf(survey, at)} ${signedSaid(measure, values[at], end)}`;
  return page.say("survey.finding.difference", {
    measure: name, second: shortName(page, 1), first: shortName(page, 0), up: said(found[1]), down: said(found[0]),
    unit: page.say(`survey.units.${unitOf(measure)}`),
  });
};

/** What the map shows. @type {(page: SurveyPage, difference: { values: Float64Array, end: number } | null) => string} */
export const findingOf = (page, difference) => {
  if (difference) return ofDifference(page, difference.values, difference.end);
  return page.surveys.length > 1 ? ofBoth(page) : ofOne(page, page.surveys[0]);
};
