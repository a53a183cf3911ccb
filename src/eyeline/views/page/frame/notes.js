// Notes on what is shown: the texts that a model's vocabulary lacks.

import { element, phrase } from "../drawing/dom.js";

/** The largest number of texts named. */
const NAMED = 12;

/** The notes on the texts of the shown places. @type {(page: Page) => PagePart} */
export const createNotes = (page) => {
  const notes = element("div", { class: "notes" });
  const update = () => {
    const lines = new Set(page.places().flatMap(([at]) => [page.traces[at].queries, page.traces[at].keys]));
    notes.replaceChildren(
      ...[...lines].filter((line) => line.unknown.texts.length).map(({ unknown: { piece, texts } }) => {
        const named = texts.slice(0, NAMED).flatMap((text, at) => [at ? ", " : "", element("bdi", {}, text)]);
        const more = texts.length > NAMED ? ", …" : "";
        const said = phrase(page.say("unknown"), { piece, texts: [...named, more] });
        return element("p", { class: "unknown" }, ...said);
      }),
    );
  };
  return { element: notes, update };
};
