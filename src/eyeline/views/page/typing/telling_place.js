// Where a typed text is most telling, and a button that goes there.

import { button, element, phrase } from "../drawing/dom.js";
import { named, percent } from "../drawing/labels.js";

/** The note; null where there is nothing to say, or the place is shown. @type {(page: Page) => HTMLElement | null} */
export const tellingPlace = (page) => {
  const { state, trace } = page;
  const opening = page.typing?.runs.openings.get(trace);
  if (!opening || state.stop !== null || !["sentence", "steps", "matrix"].includes(state.view)) return null;
  const { layer, head, token } = opening;
  if (state.layer === layer && state.head === head && state.token === token) return null;
  /** @type {(line: TokenizedText, at: number) => HTMLElement} */
  const word = (line, at) => element("bdi", {}, named(line.unitOf(at, "words").text));
  const said = phrase(page.say("typing.telling"), {
    place: `L${layer}H${head}`, query: word(trace.queries, token), key: word(trace.keys, opening.key), weight: percent(opening.weight),
  });
  const go = () => page.set({ layer, head, token, toward: "from" });
  return element("p", { class: "quiet opened" }, ...said, " ", button(page.say("typing.telling.go"), go, { class: "plain", "data-focus": "telling" }));
};
