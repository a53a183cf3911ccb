// The kinds of heads: a button for each with its sign and how many heads are of it; pressed, the other heads fade. A head
// counts for its first kind.

import { button, element } from "../../drawing/dom.js";
import { KINDS } from "../../weights/kinds.js";
import { endSaid, measureSaid } from "../measures.js";
import { glyph } from "./glyphs.js";

/** The kinds that a survey's heads have, with how many heads are of each. @type {(survey: MeasuredHeads) => Map<KindName, number>} */
export const countedKinds = ({ kind: kinds }) => {
  /** @type {Map<KindName, number>} */
  const counts = new Map();
  for (const kind of KINDS) {
    const count = kinds.filter((own) => own === kind).length;
    if (count) counts.set(kind, count);
  }
  return counts;
};

/**
 * The first of the chosen surveys that knows a measure which decides a kind: with the kind, its measure is shown.
 * @type {(page: SurveyPage, kind: KindName) => Partial<SurveyState>}
 */
const chosen = ({ surveys }, kind) => {
  const [survey] = surveys.filter((one) => one.measures.includes(one.decides(kind) ?? ""));
  const measure = survey?.decides(kind);
  return measure ? { kind, measure } : { kind };
};

/**
 * When a head is of a kind: "entropy above 3.8 nats"; empty for "mixed".
 * @type {(page: SurveyPage, kind: KindName) => string}
 */
export const ruleOf = (page, kind) => {
  const [label] = page.surveys.flatMap(({ entry }) => entry.labels.filter(({ key }) => key === kind));
  if (!label) return kind === "mixed" ? page.say("survey.kind.mixed") : "";
  const { measure, above } = label;
  return page.say("survey.kind.rule", { measure: measureSaid(page, measure), above: endSaid(page, measure, above) });
};

/** Rebuild the filter in an element. @type {(page: SurveyPage, row: HTMLElement) => void} */
export const fillKindFilter = (page, row) => {
  const { surveys, state } = page;
  const counts = surveys.map(countedKinds);
  const kinds = KINDS.filter((kind) => counts.some((one) => one.has(kind)));
  const focused = [...row.children].findIndex((one) => one === document.activeElement);
  /** @type {(kind: KindName | null, numbers: number[]) => HTMLElement} */
  const one = (kind, numbers) =>
    button(
      [
        kind && glyph(kind), kind ? page.say(`kind.${kind}`) : page.say("survey.kinds.all"), " ",
        element("span", { class: "count" }, numbers.join(" / ")),
      ],
      () => page.set(kind === null || kind === state.kind ? { kind: null } : chosen(page, kind)),
      { class: "plain", "aria-pressed": String(state.kind === kind), title: kind && ruleOf(page, kind) },
    );
  row.setAttribute("aria-label", page.say("survey.kinds"));
  const { scrollLeft } = row;
  row.replaceChildren(
    one(null, surveys.map(({ count }) => count)),
    ...kinds.map((kind) => one(kind, counts.map((each) => each.get(kind) ?? 0))),
  );
  /** @type {HTMLElement | undefined} */
  const again = /** @type {HTMLElement[]} */ ([...row.children])[focused];
  again?.focus();
  // A row that is wider than a phone scrolls: it stays where it was, or the chosen kind comes into its middle.
  row.scrollLeft = scrollLeft;
  /** @type {HTMLElement | null} */
  const chosenOne = row.querySelector("[aria-pressed=true]");
  if (!chosenOne || !state.kind) return;
  const middle = chosenOne.offsetLeft - row.offsetLeft - (row.clientWidth - chosenOne.offsetWidth) / 2;
  if (Math.abs(middle - scrollLeft) > (row.clientWidth - chosenOne.offsetWidth) / 2) row.scrollLeft = middle;
};
