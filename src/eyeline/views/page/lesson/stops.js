// The stops of the lesson, in the order in which a textbook goes: what each opens, and what its question asks.

import { commonWord } from "../compare/sides.js";
import {
  alikeLeast, divisor, givesMost, keysFrom, leftByArrow, lookedAtMost, opensCross, opensPrevious, pairsOfTwice, queryWidth,
  rowSum, seenByThird,
} from "./answers.js";

const PLAIN = Object.freeze({ unit: "words", special: "grey", ahead: true, padded: 0, scaled: true, removed: [], step: null });

/** A head of the sentence that looks at other words, with such a word pinned. @type {(traces: LessonTraces, page: Page) => Partial<State>} */
const telling = ({ flies }, page) => {
  const trace = page.traces[flies];
  const word = trace.queries.words.find(({ special }) => !special)?.first ?? 0; // of a text of one word, which looks at no other
  const { layer, head, token } = page.openingOf(trace) ?? { layer: 0, head: 0, token: word };
  return { ...PLAIN, trace: flies, layer, head, token, toward: "from" };
};

/** @type {Stop[]} */
export const STOPS = [
  {
    name: "what",
    state: (traces, page) => ({ ...telling(traces, page), view: "sentence" }),
    answer: lookedAtMost,
  },
  {
    name: "sum",
    state: (traces, page) => ({ ...telling(traces, page), view: "sentence", special: "shown" }),
    answer: rowSum,
  },
  {
    name: "qkv",
    state: (traces, page) => ({ ...telling(traces, page), view: "steps", step: 1 }),
    answer: queryWidth,
  },
  {
    name: "score",
    state: (traces, page) => ({ ...telling(traces, page), view: "steps", step: 2 }),
    answer: divisor,
  },
  { name: "example", state: () => ({ view: "toy", toy: null }), answer: leftByArrow },
  {
    name: "cross",
    state: ({ cross }, page) => ({
      ...PLAIN, view: "sentence", trace: cross, layer: page.traces[cross].depth - 1, head: "mean", token: 6,
      toward: "from",
    }),
    choices: ["same", "other", "both"],
    answer: keysFrom,
  },
  {
    name: "context",
    state: ({ flies, fruit }, page) => {
      const layer = page.traces[flies].depth - 1;
      const words = commonWord(page.traces[flies], page.traces[fruit]); // *flies*, unless the sentences are the reader's
      return {
        ...PLAIN, view: "compare", trace: flies, layer, head: "mean", token: words?.[0].first ?? 0,
        other: [fruit, layer, "mean"], partner: words?.[1].first ?? null,
      };
    },
    answer: alikeLeast,
  },
  {
    name: "masks",
    state: (traces, page) => ({ ...telling(traces, page), view: "matrix", special: "shown", ahead: false }),
    answer: seenByThird,
  },
  {
    name: "heads",
    state: (traces, page) => ({ ...telling(traces, page), view: "overview" }),
    answer: opensPrevious,
  },
  { name: "cost", state: () => ({ view: "cost" }), answer: pairsOfTwice },
  {
    name: "both",
    state: ({ decoder }, page) => ({
      ...PLAIN, view: "matrix", trace: decoder, layer: page.traces[decoder].depth - 1, head: "mean", token: null,
    }),
    answer: opensCross,
  },
  {
    name: "limits",
    state: (traces, page) => ({ ...telling(traces, page), view: "steps", step: 5 }),
    answer: givesMost,
  },
];
