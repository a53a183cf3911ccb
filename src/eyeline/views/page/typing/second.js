// The second sentence of a comparison: typed beneath the first.

import { commonWord } from "../compare/sides.js";
import { element } from "../drawing/dom.js";
import { TypedField } from "./field.js";
import { ownSettings } from "./own.js";

/** @type {(page: Page, runs: TypedRuns) => SecondSentence} */
export const createSecond = (page, runs) => {
  /** @type {Trace | null} */
  let seen = null;
  const field = new TypedField(page, runs, {
    label: "typing.second",
    model: () => page.trace.model.name,
    shown: ({ trace }) => {
      const { stop, own, layer, head, token } = page.state;
      const [first, made] = [page.trace, page.traces[trace]];
      const word = token === null ? null : first.queries.unitOf(token, "words");
      // A pinned word that the second sentence lacks gives way to one that both have.
      const same = word && made.queries.words.some((unit) => unit.text.toLowerCase() === word.text.toLowerCase());
      const ours = stop !== null && own.length > 0 ? ownSettings(page, [own[0], trace]) : {};
      page.set({ other: [trace, layer, head], partner: null, ...(same ? {} : { token: commonWord(first, made)?.[0].first ?? token }), ...ours });
    },
  });
  const mark = element("i", { class: "dot hollow", "aria-hidden": "true" });
  const box = element("div", { class: "prompt live second" }, mark, field.text, field.progress, field.trouble);
  return {
    element: box,
    update(other, first) {
      field.update();
      const models = page.header.can.models;
      box.hidden = !models.includes(first.model.name) || first.crossing;
      if (other === seen) return;
      seen = other;
      const run = runs.of(other);
      if (run && run === field.draft) return;
      field.draft = null;
      field.fill(other === first ? "" : other.queries.text);
    },
  };
};
