// The stops of the lesson, in the order in which a textbook goes: what each opens, and what its question asks.

import {
  alikeLeast, divisor, givesMost, keysFrom, leftByArrow, lookedAtMost, opensCross, opensPrevious, pairsOfTwice, queryWidth,
  rowSum, seenByThird,
} from "./answers.js";

const PLAIN = Object.freeze({ unit: "words", special: "grey", ahead: true, padded: 0, scaled: true, removed: [], step: null });

/** A head of the lesson's sentence that looks at other words, with *flies* pinned. @type {(traces: LessonTraces, page: Page) => Partial<State>} */
const telling = ({ flies }, page) => {
  const { layer, head, token } = page.header.opening ?? { layer: 0, head: 0, token: 2 };
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
      return { ...PLAIN, view: "compare", trace: flies, layer, head: "mean", token: 2, other: [fruit, layer, "mean"], partner: 2 };
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
