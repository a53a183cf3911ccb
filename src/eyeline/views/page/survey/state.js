// The state of a survey's page, and the words that restore it.

import { languageOf } from "../language.js";
import { index, oneOf, settingsOf } from "../state.js";
import { KINDS } from "../weights/kinds.js";

/** @type {Readonly<SurveyState>} Numbers that name something count from 0. */
const DEFAULTS = Object.freeze({
  view: "map", // or "head": one head's own page
  survey: 0, // of two surveys, the one whose head is open
  layer: 0,
  head: 0,
  measure: "entropy", // what the map's colours are
  order: "place", // of the map: "place"; "layer", by the measure within each; "all", by the measure
  kind: null, // of the map: the kind of heads that doesn't fade; null for all
  sides: "both", // of two surveys: "both", side by side; or their "difference"
  sort: "largest", // of a head's examples: "largest", "sample"
  example: 0, // the rank of the one that is shown
  language: null, // a code such as "vi"; null for the reader's own
  theme: null, // "light", "dark"; null for the reader's own
});

/** Parsers of each key's text in words. @type {Record<string, (text: string) => any>} */
const READ = {
  view: oneOf("map", "head"),
  survey: index,
  layer: index,
  head: index,
  measure: (text) => text,
  order: oneOf("place", "layer", "all"),
  kind: oneOf(...KINDS),
  sides: oneOf("both", "difference"),
  sort: oneOf("largest", "sample"),
  example: index,
  language: languageOf,
  theme: oneOf("light", "dark"),
};

/** A whole state from some settings. @type {(given?: Partial<SurveyState>) => SurveyState} */
export const filled = (given = {}) => ({ ...DEFAULTS, ...given });

/** The settings named by words, without invalid ones. @type {(words: string) => Partial<SurveyState>} */
export const settingsIn = (words) => settingsOf(words, READ, DEFAULTS);

/**
 * The state with all that it names there in the surveys.
 * @type {(state: SurveyState, surveys: MeasuredHeads[]) => SurveyState}
 */
export const within = (state, surveys) => {
  /** @type {(value: number, count: number) => number} */
  const bounded = (value, count) => Math.min(Math.max(value, 0), count - 1);
  const survey = bounded(state.survey, surveys.length);
  const { depth, heads } = surveys[survey];
  return {
    ...state,
    survey,
    layer: bounded(state.layer, depth),
    head: bounded(state.head, heads),
    measure: surveys.some((one) => one.measures.includes(state.measure)) ? state.measure : DEFAULTS.measure,
  };
};
