// A mask as the kernel reads it: intervals of keys for each query, or a byte for each pair.

/**
 * The intervals of a mask, whose keys are counted from the span's first: (rows or 1, count, 2). Null if it has none.
 * @type {(mask: HeadMask, span: CallSpan) => { values: Int32Array, rows: number, count: number } | null}
 */
const intervalsOf = ({ kind, values, shape }, { top, bottom, left, right, ahead }) => {
  const [R, C] = [bottom - top, right - left];
  /** @type {(key: number) => number} */
  const inside = (key) => Math.min(Math.max(key - left, 0), C);
  if (kind === "causal") {
    const found = new Int32Array(2 * R);
    for (let i = 0; i < R; i++) found[2 * i + 1] = inside(top + i + ahead + 1);
    return { values: found, rows: R, count: 1 };
  }
  if (kind !== "bounds" || !values || !shape) return null;
  const [N, count] = shape;
  const rows = N === 1 ? 1 : R;
  const found = new Int32Array(2 * count * rows);
  const first = N === 1 ? 0 : 2 * count * top;
  for (let at = 0; at < found.length; at++) found[at] = inside(values[first + at]);
  return { values: found, rows, count };
};

/** The masks of a call's heads for a span. @type {(mask: HeadMask | HeadMask[] | null, span: CallSpan) => LoweredMask} */
export const lowered = (mask, span) => {
  const masks = Array.isArray(mask) ? mask : mask ? [mask] : [];
  const found = masks.map((one) => intervalsOf(one, span));
  let bounds = null;
  if (masks.length === 1 && found[0]) bounds = { ...found[0], heads: 1 };
  else if (found.some(Boolean)) {
    const [rows, count] = [span.bottom - span.top, Math.max(...found.map((one) => one?.count ?? 1))];
    const values = new Int32Array(2 * masks.length * rows * count);
    found.forEach((one, head) => {
      for (let i = 0; i < rows; i++) {
        const at = 2 * count * (head * rows + i);
        if (!one) values[at + 1] = span.right - span.left;
        else values.set(one.values.subarray(one.rows === 1 ? 0 : 2 * one.count * i, one.rows === 1 ? 2 * one.count : 2 * one.count * (i + 1)), at);
      }
    });
    bounds = { values, heads: masks.length, rows, count };
  }
  const bits = masks.filter(({ kind }) => kind === "bits");
  let allowed = null;
  if (masks.length === 1 && bits.length) {
    allowed = { values: /** @type {Uint8Array} */ (masks[0].values), heads: 1 };
  } else if (bits.length) {
    const size = /** @type {Uint8Array} */ (bits[0].values).length;
    const values = new Uint8Array(size * masks.length).fill(1);
    masks.forEach(({ kind, values: own }, head) => kind === "bits" && own && values.set(own, head * size));
    allowed = { values, heads: masks.length };
  }
  return { bounds, allowed };
};

/**
 * The most keys that a panel of so many queries needs, in whole blocks of keys: what its scores take room for.
 * @type {(bounds: LoweredMask["bounds"], keys: number, panel: number, block: number) => number}
 */
export const reachOf = (bounds, keys, panel, block) => {
  let most = bounds ? 0 : keys;
  if (bounds) {
    const { values, heads, rows, count } = bounds;
    for (let head = 0; head < heads; head++) {
      for (let from = 0; from < rows; from += panel) {
        let [first, last] = [keys, 0];
        const end = 2 * count * (head * rows + Math.min(from + panel, rows));
        for (let at = 2 * count * (head * rows + from); at < end; at += 2) {
          if (values[at] >= values[at + 1]) continue;
          first = Math.min(first, values[at]);
          last = Math.max(last, values[at + 1]);
        }
        if (first < last) most = Math.max(most, last - first + (first % block));
      }
    }
  }
  return Math.ceil(most / block) * block;
};
