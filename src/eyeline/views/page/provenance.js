// What a picture, a table or a printed page is of: the text, the model, the place, the mask and its changes.

import { modelSaid } from "./frame/catalogue.js";
import { changesOf } from "./weights/changes.js";

/** The views whose numbers are weights of heads. @type {ViewName[]} */
const WEIGHED = ["sentence", "steps", "matrix", "compare", "overview"];

/** The mask of a layer in one word; a decoder's hides the future. @type {(trace: Trace, layer: number) => MaskName} */
const maskOf = (trace, layer) => {
  const { kind } = trace.layers[layer].mask;
  return kind === "all" ? "none" : kind === "causal" ? "causal" : "own";
};

/**
 * The changes against the run that the current view shows, by the names of the state; empty if there are none.
 * @type {(page: Page) => Changes}
 */
export const changesShown = (page) => {
  const found = page.trace && page.uses().includes("padded") ? changesOf(page.state, page.trace) : null;
  if (!found) return {};
  return {
    ...(found.ahead ? {} : { ahead: false }),
    ...(found.padded ? { padded: found.padded } : {}),
    ...(found.scaled ? {} : { scaled: false }),
    ...(found.removed.length ? { removed: found.removed } : {}),
  };
};

/** The edits of the runs that are shown, in words. @type {(page: Page) => string[]} */
const editsSaid = (page) => {
  const edits = page.places().flatMap(([at]) => page.traces[at].edits);
  return [...new Set(edits)].map((words) => page.editing?.told(words) ?? words);
};

/** The changes in words, for the title line. @type {(page: Page) => string[]} */
export const changesSaid = (page) => {
  const { ahead, padded, scaled, removed } = changesShown(page);
  return [
    ahead === false ? page.say("change.ahead") : "",
    padded ? page.say("change.padded", { count: padded }) : "",
    scaled === false ? page.say("change.scaled") : "",
    removed ? page.say("change.removed", { count: removed.length }) : "",
    ...editsSaid(page),
  ].filter(Boolean);
};

/** A place in a few letters: "L5H2", "L5, mean of H0 to H11". @type {(page: Page, place: ShownPlace) => string} */
export const placeSaid = (page, [at, layer, head]) => {
  const { depth, heads } = page.traces[at];
  const lasts = { lastLayer: depth - 1, lastHead: heads - 1 };
  if (layer === null) return page.say("place.whole", lasts);
  if (head === null) return `L${layer}`;
  return typeof head === "number" ? `L${layer}H${head}` : `L${layer}, ${page.say(`head.${head}`, lasts)}`;
};

/**
 * The text of a trace, and the change of its run; in cross-attention both texts.
 * @type {(page: Page, trace: Trace) => string}
 */
export const textSaid = (page, trace) =>
  trace.crossing ? `${trace.queries.text} → ${trace.keys.text}` : page.called(trace, Infinity);

/** The places that a view shows, where it doesn't say so itself. @type {(page: Page) => ShownPlace[]} */
export const usualPlaces = ({ state, trace, traces }) => {
  if (!trace || !WEIGHED.includes(state.view)) return [];
  /** @type {ShownPlace} */
  const here = state.view === "overview" ? [state.trace, null, null] : [state.trace, state.layer, state.head];
  return state.view === "compare" && state.other && traces[state.other[0]] ? [here, state.other] : [here];
};

/**
 * What the current view shows, as plain data; `places` are those that its numbers are of.
 * @type {(page: Page, places: ShownPlace[]) => Provenance}
 */
export const provenanceOf = (page, places) => {
  const { state, header } = page;
  const [weighed, uses] = [WEIGHED.includes(state.view) && places.length > 0, page.uses()];
  const aside = uses.includes("special") && places.some(([at]) => hasAside(page.traces[at]));
  return {
    version: header.version,
    places: places.map(([at, layer, head]) => {
      const trace = page.traces[at];
      return {
        text: trace.queries.text,
        ...(trace.crossing ? { keys: trace.keys.text } : {}),
        trace: trace.name, model: trace.model.name, layer, head, mask: maskOf(trace, layer ?? 0),
      };
    }),
    changes: changesShown(page),
    quantity: weighed ? (aside && state.special === "out" ? "share of the words" : "weight") : null,
    unit: weighed && uses.includes("unit") ? state.unit : null,
    special: weighed && aside ? state.special : null,
  };
};

/** Whether anything of a trace's texts is set aside. @type {(trace: Trace) => boolean} */
export const hasAside = ({ queries, keys }) => [...queries.words, ...keys.words].some((unit) => unit.aside);

/**
 * The provenance in words: "time flies", "minilm", "L5H2", "no mask", "weights of the whole row", "words", "Eyeline 1".
 * @type {(page: Page, places: ShownPlace[]) => string[]}
 */
export const provenanceParts = (page, places) => {
  const { quantity, unit, special, version } = provenanceOf(page, places);
  const [first] = places;
  const layer = first?.[1] ?? 0;
  return [
    first ? "" : page.say(`view.${page.state.view}`),
    ...places.flatMap((place) => {
      const trace = page.traces[place[0]];
      return [textSaid(page, trace), modelSaid(page, trace.model.name), placeSaid(page, place)];
    }),
    first ? page.say(`mask.${maskOf(page.traces[first[0]], layer)}`) : "",
    ...changesSaid(page),
    quantity ? page.say(quantity === "weight" ? "quantity.weight" : "quantity.share") : "",
    unit ? page.say(`unit.${unit}`) : "",
    special === "grey" ? page.say("quantity.grey") : "",
    `Eyeline ${version}`,
  ].filter(Boolean);
};
