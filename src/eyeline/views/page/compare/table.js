// The numbers of the compare view as a table for export.

const LOOKS = ["first", "second", "difference", "share_first", "share_second", "share_difference"];

/**
 * All numbers: for each layer, the cosine of the chosen words' vectors; for each word or pair of words, the chosen
 * words' weights on it, and their shares of the weight on words; then, for each row of the heatmaps, its weights on
 * either side, and their difference.
 * @type {(found: Comparison & { patches: [Patch, Patch], parting: Parting | null }) => Table}
 */
export const compareTable = ({ sides: [first, second], pairs, same, patches, parting }) => {
  /** @type {(list: Float64Array, unit: Unit | null) => number | null} */
  const of = (list, unit) => (unit && !Number.isNaN(list[unit.index]) ? list[unit.index] : null);
  /** @type {(one: number | null, two: number | null, alike: boolean) => (number | null)[]} */
  const both = (one, two, alike) => [one, two, alike && one !== null && two !== null ? two - one : null];
  const looks = pairs.map(([a, b, alike]) => {
    const names = [first.unit.text, second.unit.text, a?.text ?? null, b?.text ?? null];
    const weights = both(of(first.row, a), of(second.row, b), alike);
    return ["looks", ...names, ...weights, ...both(of(first.share, a), of(second.share, b), alike)];
  });
  /** @type {(patch: Patch, row: (query: string, key: string, at: number) => Datum[]) => Datum[][]} */
  const cells = ({ rows, columns, queries, keys }, row) =>
    rows.flatMap((i, r) => columns.map((j, c) => row(queries[i].text, keys[j].text, r * columns.length + c)));
  const [left, right] = patches;
  const none = [null, null, null];
  const alone = [null, ...none];
  const pictured = same
    ? cells(left, (query, key, at) => {
        const [one, two] = [left.weights[at], right.weights[at]];
        return ["picture", query, query, key, key, one, two, two - one, ...none];
      })
    : [
        ...cells(left, (query, key, at) => ["picture", query, null, key, null, left.weights[at], null, ...alone]),
        ...cells(right, (query, key, at) => ["picture", null, query, null, key, null, right.weights[at], ...alone]),
      ];
  const cosines = (parting?.cosines ?? []).map((cosine, at) => [
    "cosine", first.unit.text, second.unit.text, null, null, ...none, ...none, at ? at - 1 : "embedding", cosine,
  ]);
  return {
    name: "compare",
    columns: ["what", "query", "query_second", "key", "key_second", ...LOOKS, "after_layer", "cosine"],
    rows: [...cosines, ...[...looks, ...pictured].map((row) => [...row, null, null])],
  };
};
