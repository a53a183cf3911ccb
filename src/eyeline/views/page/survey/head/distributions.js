// A head's distributions: how far it looks, behind and ahead; its rows' entropy; its rows' largest weight.

import { element } from "../../drawing/dom.js";
import { barChart } from "./bars.js";
import { otherOf } from "./measure_table.js";

/** @type {(number: number) => string} */
const signed = (number) => String(number).replace("-", "−");

/** The first and the last range that has some of either list, and those around `least`, [first, last]. */
/** @type {(lists: number[][], least: [first: number, last: number]) => [first: number, last: number]} */
const reach = (lists, [first, last]) => {
  for (const list of lists) {
    list.forEach((share, at) => {
      // What a scale of 1 % can't show at all isn't given room.
      if (share > 5e-5) [first, last] = [Math.min(first, at), Math.max(last, at)];
    });
  }
  return [first, last];
};

/** A range of distances in words: "4 to 7 tokens behind". @type {(page: SurveyPage, low: number, high: number) => string} */
const rangeSaid = (page, low, high) => {
  if (!low) return page.say("survey.head.itself");
  const [near, far] = [Math.min(Math.abs(low), Math.abs(high)), Math.max(Math.abs(low), Math.abs(high))];
  const side = low < 0 ? "behind" : "ahead";
  if (near === far) return page.say(`survey.head.${side}.one`, { count: near });
  return page.say(`survey.head.${side}`, { near, far });
};

/** The three charts. @param {SurveyPage} page */
export const createDistributions = (page) => {
  const whole = element("section", { class: "distributions" });

  const offsets = () => {
    const { survey, state: { layer, head } } = page;
    const at = layer * survey.heads + head;
    const other = otherOf(page);
    const lists = [survey.entry.offsets[at] ?? [], other?.entry.offsets[at] ?? []];
    const edges = survey.scales.offsets;
    const zero = edges.indexOf(0);
    const [first, last] = reach(lists, [zero - 3, survey.model.causal ? zero : zero + 3]);
    const bars = [];
    for (let range = first; range <= last; range++) {
      const [low, high] = [edges[range], edges[range + 1] - 1];
      const near = Math.abs(low) < Math.abs(high) ? low : high;
      bars.push({
        share: lists[0][range] ?? 0, label: signed(near), name: rangeSaid(page, low, high),
        ...(other ? { other: lists[1][range] ?? 0 } : {}),
      });
    }
    return barChart(page.say("survey.head.dist.offsets"), page.say("survey.head.of.weight"), bars, page.say("survey.head.dist.offsets.about"));
  };

  /** @type {(name: "entropies" | "largest", label: (edge: number, at: number) => string, said: (low: number, high: number) => string) => HTMLElement} */
  const histogram = (name, label, said) => {
    const { survey, state: { layer, head } } = page;
    const at = layer * survey.heads + head;
    const other = otherOf(page);
    const lists = [survey.entry[name][at] ?? [], other?.entry[name][at] ?? []];
    const edges = survey.scales[name];
    const [first, last] = name === "largest" ? [0, edges.length - 2] : [0, reach(lists, [0, 7])[1]];
    const bars = [];
    for (let range = first; range <= last; range++) {
      bars.push({
        share: lists[0][range] ?? 0, label: label(edges[range], range), name: said(edges[range], edges[range + 1]),
        ...(other ? { other: lists[1][range] ?? 0 } : {}),
      });
    }
    return barChart(page.say(`survey.head.dist.${name}`), page.say("survey.head.of.tokens"), bars, page.say(`survey.head.dist.${name}.about`));
  };

  const update = () => {
    whole.replaceChildren(
      offsets(),
      histogram("entropies", (edge) => (Number.isInteger(edge) ? String(edge) : ""),
        (low, high) => page.say("survey.head.nats", { low: low.toFixed(2), high: high.toFixed(2) })),
      histogram("largest", (edge) => (Math.round(edge * 20) % 5 ? "" : `${Math.round(edge * 100)}%`),
        (low, high) => page.say("survey.head.from", { low: `${Math.round(low * 100)}%`, high: `${Math.round(high * 100)}%` })),
    );
  };
  return { element: whole, update };
};
