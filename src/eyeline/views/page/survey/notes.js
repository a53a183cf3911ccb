// Notes on what is shown: a survey that isn't complete, and what two surveys' difference means, or why there is none.

import { element } from "../drawing/dom.js";
import { localNumber } from "../language.js";

/** @type {(page: SurveyPage) => PagePart} */
export const createNotes = (page) => {
  const notes = element("div", { class: "notes" });
  const update = () => {
    const { shown, state: { view, sides } } = page;
    const [first, second] = shown;
    const several = shown.length > 1;
    const texts = shown.flatMap((survey) => {
      const { complete, counts, examples } = survey.entry;
      const lines = [
        complete ? "" : page.say("survey.incomplete", { done: localNumber(page, counts.documents) }),
        examples && examples.kept < examples.of ? page.say("survey.examples.kept", { ...examples }) : "",
      ];
      return lines.filter(Boolean).map((text) => (several ? `${survey.name}: ${text}` : text));
    });
    if (view === "map" && second && !first.fits(second)) texts.push(page.say("survey.difference.shape"));
    else if (view === "map" && second && sides === "difference" && first.model.name !== second.model.name) {
      texts.push(page.say("survey.difference.models"));
    }
    notes.replaceChildren(...texts.map((text) => element("p", { class: "quiet" }, text)));
  };
  return { element: notes, update };
};
