// A layer's attention: projections, heads with what is changed in them, and the norm of their sum with the residual.

import { headsOf, joinHeads } from "./placing.js";

/** Heads' numbers as columns of rows: from which column on. @typedef {{ rows: Placed, first: number }} Columns */

/**
 * What one call of a layer is of.
 * @typedef {object} Call
 * @property {Work} work
 * @property {HeadMask} mask
 * @property {number} scale
 * @property {LayerEdits | null} edits of the heads that are computed here
 * @property {boolean} keep whether the layer's arrays are to come back
 * @property {AttendCall["ask"]} [ask] what is to be read of the weights
 * @property {(x: Placed) => Promise<Placed>} [swap] gives what another worker computed, and gives it x, where each
 *   computes a share: the sum of both is the whole
 */

/** Memory that one layer uses after the other. */
export class Work {
  /**
   * @param {Room} room
   * @param {LiveConfig} config
   * @param {Share} share
   * @param {number} N
   */
  constructor(room, { headDim }, { heads, units }, N) {
    const width = (heads[1] - heads[0]) * headDim;
    this.projected = room.rows(N, 3 * width);
    this.joined = room.rows(N, width);
    this.inner = room.rows(N, units[1] - units[0]);
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
    const { room, config: { width, headDim }, share } = parts;
    const own = /** @type {[number, number]} */ (share.heads.map((head) => head * headDim));
    /** @type {[number, number]} */
    const square = [width, width];
    this.room = room;
    this.heads = share.heads[1] - share.heads[0];
    this.headDim = headDim;
    this.residual = share.residual;
    this.projections = parts.linear(across ? [query] : [query, key, value], square, { rows: own });
    this.keyValue = across ? parts.linear([key, value], square, { rows: own }) : null;
    this.output = parts.linear([output], square, { columns: own, bias: share.residual });
    this.norm = parts.norm(norm);
  }

  /**
   * Over rows x, in place.
   * @param {Placed} x
   * @param {Call} call
   */
  over(x, call) {
    const rows = call.work.projected;
    const width = this.heads * this.headDim;
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
    const width = this.heads * this.headDim;
    const rows = { ...call.work.projected, columns: width };
    kernel.product(this.projections, x, rows);
    kernel.product(this.keyValue, context, both);
    return this._attended(x, [{ rows, first: 0 }, { rows: both, first: 0 }, { rows: both, first: width }], call);
  }

  /**
   * @param {Placed} x
   * @param {Columns[]} heads queries, keys and values
   * @param {Call} call
   * @returns {Promise<LiveLayer | null>}
   */
  async _attended(x, heads, { work, mask, scale, edits, keep, ask, swap }) {
    const { room: { kernel }, heads: H, headDim: D } = this;
    const [N, M] = [heads[0].rows.rows, heads[1].rows.rows];
    const masks = masksOf(edits, mask);
    /** @type {(columns: Columns) => KernelNumbers} */
    const placed = ({ rows, first }) => ({ at: rows.at + 4 * first, strides: [4 * D, rows.stride] });
    const [q, k, v] = heads.map(placed);
    const { flat, factors, gates } = edits ?? {};
    const seen = kernel.attend({ H, G: H, N, M, D, E: D, q, k, v, scale, mask: masks, flat, factors, ask });
    const { output, lse } = seen;
    gates?.forEach((gate, head) => multiply(output, gate, head * N * D, N, D));
    const [ownQ, ownK, ownV] = keep ? heads.map((one) => copied(kernel, one, H, D)) : [];
    joinHeads(output, kernel.floats(work.joined.at, N * H * D), H, N, D);
    kernel.product(this.output, work.joined, x, { residual: this.residual ? x : undefined });
    this.norm.over(x, await swap?.(x));
    return keep ? { q: ownQ, k: ownK, v: ownV, lse, output, scale, mask: masks, edits, seen } : null;
  }
}

/** Where each head's queries may look. @type {(edits: LayerEdits | null, mask: HeadMask) => HeadMask | HeadMask[]} */
export const masksOf = (edits, mask) => (edits?.masks?.some(Boolean) ? edits.masks.map((own) => own ?? mask) : mask);

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
