// What is said of a head: its kinds in words, its measures, its caption.

import { figure, percent } from "../drawing/labels.js";
import { kindsOf } from "../weights/kinds.js";

/** A number in few digits; only 0 is shown as 0. @type {(value: number, digits: number) => string} */
const brief = (value, digits) => {
  const least = 10 ** -digits;
  return value > 0 && value < least / 2 ? `<${least}` : figure(value, digits);
};

/** @type {(page: Page, one: OneHead) => [entropy: number, distance: number | null, aside: number]} */
export const measuresOf = ({ trace: { entropy, distance, aside } }, { layer, head }) => [
  entropy[layer][head], distance ? distance[layer][head] : null, aside[layer][head],
];

/**
 * What a head does, by its kinds: "L2H5 looks at the previous token (81%)"; without any, its name.
 * @type {(page: Page, one: OneHead) => string}
 */
export const doing = (page, { layer, head }) => {
  const name = `L${layer}H${head}`;
  const kinds = kindsOf(page.trace, layer, head).map(([kind, value]) =>
    page.say(`kind.does.${kind}`, { value: kind === "broad" ? figure(value ?? 0, 1) : percent(value ?? 0) }),
  );
  return kinds.length ? `${name} ${kinds.join("; ")}` : name;
};

/** The measures as texts. @type {(page: Page, one: OneHead) => { entropy: string, distance: string, aside: string }} */
const written = (page, one) => {
  const [entropy, distance, aside] = measuresOf(page, one);
  return { entropy: brief(entropy, 2), distance: brief(distance ?? 0, 1), aside: percent(aside) };
};

/** The measures of a head: entropy, distance, what special tokens take. @type {(page: Page, one: OneHead) => string} */
export const measuring = (page, one) =>
  page.say(page.trace.distance ? "overview.head" : "overview.head.cross", written(page, one));

/**
 * The caption of a head where heads are ordered by a measure: its name and the measure; else its entropy.
 * @type {(page: Page, one: OneHead, order: Exclude<Order, "pair">) => string}
 */
export const caption = (page, one, order) => {
  const measures = written(page, one);
  return order === "place" ? measures.entropy : `L${one.layer}H${one.head} · ${measures[order]}`;
};

/**
 * The short name of a head's first kind; null where kinds aren't known.
 * @type {(page: Page, one: OneHead) => string | null}
 */
export const badge = (page, { layer, head }) => {
  const [first] = kindsOf(page.trace, layer, head);
  return first ? page.say(`kind.short.${first[0]}`) : null;
};

/**
 * One sentence on all heads: how many there are, and of the most frequent kinds.
 * @type {(page: Page, counts: Map<KindName, number>) => string}
 */
export const findingOf = (page, counts) => {
  const { depth, heads } = page.trace;
  const told = [...counts].filter(([kind]) => kind !== "mixed").sort((one, other) => other[1] - one[1]).slice(0, 3);
  const kinds = told.map(([kind, count]) => `${page.say(`kind.${kind}`)} ${count}`);
  const count = depth * heads;
  if (!kinds.length) return page.say(count === 1 ? "overview.finding.one" : "overview.finding", { count });
  return page.say("overview.finding.kinds", { count, kinds: kinds.join(", ") });
};
