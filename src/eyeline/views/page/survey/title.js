// The title line: corpus, model, documents, tokens; and one sentence that says what one sees.

import { element } from "../drawing/dom.js";
import { countsSaid } from "./provenance.js";

/**
 * The title and its sentence; `view` returns the current view.
 * @param {SurveyPage} page
 * @param {() => SurveyView | null} view
 */
export const createTitle = (page, view) => {
  const title = element("h1", { class: "headline" });
  const says = element("p", { class: "says" });
  /** The facts of a survey. @type {(survey: MeasuredHeads) => string[]} */
  const facts = (survey) => [
    survey.model.name, ...countsSaid(page, survey), ...(survey.entry.complete ? [] : [page.say("survey.running")]),
  ];
  const update = () => {
    const { shown, state, header } = page;
    /** @type {[kind: string, text: string][]} */
    const parts = shown.flatMap((survey) => [
      /** @type {[string, string]} */ (["text", survey.name]),
      ...facts(survey).map((text, at) => /** @type {[string, string]} */ ([at ? "fact" : "fact model", text])),
    ]);
    if (state.view === "head") parts.push(["fact site", `L${state.layer}H${state.head}`]);
    parts.push(["fact", `Eyeline ${header.version}`]);
    const whole = parts.map(([, text]) => text).join(" · ");
    title.title = whole;
    title.replaceChildren(...parts.map(([kind, text]) => element(kind === "text" ? "bdi" : "span", { class: kind }, text)));
    if (page.model.get("address")) document.title = `${whole.slice(0, 160)} – Eyeline`;
    const said = view()?.sentence() ?? "";
    if (says.textContent === said) return;
    [says.textContent, says.title] = [said, said];
  };
  return { element: title, says, update };
};
