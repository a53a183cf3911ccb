// Notes on what is shown: why the page opened here, and the texts that a model's vocabulary lacks.

import { element, phrase } from "../drawing/dom.js";
import { named, percent } from "../drawing/labels.js";
import { changesSaid } from "../provenance.js";
import { changesOf } from "../weights/changes.js";
import { unknownLanguage } from "./text_language.js";

/** The largest number of texts named, and of characters of each. */
const NAMED = 12;
const LONGEST = 60;

/** @type {(text: string) => string} */
const shortened = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

/** Where a page opens by itself, what is telling about that head. @type {(page: Page) => HTMLElement | null} */
const opened = (page) => {
  const { state, trace, fresh, header } = page;
  const { opening } = header;
  if (!opening || !trace || state.stop !== null || !["sentence", "steps", "matrix"].includes(state.view)) return null;
  const here = state.trace === fresh.trace && state.layer === opening.layer && state.head === opening.head;
  if (!here || changesSaid(page).length) return null;
  const query = named(trace.queries.unitOf(opening.token, "words").text);
  const key = named(trace.keys.unitOf(opening.key, "words").text);
  const said = phrase(page.say(`opened.${opening.why}`), {
    query: element("bdi", {}, query), key: element("bdi", {}, key), weight: percent(opening.weight),
  });
  return element("p", { class: "quiet opened" }, ...said);
};

/** Whether the view shows weights as trained, though the state changes them elsewhere. @type {(page: Page) => boolean} */
const unchanged = ({ state, trace }) =>
  Boolean(trace) && ["compare", "overview"].includes(state.view) && changesOf(state, trace) !== null;

/** What is said of a text in a language that its model wasn't trained on. @type {(page: Page, language: TextLanguage, model: string) => HTMLElement} */
const foreign = (page, language, model) => {
  const key = language === "another" ? "language.another" : "language.foreign";
  const name = language === "another" ? "" : page.say(`language.${language}`);
  return element("p", { class: "unknown" }, ...phrase(page.say(key), { language: name, model: element("bdi", {}, model) }));
};

/** The notes on the texts of the shown places. @type {(page: Page) => PagePart} */
export const createNotes = (page) => {
  const notes = element("div", { class: "notes" });
  const update = () => {
    const lines = new Set(page.places().flatMap(([at]) => [page.traces[at].queries, page.traces[at].keys]));
    const model = page.trace?.model.name ?? "";
    const languages = new Set([...lines].map((line) => unknownLanguage(line.text, model)));
    languages.delete(null);
    const why = opened(page) ?? page.typing?.tellingPlace(page);
    notes.replaceChildren(
      ...(why ? [why] : []),
      ...(unchanged(page) ? [element("p", { class: "quiet" }, page.say("what.if.elsewhere"))] : []),
      ...[...languages].map((one) => foreign(page, /** @type {TextLanguage} */ (one), model)),
      ...[...lines].filter((line) => line.unknown.texts.length).map(({ unknown: { piece, texts } }) => {
        const shown = texts.slice(0, NAMED).flatMap((text, at) => [at ? ", " : "", element("bdi", {}, shortened(text))]);
        const more = texts.length > NAMED ? ", …" : "";
        const said = phrase(page.say("unknown"), { piece, texts: [...shown, more] });
        return element("p", { class: "unknown" }, ...said);
      }),
    );
  };
  return { element: notes, update };
};
