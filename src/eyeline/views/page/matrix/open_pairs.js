// Which pairs of queries and keys are open, and which tokens are of which unit. Units are [first, last) of their tokens.

/**
 * The index of each token's unit among some units, from `from` on; −1 where it is in none.
 * @type {(spans: Int32Array, first: number, last: number, from: number, to: number) => Int32Array}
 */
export const placesOf = (spans, first, last, from, to) => {
  const places = new Int32Array(to - from).fill(-1);
  for (let unit = first; unit < last; unit++) {
    places.fill(unit - first, Math.max(spans[2 * unit] - from, 0), Math.max(spans[2 * unit + 1] - from, 0));
  }
  return places;
};

/** How many of the queries [top, bottom) × the keys [left, right) a causal mask leaves. @type {(top: number, bottom: number, left: number, right: number) => number} */
export const causalPairs = (top, bottom, left, right) => {
  const first = Math.max(top, left); // the first query that sees any of these keys
  const whole = Math.min(Math.max(right - 1, first), bottom); // the first that sees all
  const growing = Math.max(whole - first, 0);
  return (growing * (2 * (first - left + 1) + growing - 1)) / 2 + Math.max(bottom - whole, 0) * (right - left);
};

/** Whether units are the tokens of one range, one each. @type {(spans: Int32Array) => boolean} */
export const single = (spans) => {
  for (let at = 0; at < spans.length; at += 2) {
    if (spans[at + 1] - spans[at] !== 1 || spans[at] !== spans[0] + at / 2) return false;
  }
  return true;
};

/** The ranges of keys [first, last) that a query may look at. @type {(mask: HeadMask, query: number, M: number) => [first: number, last: number][]} */
export const seenBy = ({ kind, values, shape }, query, M) => {
  if (kind === "all") return [[0, M]];
  if (kind === "causal") return [[0, query + 1]];
  if (!values || !shape) return [];
  /** @type {[first: number, last: number][]} */
  const found = [];
  if (kind === "bits") {
    for (let key = 0, at = query * M; key < M; key++, at++) if (values[at] === 1) found.push([key, key + 1]);
    return found;
  }
  const [rows, count] = shape;
  for (let at = (rows === 1 ? 0 : query) * count * 2, end = at + count * 2; at < end; at += 2) {
    found.push([values[at], values[at + 1]]);
  }
  return found;
};

/** Units, cut into runs without gaps: those between are not to be computed. @type {(spans: Int32Array) => Int32Array[]} */
export const runs = (spans) => {
  const found = [];
  for (let at = 2, from = 0; at <= spans.length; at += 2) {
    if (at < spans.length && spans[at] === spans[at - 1]) continue;
    found.push(spans.subarray(from, at));
    from = at;
  }
  return found;
};

/** The whole of a row of heads' mean: 1, unless tokens of it may look nowhere. @type {(heads: TileHead[], unit: TokenRange) => number} */
export const looking = (heads, [first, last]) => {
  let count = 0;
  for (const { lse } of heads) for (let token = first; token < last; token++) count += Number(lse[token] > -Infinity);
  return count / heads.length / (last - first);
};
