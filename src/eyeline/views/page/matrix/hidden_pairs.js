// What hides the hatched pairs of a matrix, in words.

import { changesOf } from "../weights/changes.js";

/**
 * The names of what hides pairs: the model's mask, and the changes of it that the state asks for.
 * @type {(page: Page) => string[]}
 */
export const hiddenBy = (page) => {
  const { state, trace } = page;
  const { kind } = trace.layers[state.layer].mask;
  const { ahead = true, padded = 0, removed = [] } = changesOf(state, trace) ?? {};
  return [
    ...(kind === "causal" || !ahead ? [page.say("matrix.hidden.future")] : []),
    ...(kind === "bounds" || kind === "bits" ? [page.say("matrix.hidden.mask")] : []),
    ...(padded ? [page.say("matrix.hidden.padding", { count: padded })] : []),
    ...(removed.length ? [page.say("matrix.hidden.removed", { count: removed.length })] : []),
  ];
};
