// The projections of a head: W·x + b for q, k and v, and what W_o adds to the residual, in float64.

import { numbersOf } from "./buffers.js";

const KEPT = 8; // the number of heads whose projections are kept

/** @type {(vector: Numbers) => number} */
export const lengthOf = (vector) => {
  let sum = 0;
  for (let at = 0; at < vector.length; at++) sum += vector[at] * vector[at];
  return Math.sqrt(sum);
};

/** The projections of one head, and the vectors around its layer's attention. */
export class Projections {
  /**
   * @param {Reply & ProjectionsReply} reply
   * @param {Bytes[]} buffers
   */
  constructor(reply, buffers) {
    /** @type {Record<string, Float32Array>} */
    const arrays = {};
    reply.arrays.forEach((name, at) => {
      // Small arrays stay in float32 where the others are rounded.
      const whole = name === "lengths" || name === "rotary";
      arrays[name] = numbersOf(whole ? "float32" : reply.dtype, buffers[at]);
    });
    this.rounded = reply.dtype === "float16";
    const [[D, width], [E], [heads, N]] = [reply.shapes.W_q, reply.shapes.W_v, reply.shapes.lengths];
    this.width = width;
    this.E = E;
    this.heads = heads;
    this.N = N;
    this.x = arrays.x;
    this.keysX = arrays.keys_x ?? arrays.x;
    this.residual = arrays.residual ?? arrays.x;
    this.added = arrays.added;
    this.lengths = arrays.lengths;
    this.W_o = arrays.W_o;
    this.b_o = arrays.b_o ?? null;
    this.biasLength = reply.bias_length;
    this.before = reply.norm_before;
    this.after = reply.norm_after;
    this.embedded = reply.norm_embedded;
    this.rotary = arrays.rotary ?? null;
    this.words = arrays.words ?? null;
    this.positions = arrays.positions ?? null;
    this.narrow = reply.shapes.words?.[1] ?? 0;
    /** @type {Record<Role, Projection>} */
    this.of = {
      query: { letter: "q", W: arrays.W_q, b: arrays.b_q ?? null, norm: arrays.q_norm ?? null, rows: D },
      key: { letter: "k", W: arrays.W_k, b: arrays.b_k ?? null, norm: arrays.k_norm ?? null, rows: D },
      value: { letter: "v", W: arrays.W_v, b: arrays.b_v ?? null, norm: null, rows: E },
    };
  }

  /**
   * A row of one of the arrays (N, width): a token's vector.
   * @param {Float32Array} array
   * @param {number} token
   */
  row(array, token) {
    return array.subarray(token * this.width, (token + 1) * this.width);
  }

  /**
   * What a role's projection takes of a token.
   * @param {Role} role
   * @param {number} token
   */
  input(role, token) {
    return this.row(role === "query" ? this.x : this.keysX, token);
  }

  /**
   * The products of a row of W and x, whose sum with the bias is one coordinate. (width)
   * @param {Role} role
   * @param {number} token
   * @param {number} coordinate
   */
  products(role, token, coordinate) {
    const [{ W }, x] = [this.of[role], this.input(role, token)];
    const first = coordinate * this.width;
    return Float64Array.from(x, (value, at) => value * W[first + at]);
  }

  /**
   * W·x + b, before any norm and turn. (D or E)
   * @param {Role} role
   * @param {number} token
   */
  made(role, token) {
    const [{ W, b, rows }, x, { width }] = [this.of[role], this.input(role, token), this];
    return Float64Array.from({ length: rows }, (_, row) => {
      let sum = 0;
      for (let at = 0, place = row * width; at < width; at++, place++) sum += W[place] * x[at];
      return sum + (b ? b[row] : 0);
    });
  }

  /** Whether a role's vector is more than W·x + b: normed, or turned by its position. @param {Role} role */
  changes(role) {
    return role !== "value" && (this.rotary !== null || this.of[role].norm !== null);
  }

  /**
   * A head's part of what is added: W_o times its output. (width)
   * @param {Float64Array} output
   */
  part(output) {
    const { W_o, E, width } = this;
    return Float64Array.from({ length: width }, (_, row) => {
      let sum = 0;
      for (let e = 0, place = row * E; e < E; e++, place++) sum += W_o[place] * output[e];
      return sum;
    });
  }
}

/** @type {WeakMap<Page, Map<string, Promise<Projections>>>} */
const kept = new WeakMap();

/** Whether the host has the projections of a head. @type {(trace: Trace, layer: number, head: number) => boolean} */
const hasProjections = ({ projections }, layer, head) =>
  projections === "all" || (projections ?? []).some(([one, other]) => one === layer && other === head);

/**
 * The projections of a head; null if the host doesn't have them.
 * @type {(page: Page, trace: Trace, layer: number, head: number) => Promise<Projections | null>}
 */
export const projectionsOf = async (page, trace, layer, head) => {
  if (!hasProjections(trace, layer, head)) return null;
  const all = kept.get(page) ?? new Map();
  kept.set(page, all);
  const name = `${trace.serial} ${layer} ${head}`;
  if (!all.has(name)) {
    const asked = page.host.ask({ kind: "projections", trace: trace.index, layer, head });
    all.set(
      name,
      asked.then(({ reply, buffers }) => new Projections(/** @type {Reply & ProjectionsReply} */ (reply), buffers)),
    );
    for (const oldest of all.keys()) if (all.size > KEPT) all.delete(oldest);
  }
  try {
    return await all.get(name);
  } catch {
    all.delete(name);
    return null; // its trace was dropped by the server, or is of a model whose matrices aren't known
  }
};
