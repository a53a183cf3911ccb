// Where a mask lets a query look.

/** Whether query i may look at key j, of M keys. @type {(mask: HeadMask, i: number, j: number, M: number) => boolean} */
export const mayLook = ({ kind, values, shape }, i, j, M) => {
  if (kind === "all") return true;
  if (kind === "causal") return j <= i;
  if (!values || !shape) return false;
  if (kind === "bits") return values[i * M + j] === 1;
  const [rows, count] = shape;
  for (let at = (rows === 1 ? 0 : i) * count * 2, end = at + count * 2; at < end; at += 2) {
    if (values[at] <= j && j < values[at + 1]) return true;
  }
  return false;
};
