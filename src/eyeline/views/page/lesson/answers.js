// The right answers to the lesson's questions, from the numbers that the page shows.

import { partingOf } from "../compare/parting.js";
import { compared } from "../compare/sides.js";
import { stepsOf } from "../steps/formula.js";
import { tokenOf } from "../steps/walkthrough.js";
import { toyWeights } from "../toy/toy.js";
import { changesOf } from "../weights/changes.js";
import { kindsOf } from "../weights/kinds.js";

/** The head whose numbers are shown; the first where it is a mean. @type {(page: Page) => Promise<Head>} */
const shownHead = ({ state, trace, host }) =>
  host.head(trace, state.layer, typeof state.head === "number" ? state.head : 0);

/** The word that is asked about: the pinned one, or the first. @type {(page: Page) => Unit} */
export const askedWord = (page) => page.trace.queries.unitOf(tokenOf(page), page.state.unit);

/** The row of this word. @param {Page} page */
const row = async (page) => {
  const map = await page.attention();
  const unit = askedWord(page);
  return { unit, keys: map.keys, weights: map.row(unit.index) };
};

/** The word that the pinned one looks at most, beside itself. @type {(page: Page) => Promise<RightAnswer | null>} */
export const lookedAtMost = async (page) => {
  const { unit, keys, weights } = await row(page);
  const others = keys.filter((key) => !key.aside && (page.trace.crossing || key.index !== unit.index));
  if (!others.length) return null;
  const right = others.reduce((most, key) => (weights[key.index] > weights[most.index] ? key : most));
  return { kind: "word", words: others, right };
};

/** The sum of the pinned row's weights. @type {(page: Page) => Promise<RightAnswer>} */
export const rowSum = async (page) => {
  const { weights } = await row(page);
  const value = weights.reduce((sum, weight) => sum + weight, 0);
  return { kind: "number", value, or: 100 * value, within: 0.005 };
};

/** The number of coordinates of a query. @type {(page: Page) => RightAnswer} */
export const queryWidth = (page) => ({ kind: "number", value: page.trace.model.head_dim, within: 0 });

/** What scores are divided by, also where they aren't now. @type {(page: Page) => Promise<RightAnswer>} */
export const divisor = async (page) => ({ kind: "number", value: 1 / (await shownHead(page)).scale, within: 0.006 });

/** Whether keys come from another line than queries. @type {(page: Page) => RightAnswer} */
export const keysFrom = (page) => ({ kind: "choice", right: page.trace.crossing ? "other" : "same" });

/** How many tokens the third may look at. @type {(page: Page) => Promise<RightAnswer | null>} */
export const seenByThird = async (page) => {
  const { heads } = await page.attention();
  if (heads[0].N < 3) return null;
  let count = 0;
  for (let j = 0; j < heads[0].M; j++) count += Number(heads[0].allowed(2, j));
  return { kind: "number", value: count, within: 0 };
};

/** Whether the open head looks at the previous token. @type {(page: Page) => RightAnswer | null} */
export const opensPrevious = ({ state, trace }) => {
  const there = (trace.kinds ?? []).flat().some((kinds) => "previous" in kinds); // a sentence of two words may have none
  return there ? { kind: "open", right: kindsOf(trace, state.layer, state.head).some(([kind]) => kind === "previous") } : null;
};

/** Whether cross-attention is open. @type {(page: Page) => RightAnswer} */
export const opensCross = ({ trace }) => ({ kind: "open", right: trace.crossing });

/** How many times as many pairs twice the length has. @type {() => RightAnswer} */
export const pairsOfTwice = () => ({ kind: "number", value: 2 ** 2, within: 0 });

/** The token that gives most to the pinned one, by weight × length of value. @type {(page: Page) => Promise<RightAnswer | null>} */
export const givesMost = async (page) => {
  const [head, token] = [await shownHead(page), tokenOf(page)];
  if (!head.v) return null;
  const { weights } = stepsOf(head, token, changesOf(page.state, page.trace) ?? undefined);
  const { v, E } = head;
  const given = Array.from(weights, (weight, j) => weight * Math.hypot(...v.subarray(j * E, (j + 1) * E)));
  const words = page.trace.keys.pieces;
  const most = Math.max(...given);
  return most > 0 ? { kind: "word", words, right: words[given.indexOf(most)] } : null;
};

/** What *arrow* leaves of the row of *flies* in the toy, in percent. @type {(page: Page) => RightAnswer | null} */
export const leftByArrow = (page) => {
  const [, flies] = toyWeights(page);
  return flies?.length > 2 ? { kind: "number", value: 100 * (1 - flies[2]), within: 1 } : null;
};

/** The layer after which the compared words are least alike. @type {(page: Page) => Promise<RightAnswer | null>} */
export const alikeLeast = async (page) => {
  const parting = await partingOf(page, (await compared(page)).sides);
  const cosines = parting?.cosines.slice(1); // without the embedding
  return cosines?.length ? { kind: "number", value: cosines.indexOf(Math.min(...cosines)), within: 0 } : null;
};
