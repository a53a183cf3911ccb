// What heads do, by the labels that the header has for each (those of `eyeline heads`).

/** @type {KindName[]} In the order of the filters. */
export const KINDS = [
  "previous", "next", "same", "punctuation", "separator", "sink", "broad", "induction", "mixed",
];

/**
 * A head's labels, the most telling first, each with the value of its measure: a share, the entropy in nats for
 * "broad", null for "mixed". None where the header has no labels.
 * @type {(trace: Trace, layer: number, head: HeadChoice) => [name: KindName, value: number | null][]}
 */
export const kindsOf = (trace, layer, head) => {
  const found = typeof head === "number" ? trace.kinds?.[layer]?.[head] : null;
  return /** @type {[KindName, number | null][]} */ (Object.entries(found ?? {}));
};

/**
 * The kinds that a trace's heads have, with the number of heads of each.
 * @type {(trace: Trace) => Map<KindName, number>}
 */
export const countedKinds = (trace) => {
  /** @type {Map<KindName, number>} */
  const counts = new Map();
  for (const kind of KINDS) {
    const own = (trace.kinds ?? []).flat().filter((labels) => kind in labels).length;
    if (own) counts.set(kind, own);
  }
  return counts;
};
