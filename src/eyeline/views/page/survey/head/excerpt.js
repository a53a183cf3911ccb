// The part of an example's context that has room in one line: its query, its strongest keys, and what is around them.

const NARROW = 480; // pixels: in less room one key with words around it says more than several without
const TOLD = 0.05; // of the strongest weight: weaker keys aren't worth a line's room

/** The places of an example's keys, the strongest first. @type {(example: LookExample) => number[]} */
export const keysOf = ({ weights }) =>
  [...weights.keys()].filter((at) => weights[at] > 0).sort((one, two) => weights[two] - weights[one]);

/** The place of an example's query among its tokens. @type {(example: LookExample) => number} */
export const queryOf = ({ positions, query }) => positions.indexOf(query);

/**
 * The parts of a whole example: its tokens, with gaps where text is left out. It ends in one unless the last token is
 * special: what follows isn't known.
 * @type {(example: LookExample, chosen?: Set<number>) => LookPart[]}
 */
export const partsOf = ({ tokens, positions, special }, chosen) => {
  /** @type {LookPart[]} */
  const parts = [];
  let next = 0; // the position that would follow without a gap
  tokens.forEach((_, at) => {
    if (chosen && !chosen.has(at)) return;
    if (positions[at] !== next) parts.push({ gap: true });
    parts.push({ at });
    next = positions[at] + 1;
  });
  const last = parts.at(-1);
  if (last && "at" in last && !(special[last.at] && last.at === tokens.length - 1)) parts.push({ gap: true });
  return parts;
};

/**
 * The parts that fit into `room` pixels; `wide` gives a token's width, `gap` is that of "…".
 * @type {(example: LookExample, room: number, wide: (at: number) => number, gap: number) => LookPart[]}
 */
export const excerpt = (example, room, wide, gap) => {
  const { tokens, positions, weights } = example;
  const [query, keys] = [queryOf(example), keysOf(example)];
  const least = TOLD * (weights[keys[0]] ?? 0);
  const anchors = [query, ...keys.filter((at) => weights[at] >= least).slice(0, room < NARROW ? 1 : 3)].filter((at) => at >= 0);
  /** @type {Set<number>} */
  const chosen = new Set();
  let used = 2 * gap;
  /** @type {(at: number) => boolean} Whether there was room. */
  const take = (at) => {
    if (chosen.has(at)) return true;
    // A token beside a chosen one makes no gap of its own.
    const joined = [at - 1, at + 1].some((one) => chosen.has(one) && Math.abs(positions[one] - positions[at]) === 1);
    const more = wide(at) + (joined ? 0 : gap);
    if (chosen.size && used + more > room) return false;
    chosen.add(at);
    used += more;
    return true;
  };
  for (const at of anchors) take(at);
  const ends = anchors.filter((at) => chosen.has(at)).map((at) => ({ at, open: [true, true] }));
  for (let away = 1; ends.some(({ open }) => open.some(Boolean)); away++) {
    for (const { at, open } of ends) {
      [-1, 1].forEach((step, side) => {
        const next = at + step * away;
        const beside = next >= 0 && next < tokens.length && Math.abs(positions[next] - positions[next - step]) === 1;
        if (open[side]) open[side] = beside && take(next);
      });
    }
  }
  return partsOf(example, chosen);
};
