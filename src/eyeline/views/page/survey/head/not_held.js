// What a report's file doesn't hold: it has as many heads' examples as there is room for. And what a copy of a survey
// doesn't, which has its figures alone.

import { HostError } from "../../host_error.js";

/**
 * A note that this file or this copy has nothing of this head, if that is why a request failed; else null.
 * @type {(page: SurveyPage, error: unknown) => string | null}
 */
export const notHeld = (page, error) => {
  const { examples } = page.survey.entry;
  if (!(error instanceof HostError) || error.argument !== "file") return null;
  return examples?.kept ? page.say("survey.head.not.kept", { ...examples }) : page.say("survey.head.not.copied");
};
