// What a survey's page shows: corpus, model, counts, settings, measure, version.

import { isolated } from "../drawing/labels.js";
import { localNumber } from "../language.js";
import { measureSaid } from "./measures.js";

/** The counts of a survey in words. @type {(page: SurveyPage, survey: MeasuredHeads) => string[]} */
export const countsSaid = (page, { entry: { counts, skipped } }) => {
  const missing = Object.values(skipped.counts).reduce((sum, count) => sum + count, 0);
  const count = localNumber(page, counts.documents);
  return [
    missing ? page.say("survey.documents.skipped", { count, skipped: localNumber(page, missing) })
      : page.say("survey.documents", { count }),
    page.say("survey.tokens", { count: localNumber(page, counts.tokens) }),
  ];
};

/** What tells a survey from the other: its corpus, or where both have the same, its model. @type {(page: SurveyPage, at: number) => string} */
export const shortName = ({ surveys }, at) => {
  const [first, second] = surveys;
  const one = surveys[at];
  return isolated(second && first.name === second.name ? one.model.name : one.name);
};

/** The settings of a survey in words. @type {(page: SurveyPage, survey: MeasuredHeads) => string} */
const settingsSaid = (page, { entry: { settings } }) =>
  page.say("survey.window", { window: settings.window, overlap: settings.overlap });

/** A survey as plain data. @type {(survey: MeasuredHeads) => Record<string, unknown>} */
const plainly = ({ name, model, entry: { counts, settings, version, complete } }) => ({
  corpus: name, model: model.name, model_sha256: model.sha256, ...counts, complete, settings, eyeline: version,
});

/**
 * What is shown, as plain data: the tables have all measures, so that the measure that is shown is said apart.
 * @type {(page: SurveyPage) => Provenance & { surveys: Record<string, unknown>[], measure?: string, difference?: boolean }}
 */
export const provenanceOf = ({ state, header, shown }) => {
  const open = state.view === "head";
  /** @type {(texts: string[]) => string} */
  const joined = (texts) => [...new Set(texts)].join(" – ");
  return {
    version: header.version,
    places: [{
      text: joined(shown.map(({ name }) => name)), model: joined(shown.map(({ model }) => model.name)),
      layer: open ? state.layer : null, head: open ? state.head : null, mask: null,
    }],
    changes: {}, quantity: null, unit: null, special: null,
    surveys: shown.map(plainly),
    ...(open ? {} : { measure: state.measure, difference: subtracts(state, shown) }),
  };
};

/** Whether the difference of two surveys is shown. @type {(state: SurveyState, shown: MeasuredHeads[]) => boolean} */
export const subtracts = ({ sides }, [first, second]) => Boolean(second) && first.fits(second) && sides === "difference";

/** What is shown, in words, for pictures and paper. @type {(page: SurveyPage) => string[]} */
export const provenanceParts = (page) => {
  const { state, header, shown } = page;
  const open = state.view === "head";
  const name = measureSaid(page, state.measure);
  return [
    ...shown.flatMap((one) => [one.name, one.model.name, ...countsSaid(page, one), settingsSaid(page, one)]),
    open ? `L${state.layer}H${state.head}`
      : subtracts(state, shown) ? page.say("survey.difference.of", { measure: name }) : name,
    ...(state.kind && !open ? [page.say("survey.kind.only", { kind: page.say(`kind.${state.kind}`) })] : []),
    `Eyeline ${header.version}`,
  ];
};
