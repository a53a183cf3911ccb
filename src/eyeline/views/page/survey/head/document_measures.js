// What a head does in the document of an example, beside what it does in all.

import { measureSaid, valueSaid } from "../measures.js";

/** The measures that are told: how broadly it looks, and what its first kind is decided by. @type {(page: SurveyPage) => MeasureName[]} */
const toldOf = (page) => {
  const { survey, state: { layer, head } } = page;
  const [kind] = survey.kindsOf(layer, head);
  const deciding = kind ? survey.decides(kind) : null;
  return [...new Set(["entropy", deciding ?? "distance"])].filter((name) => name !== "induction");
};

/**
 * The measures in words: "entropy 3.35 nats (2.63 nats)"; empty where the host doesn't have them, as a file.
 * @type {(page: SurveyPage, document: number) => Promise<string>}
 */
export const documentSaid = async (page, document) => {
  const { survey, state: { survey: other, layer, head } } = page;
  const request = /** @type {HostRequest} */ (/** @type {unknown} */ ({ kind: "documents", other, layer, head, first: document, count: 1 }));
  try {
    const { reply } = await page.host.ask(request);
    const found = /** @type {Record<string, (number | null)[]>} */ (/** @type {unknown} */ (reply));
    if (found.document[0] !== document) return "";
    return toldOf(page).map((measure) => page.say("survey.head.document.measure", {
      measure: measureSaid(page, measure), value: valueSaid(page, measure, found[measure][0] ?? NaN, 1),
      all: valueSaid(page, measure, survey.value(measure, layer, head), 1),
    })).join("; ");
  } catch {
    return ""; // the survey's other parts say what is wrong
  }
};
