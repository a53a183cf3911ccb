// The second sentence of a comparison: typed beneath the first.

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
      const { stop, own, layer, head } = page.state;
      const ours = stop !== null && own.length > 0 ? ownSettings(page, [own[0], trace]) : {};
      page.set({ other: [trace, layer, head], partner: null, ...ours });
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
