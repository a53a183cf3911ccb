// The edits of a request, checked against a model, as Python's edits/model_edits.py and order.py.

import { chosenOf, largestOf } from "./chosen.js";
import { refused } from "./refusing.js";
import { parse, wordsOf } from "./written.js";

const [MOST, LONGEST] = [64, 400]; // edits of a run, and characters of one

/** The edits of a request, in words, read. @type {(given: unknown) => LiveEdit[]} */
export const editsOf = (given) => {
  if (!Array.isArray(given) || !given.length || given.length > MOST) throw refused("count", { most: MOST });
  return given.map((one) => {
    if (typeof one !== "string" || one.length > LONGEST) throw refused("long", { most: LONGEST });
    return parse(one);
  });
};

/**
 * Refuse edits of layers and heads that a model hasn't, and two that would replace the same weights.
 * @type {(edits: LiveEdit[], sites: EditSites) => void}
 */
export const check = (edits, { layers, heads }) => {
  for (const edit of edits) {
    const words = wordsOf(edit);
    const kinds = /** @type {AttentionKind[]} */ (Object.keys(layers));
    const [kind = edit.kind ?? ""] = kinds.filter((one) => edit.kind === null || edit.kind === one);
    const count = layers[/** @type {AttentionKind} */ (kind)];
    if (count === undefined) throw refused("kind", { kinds: kinds.join(", "), kind, words });
    for (const [name, chosen, most] of /** @type {const} */ ([["layer", edit.layers, count], ["head", edit.heads, heads]])) {
      const number = largestOf(chosen);
      if (number >= most) throw refused(name, { most: most - 1, number, words });
    }
  }
  const flat = edits.filter(({ name }) => name === "uniform");
  for (const [at, one] of flat.entries()) {
    for (const other of flat.slice(0, at)) {
      const same = one.kind === null || other.kind === null || one.kind === other.kind;
      /** @type {(name: "layers" | "heads", count: number) => boolean} */
      const meet = (name, count) => chosenOf(one[name], count).some((is, number) => is && chosenOf(other[name], count)[number]);
      const count = Math.max(...Object.values(layers));
      if (same && meet("layers", count) && meet("heads", heads)) throw refused("once", { words: wordsOf(one) });
    }
  }
};
