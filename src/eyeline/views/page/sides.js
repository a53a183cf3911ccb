// What the compare view compares: two places of traces, a word in each, and whom these two look at.

import { shares } from "./sight.js";
import { tokenOf } from "./walk.js";

const ALIGNED = 4e6; // pairs of words up to which two lines are aligned word by word

const folded = (unit) => unit.text.trim().normalize("NFC").toLowerCase();

/** Whether two lines are the same tokens of the same text. */
export const sameLine = (a, b) =>
  a === b ||
  (a.text === b.text && a.length === b.length && a.words.length === b.words.length && a.tokens.every(({ start, end, piece }, at) => {
    const other = b.tokens[at];
    return start === other.start && end === other.end && piece === other.piece;
  }));

/** The place that stands on the other side if none is chosen: another text, or else the layer before. */
export const usual = ({ state, traces }) => {
  const { trace, layer, head } = state;
  if (traces.length > 1) {
    const at = (trace + 1) % traces.length;
    const bounded = Math.min(layer, traces[at].depth - 1);
    return [at, bounded, typeof head === "number" ? Math.min(head, traces[at].heads - 1) : head];
  }
  if (traces[trace].depth > 1) return [trace, layer > 0 ? layer - 1 : 1, head];
  return [trace, layer, traces[trace].heads > 1 && head === 0 ? 1 : 0];
};

// The unit of the other line that is the same word: of several, the one that comes as late among them.
const matching = (unit, from, to) => {
  const alike = (units) => units.filter((other) => folded(other) === folded(unit));
  const nth = alike(from).indexOf(unit);
  const found = alike(to);
  return found[Math.min(nth, found.length - 1)] ?? null;
};

// The first word that stands in both lines, what is set aside left out.
const shared = (from, to) => from.find((unit) => !unit.aside && matching(unit, from, to)) ?? null;

/**
 * The units of two lists that are the same words, in order, as many as can be (a longest common subsequence), and what
 * stands between them paired by place: [a or null, b or null, whether they are the same] each.
 */
export const aligned = (a, b) => {
  const [n, m] = [a.length, b.length];
  const [left, right] = [a.map(folded), b.map(folded)];
  const matched = [];
  if (n * m <= ALIGNED) {
    const longest = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
    for (let i = n - 1; i >= 0; i--) {
      for (let j = m - 1; j >= 0; j--) {
        longest[i][j] = left[i] === right[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
      }
    }
    for (let [i, j] = [0, 0]; i < n && j < m; ) {
      if (left[i] === right[j]) matched.push([i++, j++]);
      else if (longest[i + 1][j] >= longest[i][j + 1]) i++;
      else j++;
    }
  }
  const pairs = [];
  let [i, j] = [0, 0];
  for (const [toI, toJ] of [...matched, [n, m]]) {
    while (i < toI || j < toJ) pairs.push([i < toI ? a[i++] : null, j < toJ ? b[j++] : null, false]);
    if (toI < n) pairs.push([a[i++], b[j++], true]);
  }
  return pairs;
};

const sideOf = (page, place, sight, unit) => {
  const trace = page.traces[place[0]];
  const row = sight.row(unit.index);
  const shown = page.shown(sight.keys);
  const share = new Float64Array(sight.M);
  shares(row, shown).forEach((part, at) => (share[shown[at]] = part));
  const kept = shown.reduce((sum, at) => sum + row[at], 0);
  return { place, trace, sight, unit, row, share, shown, kept, given: row.reduce((sum, weight) => sum + weight, 0) };
};

/** Both sides, what of them is paired with what, and whether their lines are the same. */
export const compared = async (page) => {
  const { state } = page;
  const places = [[state.trace, state.layer, state.head], state.other ?? usual(page)];
  const sights = await Promise.all(places.map((place) => page.sight(place)));
  const [first, second] = places.map(([trace]) => page.traces[trace]);
  const same = { queries: sameLine(first.queries, second.queries), keys: sameLine(first.keys, second.keys) };
  const [from, to] = sights.map((sight) => sight.queries);
  const pinned = state.token !== null && !(first.crossing && state.toward === "to") ? first.queries.unitOf(state.token, state.unit) : null;
  const own = pinned ?? (same.queries ? null : shared(from, to)) ?? first.queries.unitOf(tokenOf({ state: { ...state, token: null }, trace: first }), state.unit);
  const partner = state.partner !== null && state.partner < second.queries.length ? second.queries.unitOf(state.partner, state.unit) : null;
  const match = same.queries ? to[own.index] : matching(own, from, to);
  const other = partner ?? match ?? to[Math.min(own.index, to.length - 1)];
  const sides = [sideOf(page, places[0], sights[0], own), sideOf(page, places[1], sights[1], other)];
  const [a, b] = sides.map((side) => side.shown.map((at) => side.sight.keys[at]));
  const alike = same.keys && a.length === b.length && a.every((unit, at) => unit.index === b[at].index);
  const pairs = alike ? a.map((unit, at) => [unit, b[at], true]) : aligned(a, b);
  return { sides, pairs, same: same.queries && same.keys, matched: other === match };
};
