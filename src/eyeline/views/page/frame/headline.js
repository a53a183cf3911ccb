// The title line: what the page shows, and one sentence that says what one sees in it.

import { element } from "../drawing/dom.js";
import { changesSaid, placeSaid, textSaid } from "../provenance.js";
import { modelSaid } from "./catalogue.js";

const LONGEST = 300; // characters of a text in the title line; the window cuts it where it likes

/** @type {(text: string) => string} */
const shortened = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

/**
 * The title and its sentence; `view` returns the current view, once it shows something.
 * @param {Page} page
 * @param {() => View | null} view
 */
export const createHeadline = (page, view) => {
  const title = element("h1", { class: "headline" });
  const says = element("p", { class: "says" });
  /** Read the view's sentence anew. */
  const retell = () => {
    const said = view()?.sentence?.() || page.say(`about.${page.state.view}`);
    if (says.textContent === said) return;
    says.textContent = said;
    says.title = said;
  };
  const update = () => {
    const places = page.places();
    const texts = [...new Set(places.map(([at]) => textSaid(page, page.traces[at])))];
    const models = [...new Set(places.map(([at]) => modelSaid(page, page.traces[at].model.name)))];
    const sites = [...new Set(places.map((place) => placeSaid(page, place)))];
    const named = texts.length ? texts : [page.say(`view.${page.state.view}`)];
    /** @type {[kind: string, text: string][]} */
    const whole = [["model", models.join(", ")], ["site", sites.join(", ")]];
    const shown = whole.concat(changesSaid(page).map((text) => ["changed", text])).filter(([, text]) => text);
    const facts = shown.map(([, text]) => text);
    title.title = [...named, ...facts].join(" · ");
    title.replaceChildren(
      ...named.map((text) => element("bdi", { class: "text" }, shortened(text))),
      ...shown.map(([kind, text]) => element("span", { class: `fact ${kind}` }, text)),
    );
    if (page.model.get("address")) {
      const parts = [named.map((text) => text.slice(0, 60)).join(", "), ...facts, page.say(`view.${page.state.view}`)];
      document.title = `${parts.join(" · ")} – Eyeline`;
    }
    retell();
  };
  return { title, says, update, retell };
};
