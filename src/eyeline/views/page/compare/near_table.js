// The table of the words of the vocabulary that are nearest to each of two vectors, layer by layer, with their cosines.

import { element } from "../drawing/dom.js";
import { NEAR, hundredths, namedWords } from "./parting.js";

/** @type {(page: Page, words: NearWords, others: NearWords) => Child} */
const listed = (page, words, others) => {
  const [named, other] = [namedWords(words), new Set(namedWords(others).map(([text]) => text))];
  if (!named.length) {
    const most = hundredths(words[0]?.[1] ?? 0);
    return element("span", { class: "quiet" }, page.say("compare.near.none", { most }));
  }
  return named.map(([text, cosine], at) => [
    at ? " " : "",
    element(
      "span",
      { class: "word-and-cosine" },
      element("bdi", { class: other.has(text) ? "near" : "near alone" }, text),
      " ",
      element("data", { class: "quiet", value: cosine }, hundredths(cosine)),
    ),
  ]);
};

/**
 * The table, folded up if there are many layers.
 * @type {(page: Page, names: [string, string], near: [NearWords[], NearWords[]], open: boolean) => HTMLDetailsElement}
 */
export const nearTable = (page, names, [first, second], open) => {
  const title = page.say("compare.near");
  return element(
    "details",
    { class: "nearest", open },
    element("summary", {}, title),
    element("p", { class: "quiet" }, page.say("compare.near.how", { least: NEAR })),
    element(
      "table",
      {},
      element("caption", { class: "unseen" }, title),
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          element("td", {}),
          names.map((name) => element("th", { scope: "col" }, element("bdi", {}, name))),
        ),
      ),
      element(
        "tbody",
        {},
        first.map((words, at) =>
          element(
            "tr",
            {},
            element("th", { scope: "row" }, at ? `L${at - 1}` : page.say("compare.embedding")),
            element("td", {}, listed(page, words, second[at])),
            element("td", {}, listed(page, second[at], words)),
          ),
        ),
      ),
    ),
  );
};
