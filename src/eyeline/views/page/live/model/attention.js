// A layer's attention: projections, heads with what is changed in them, and the norm of their sum with the residual.

import { headsOf, joinHeads } from "./placing.js";

/** Heads' numbers as columns of rows: from which column on. @typedef {{ rows: Placed, first: number }} Columns */

/**
 * What one call of a layer is of.
 * @typedef {object} Call
 * @property {Work} work
 * @property {HeadMask} mask
 * @property {number} scale
 * @property {LayerEdits | null} edits
 * @property {boolean} keep whether the layer's arrays are to come back
 * @property {AttendCall["ask"]} [ask] what is to be read of the weights
 */

/** Memory that one layer uses after the other. */
export class Work {
  /**
   * @param {Room} room
   * @param {LiveConfig} config
   * @param {number} N
   */
  constructor(room, { width, innerWidth }, N) {
    this.projected = room.rows(N, 3 * width);
    this.joined = room.rows(N, width);
    this.inner = room.rows(N, innerWidth);
  }
}

/** norm(x + W_o · heads), of a text that looks at itself or at another. */
export class Attention {
  /**
   * @param {Parts} parts
   * @param {{ query: string, key: string, value: string, output: string, norm: string }} names of its parts
   * @param {boolean} across whether keys and values are made of another text
   */
  constructor(parts, { query, key, value, output, norm }, across = false) {
    const { width } = parts.config;
    this.room = parts.room;
    this.config = parts.config;
    this.projections = parts.linear(across ? [query] : [query, key, value], width, width);
    this.keyValue = across ? parts.linear([key, value], width, width) : null;
    this.output = parts.linear([output], width, width);
    this.norm = parts.norm(norm);
  }

  /**
   * Over rows x, in place.
   * @param {Placed} x
   * @param {Call} call
   */
  over(x, call) {
    const { width } = this.config;
    const rows = call.work.projected;
    this.room.kernel.product(this.projections, x, rows);
    return this._attended(x, [0, width, 2 * width].map((first) => ({ rows, first })), call);
  }

  /**
   * Over rows x, which look at others, in place.
   * @param {Placed} x
   * @param {Placed} context
   * @param {Placed} both memory for keys and values
   * @param {Call} call
   */
  across(x, context, both, call) {
    if (!this.keyValue) throw new Error("attention must be made across texts, got one of a text alone; say so");
    const { kernel } = this.room;
    const { width } = this.config;
    const rows = { ...call.work.projected, columns: width };
    kernel.product(this.projections, x, rows);
    kernel.product(this.keyValue, context, both);
    return this._attended(x, [{ rows, first: 0 }, { rows: both, first: 0 }, { rows: both, first: width }], call);
  }

  /**
   * @param {Placed} x
   * @param {Columns[]} heads queries, keys and values
   * @param {Call} call
   * @returns {LiveLayer | null}
   */
  _attended(x, heads, { work, mask, scale, edits, keep, ask }) {
    const { room: { kernel }, config: { heads: H, headDim: D } } = this;
    const [N, M] = [heads[0].rows.rows, heads[1].rows.rows];
    const masks = edits?.masks?.some(Boolean) ? edits.masks.map((own) => own ?? mask) : mask;
    /** @type {(columns: Columns) => KernelNumbers} */
    const placed = ({ rows, first }) => ({ at: rows.at + 4 * first, strides: [4 * D, rows.stride] });
    const [q, k, v] = heads.map(placed);
    const { flat, factors, gates } = edits ?? {};
    const seen = kernel.attend({ H, G: H, N, M, D, E: D, q, k, v, scale, mask: masks, flat, factors, ask });
    const { output, lse } = seen;
    gates?.forEach((gate, head) => multiply(output, gate, head * N * D, N, D));
    const [ownQ, ownK, ownV] = keep ? heads.map((one) => copied(kernel, one, H, D)) : [];
    joinHeads(output, kernel.floats(work.joined.at, N * H * D), H, N, D);
    kernel.product(this.output, work.joined, x, { residual: x });
    this.norm.over(x);
    return keep ? { q: ownQ, k: ownK, v: ownV, lse, output, scale, mask: masks, edits, seen } : null;
  }
}

/** Heads in an array of their own. @type {(kernel: Kernel, columns: Columns, H: number, D: number) => Float32Array} */
const copied = (kernel, { rows: { at, rows, stride }, first }, H, D) =>
  headsOf(kernel.floats(at, (rows * stride) / 4), rows, stride / 4, first, H, D);

/**
 * Multiply a head's outputs, which begin at `first`, by its gate.
 * @type {(output: Float32Array, gate: number | Float32Array, first: number, N: number, D: number) => void}
 */
const multiply = (output, gate, first, N, D) => {
  for (let token = 0; token < N; token++) {
    const by = typeof gate === "number" ? gate : gate[token];
    if (by === 1) continue;
    for (let at = first + token * D, end = at + D; at < end; at++) output[at] *= by;
  }
};
