// The names of an image's patches: row and column, from 0, in the page's language.

/**
 * Name the patches of a trace anew; a trace of a text stays as it is.
 * @param {Trace} trace
 * @param {(place: { row: number, column: number }) => string} name
 */
export const namePatches = ({ image, queries }, name) => {
  if (!image) return;
  const { rows, columns, first } = image;
  /** @type {(unit: { text: string }, patch: number) => void} */
  const rename = (unit, patch) => {
    if (patch < 0 || patch >= rows * columns) return;
    unit.text = name({ row: Math.floor(patch / columns), column: patch % columns });
  };
  for (const token of queries.tokens) rename(token, token.index - first);
  for (const unit of [...queries.words, ...queries.pieces]) rename(unit, unit.first - first);
};
