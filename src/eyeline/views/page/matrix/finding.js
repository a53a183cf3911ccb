// One sentence that says what one sees in a matrix.

import { percent } from "../drawing/labels.js";
import { kindsOf } from "../weights/kinds.js";

/**
 * What a head's label says of its matrix; without one, or with a changed mask, how a matrix is read.
 * @type {(page: Page) => string}
 */
export const findingOf = (page) => {
  const { layer, head, ahead, padded, scaled, removed } = page.state;
  const recorded = ahead && !padded && scaled && !removed.length;
  const [[name, value] = ["mixed", null]] = recorded ? kindsOf(page.trace, layer, head) : [];
  if (name !== "mixed") return page.say(`matrix.finding.${name}`, { share: percent(value ?? 0) });
  return page.say(`matrix.finding.${page.dark ? "dark" : "light"}`);
};
