// What hides the hatched pairs of a matrix, in words.

/**
 * The names of what hides pairs: the model's mask, and the changes of it that the state asks for.
 * @type {(page: Page) => string[]}
 */
export const hiddenBy = (page) => {
  const { padded, removed, ahead, layer } = page.state;
  const { kind } = page.trace.layers[layer].mask;
  return [
    ...(kind === "causal" || !ahead ? [page.say("matrix.hidden.future")] : []),
    ...(kind === "bounds" || kind === "bits" ? [page.say("matrix.hidden.mask")] : []),
    ...(padded ? [page.say("matrix.hidden.padding", { count: padded })] : []),
    ...(removed.length ? [page.say("matrix.hidden.removed", { count: removed.length })] : []),
  ];
};
