// Notes on what is shown: a survey that isn't complete, what was skipped, and why two surveys can't be subtracted.

import { element } from "../drawing/dom.js";
import { printable } from "../drawing/labels.js";
import { counted } from "./provenance.js";

/** @type {(page: SurveyPage) => PagePart} */
export const createNotes = (page) => {
  const notes = element("div", { class: "notes" });
  const update = () => {
    const { shown, state: { view } } = page;
    const [first, second] = shown;
    const several = shown.length > 1;
    const texts = shown.flatMap((survey) => {
      const { complete, skipped, corpus, counts } = survey.entry;
      const name = printable(survey.name);
      const missing = Object.values(skipped.counts).reduce((sum, count) => sum + count, 0);
      const lines = [
        complete ? "" : page.say("survey.incomplete", { done: counted(page, counts.documents) }),
        missing ? page.say("survey.skipped", { count: counted(page, missing), of: counted(page, corpus.documents) }) : "",
      ];
      return lines.filter(Boolean).map((text) => (several ? `${name}: ${text}` : text));
    });
    if (view === "map" && second && !first.fits(second)) texts.push(page.say("survey.difference.shape"));
    notes.replaceChildren(...texts.map((text) => element("p", { class: "quiet" }, text)));
  };
  return { element: notes, update };
};
