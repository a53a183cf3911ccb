// What a survey's page shows: corpus, model, counts, settings, measure, version.

import { isolated, printable } from "../drawing/labels.js";
import { measureSaid } from "./measures.js";

/** A whole number with its thousands apart, as the language does it. @type {(page: SurveyPage, count: number) => string} */
export const counted = (page, count) => new Intl.NumberFormat(page.language).format(count);

/** The counts of a survey in words. @type {(page: SurveyPage, survey: MeasuredHeads) => string[]} */
export const countsSaid = (page, { entry: { counts, skipped } }) => {
  const missing = Object.values(skipped.counts).reduce((sum, count) => sum + count, 0);
  const count = counted(page, counts.documents);
  return [
    missing ? page.say("survey.documents.skipped", { count, skipped: counted(page, missing) })
      : page.say("survey.documents", { count }),
    page.say("survey.tokens", { count: counted(page, counts.tokens) }),
  ];
};

/** What tells a survey from the other: its corpus, or where both have the same, its model. @type {(page: SurveyPage, at: number) => string} */
export const shortName = ({ surveys }, at) => {
  const [first, second] = surveys;
  const one = surveys[at];
  return isolated(printable(second && first.name === second.name ? one.model.name : one.name));
};

/** The settings of a survey in words. @type {(page: SurveyPage, survey: MeasuredHeads) => string} */
const settingsSaid = (page, { entry: { settings } }) =>
  page.say("survey.window", { window: settings.window, overlap: settings.overlap });

/**
 * What is shown, `plain` for tables and `said` for pictures and paper.
 * @type {(page: SurveyPage) => { plain: Provenance, said: string[] }}
 */
export const figuresOf = (page) => {
  const { state, header, shown } = page;
  const open = state.view === "head";
  const [layer, head] = open ? [state.layer, state.head] : [null, null];
  const places = shown.map(({ name, model, entry }) => ({
    text: name, model: model.name, layer, head, mask: null,
    documents: entry.counts.documents, tokens: entry.counts.tokens, settings: entry.settings,
    made_by: `eyeline ${entry.version}`,
  }));
  const [first, second] = shown;
  const difference = !open && second && state.sides === "difference";
  const quantity = open ? null : difference ? `difference of ${state.measure}` : state.measure;
  const name = measureSaid(page, state.measure);
  return {
    plain: { version: header.version, places, changes: {}, quantity, unit: null, special: null },
    said: [
      ...shown.flatMap((one) => [printable(one.name), one.model.name, ...countsSaid(page, one), settingsSaid(page, one)]),
      open ? `L${layer}H${head}` : difference && first ? page.say("survey.difference.of", { measure: name }) : name,
      ...(state.kind && !open ? [page.say(`kind.${state.kind}`)] : []),
      `Eyeline ${header.version}`,
    ],
  };
};
