// The two sides of a comparison: their places, the compared word in each, its weights, and the pairing of words.

import { namesOf } from "./names.js";
import { quantities } from "../weights/quantity.js";
import { tokenOf } from "../steps/walkthrough.js";

const ALIGNED = 4e6; // the largest number of word pairs for an alignment word by word

/** @type {(unit: Unit) => string} */
const folded = ({ text }) => text.trim().normalize("NFC").toLowerCase();

/** @typedef {{ start: number, end: number }} Span */

/** @type {(a: Span[], b: Span[]) => boolean} */
const sameUnits = (a, b) =>
  a.length === b.length && a.every((unit, at) => unit.start === b[at].start && unit.end === b[at].end);

/**
 * Whether two lines have the same text, the same tokens and the same words.
 * @type {(a: TokenizedText, b: TokenizedText) => boolean}
 */
const sameLine = (a, b) =>
  a === b || (a.text === b.text && sameUnits(a.tokens, b.tokens) && sameUnits(a.words, b.words));

/**
 * The default place of the other side: another text, or else the previous layer.
 * @type {(page: Page) => Place}
 */
const usual = ({ state, traces }) => {
  const { trace, layer, head } = state;
  if (traces.length > 1) {
    const at = (trace + 1) % traces.length;
    const bounded = Math.min(layer, traces[at].depth - 1);
    return [at, bounded, typeof head === "number" ? Math.min(head, traces[at].heads - 1) : head];
  }
  if (traces[trace].depth > 1) return [trace, layer > 0 ? layer - 1 : 1, head];
  return [trace, layer, traces[trace].heads > 1 && head === 0 ? 1 : 0];
};

/**
 * The same word in the other line; if it occurs more than once, the occurrence with the same number.
 * @type {(unit: Unit, from: Unit[], to: Unit[]) => Unit | null}
 */
const matching = (unit, from, to) => {
  /** @type {(units: Unit[]) => Unit[]} */
  const alike = (units) => units.filter((other) => folded(other) === folded(unit));
  const nth = alike(from).indexOf(unit);
  const found = alike(to);
  return found[Math.min(nth, found.length - 1)] ?? null;
};

/**
 * The longest word that occurs in both texts, except words set aside: of "the bank" rather *bank*. The first of equal ones.
 * @type {(from: Unit[], to: Unit[]) => Unit | null}
 */
const shared = (from, to) =>
  from.filter((unit) => !unit.aside && /[\p{L}\p{N}]/u.test(unit.text) && matching(unit, from, to))
    .reduce((/** @type {Unit | null} */ best, unit) => (best && folded(best).length >= folded(unit).length ? best : unit), null);

/** The longest word that two texts have in common, in each of them; null if there is none. @type {(one: Trace, other: Trace) => [Unit, Unit] | null} */
export const commonWord = (one, other) => {
  const [from, to] = [one.queries.words, other.queries.words];
  const word = shared(from, to);
  const match = word && matching(word, from, to);
  return match ? [word, match] : null;
};

/**
 * The index pairs [i, j] of a longest common subsequence of two lists of words.
 * @type {(left: string[], right: string[]) => [i: number, j: number][]}
 */
const common = (left, right) => {
  const [n, m] = [left.length, right.length];
  if (n * m > ALIGNED) return [];
  const longest = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1)); // for the suffixes from i and j
  for (let i = n - 1; i >= 0; i--) {
    const [row, below] = [longest[i], longest[i + 1]];
    for (let j = m - 1; j >= 0; j--) row[j] = left[i] === right[j] ? below[j + 1] + 1 : Math.max(below[j], row[j + 1]);
  }
  /** @type {[i: number, j: number][]} */
  const found = [];
  for (let [i, j] = [0, 0]; i < n && j < m; ) {
    if (left[i] === right[j]) found.push([i++, j++]);
    else if (longest[i + 1][j] >= longest[i][j + 1]) i++;
    else j++;
  }
  return found;
};

