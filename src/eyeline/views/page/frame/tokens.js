// How tokens are shown: as words or as pieces, and special tokens in grey, one by one, or left out.

import { choice, element } from "../drawing/dom.js";
import { createDropdown } from "./dropdown.js";
import { captioned, relabelled } from "../pickers.js";

/** @type {readonly UnitKind[]} */
const UNITS = ["words", "pieces"];
/** @type {readonly SpecialTokens[]} */
const SPECIAL = ["grey", "shown", "out"];

/**
 * The list of a setting that has a few values; `texts` are theirs.
 * @type {<T extends string>(
 *   page: Page, name: "unit" | "special", values: readonly T[], texts: string[], set: (value: T) => void,
 * ) => HTMLElement}
 */
const setting = (page, name, values, texts, set) =>
  captioned(
    page, name,
    choice(page.say(name), values.map((value, at) => [value, texts[at]]), page.state[name], (text) => {
      const found = values.find((value) => value === text);
      if (found) set(found);
    }),
  );

/**
 * The button and the panel that it opens; `update` is told which of the two settings change something.
 * @param {Page} page
 */
export const createTokens = (page) => {
  const { element: details, summary, panel } = createDropdown();
  details.classList.add("of-tokens");
  /** @type {(shown: ("unit" | "special")[]) => void} */
  const update = (shown) => {
    const { state } = page;
    details.hidden = !shown.length;
    const [unit, special] = [shown.includes("unit"), shown.includes("special")];
    const changed = [
      unit && state.unit !== "words" ? page.say(`unit.${state.unit}`) : "",
      special && state.special !== "grey" ? page.say(`special.${state.special}`) : "",
    ].filter(Boolean);
    summary.textContent = [page.say("tokens"), changed.join(", ")].filter(Boolean).join(": ");
    summary.classList.toggle("changed", changed.length > 0);
    const kinds = UNITS.map((kind) => page.say(`unit.${kind}`));
    const ways = SPECIAL.map((way) => page.say(`special.${way}`));
    relabelled(panel, [
      ...(unit ? [setting(page, "unit", UNITS, kinds, (value) => page.set({ unit: value, box: null }))] : []),
      ...(special ? [
        setting(page, "special", SPECIAL, ways, (value) => page.set({ special: value, box: null })),
        element("p", { class: "quiet" }, page.say("special.why")),
      ] : []),
    ]);
  };
  return { element: details, update };
};
