// The numbers of the compare view as a table, to be taken away.

const LOOKS = ["first", "second", "difference", "share_first", "share_second", "share_difference"];

/**
 * All numbers: for each word or pair of words, whom the chosen words look at (weights, and shares of what goes to the
 * words shown); then, for each row of the pictures, its weights on either side, and their difference.
 */
export const compareTable = ({ sides: [first, second], pairs, same, patches }) => {
  const of = (list, unit) => (unit ? list[unit.index] : null);
  const text = (unit) => unit?.text ?? null;
  const looks = pairs.map(([a, b, alike]) => {
    const [one, two] = [of(first.row, a), of(second.row, b)];
    const [shareOne, shareTwo] = [of(first.share, a), of(second.share, b)];
    const names = [first.unit.text, second.unit.text, text(a), text(b)];
    const [less, lessShare] = alike ? [two - one, shareTwo - shareOne] : [null, null];
    return ["looks", ...names, one, two, less, shareOne, shareTwo, lessShare];
  });
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
  return {
    name: "compare",
    columns: ["what", "query", "query_second", "key", "key_second", ...LOOKS],
    rows: [...looks, ...pictured],
  };
};