/**
 * The pairs of two lists of units: as many equal words as possible in order, and the units between them paired by
 * position.
 * @type {(a: Unit[], b: Unit[]) => Pair[]}
 */
const aligned = (a, b) => {
  const [n, m] = [a.length, b.length];
  const matched = common(a.map(folded), b.map(folded));
  /** @type {Pair[]} */
  const pairs = [];
  let [i, j] = [0, 0];
  for (const [toI, toJ] of [...matched, [n, m]]) {
    while (i < toI || j < toJ) pairs.push([i < toI ? a[i++] : null, j < toJ ? b[j++] : null, false]);
    if (toI < n) pairs.push([a[i++], b[j++], true]);
  }
  return pairs;
};

/** @type {(page: Page, place: Place, attention: AttentionMap, unit: Unit) => ComparedSide} */
const sideOf = (page, place, attention, unit) => {
  const trace = page.traces[place[0]];
  const row = attention.row(unit.index);
  const shown = page.shown(attention.keys);
  const words = attention.keys.filter((key) => !key.aside).map((key) => key.index);
  const { numbers: share } = quantities(row, words.length ? words : shown, "out");
  return { place, trace, attention, unit, row, share, shown, ...quantities(row, shown, page.state.special) };
};

/**
 * The compared words of both sides: the chosen ones, or the longest word that occurs in both.
 * @type {(
 *   page: Page, traces: [Trace, Trace], units: [from: Unit[], to: Unit[]], alike: boolean,
 * ) => { units: [Unit, Unit], matched: boolean }}
 */
const chosen = (page, [first, second], [from, to], alike) => {
  const { state } = page;
  const pinned = state.token !== null && !(first.crossing && state.toward === "to");
  const mine = pinned && state.token !== null ? first.queries.unitOf(state.token, state.unit) : null;
  // The page may have opened with a word pinned that only one of the texts has: nobody has chosen it.
  const unasked = state.token === page.header.opening?.token && mine !== null && !matching(mine, from, to);
  const both = (pinned && !unasked) || alike ? null : shared(from, to);
  const own = both ?? first.queries.unitOf(tokenOf({ state, trace: first }), state.unit);
  const match = alike ? to[own.index] : matching(own, from, to);
  const picked = state.partner !== null && state.partner < second.queries.length;
  const partner = picked ? second.queries.unitOf(state.partner, state.unit) : null;
  const other = partner ?? match ?? to[Math.min(own.index, to.length - 1)];
  return { units: [own, other], matched: other === match };
};

/** @type {(side: ComparedSide) => Unit[]} */
const shownKeys = ({ shown, attention }) => shown.map((at) => attention.keys[at]);

/**
 * Both sides, the pairs of their words, and whether their lines are the same.
 * @type {(page: Page) => Promise<Comparison>}
 */
export const compared = async (page) => {
  const { state } = page;
  /** @type {Place} */
  const here = [state.trace, state.layer, state.head];
  const there = state.other ?? usual(page);
  const [one, two] = await Promise.all([page.attention(here), page.attention(there)]);
  const [first, second] = [page.traces[here[0]], page.traces[there[0]]];
  const same = { queries: sameLine(first.queries, second.queries), keys: sameLine(first.keys, second.keys) };
  const { units, matched } = chosen(page, [first, second], [one.queries, two.queries], same.queries);
  const [left, right] = [sideOf(page, here, one, units[0]), sideOf(page, there, two, units[1])];
  const [a, b] = [shownKeys(left), shownKeys(right)];
  const alike = same.keys && a.length === b.length && a.every((unit, at) => unit.index === b[at].index);
  /** @type {Pair[]} */
  const pairs = alike ? a.map((unit, at) => [unit, b[at], true]) : aligned(a, b);
  /** @type {[ComparedSide, ComparedSide]} */
  const sides = [left, right];
  return { sides, names: namesOf(page, sides), pairs, same: same.queries && alike, matched };
};
