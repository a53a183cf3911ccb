// Tiles that the kernel's worker computes: it is told each head and each table once.

import { isReweighted } from "../weights/attention_map.js";
import { HostWeights } from "./host_weights.js";

const KEPT = 160e6; // bytes of heads that the worker remembers
const TABLES = 6; // that it remembers

/** @type {(units: Unit[], shown: number[]) => Int32Array} */
const spansOf = (units, shown) => {
  const spans = new Int32Array(2 * shown.length);
  shown.forEach((at, place) => {
    spans[2 * place] = units[at].first;
    spans[2 * place + 1] = units[at].last;
  });
  return spans;
};

/** Asks a kernel's worker for tiles. */
export class TileClient {
  /** @param {KernelClient} kernel */
  constructor(kernel) {
    this.kernel = kernel;
    this.number = 0;
    /** @type {Map<Head, { number: number, bytes: number }>} The heads that the worker knows, the latest used last. */
    this.heads = new Map();
    /** @type {number[]} */
    this.tables = [];
  }

  /**
   * What computes the dots of a table of cells, of which the worker is told.
   * @param {Cells} cells
   * @param {RowParts} parts
   * @returns {DotSource}
   */
  table({ attention, rows, columns, total }, { others }) {
    const { heads, reduce, queries, keys } = attention;
    const table = {
      reduce, rows: spansOf(queries, rows), columns: spansOf(keys, columns), others: spansOf(keys, others),
      shares: total !== null, sums: isReweighted(attention),
    };
    if (heads.some((head) => !head.kernel)) return new HostWeights(table, heads);
    const numbers = heads.map((head) => this._head(head));
    const number = ++this.number;
    this._tell("matrix.table", { number, heads: numbers, table });
    this.tables.push(number);
    const forgotten = this.tables.splice(0, Math.max(this.tables.length - TABLES, 0));
    this._tell("matrix.forget", { heads: this._old(new Set(heads)), tables: forgotten });
    return {
      means: async ({ top, left, bottom, right }, level, signal) => {
        const request = { table: number, sides: { top, left, bottom, right }, level };
        return (await this.kernel.ask("matrix.tile", request, { signal })).means;
      },
      received: async (places) => (await this.kernel.ask("matrix.received", { table: number, places })).means,
      aside: async (top, bottom) => (await this.kernel.ask("matrix.aside", { table: number, top, bottom })).aside,
    };
  }

  /** The number of a head, of which the worker is told if it doesn't know it. @param {Head} head */
  _head(head) {
    const known = this.heads.get(head) ?? { number: ++this.number, bytes: 0 };
    if (!known.bytes) {
      const { stored: { q, k }, N, M, D, scale, mask: { kind, values, shape }, factors } = head;
      const lse = Float32Array.from({ length: N }, (_, i) => head.base(i));
      // Copies without what lies beside the arrays in their buffers, which move to the worker.
      const mask = { kind, shape, values: values?.slice() };
      const sent = { q: q.slice(), k: k.slice(), lse, N, M, D, scale, mask, factors: factors?.slice() ?? null };
      known.bytes = q.byteLength + k.byteLength + lse.byteLength + (values?.byteLength ?? 0);
      const moved = [sent.q, sent.k, lse, mask.values, sent.factors].flatMap((array) => (array ? [array.buffer] : []));
      this._tell("matrix.head", { number: known.number, head: sent }, moved);
    }
    this.heads.delete(head);
    this.heads.set(head, known);
    return known.number;
  }

  /** The numbers of heads beyond what the worker remembers, but for some. @param {Set<Head>} needed */
  _old(needed) {
    let bytes = 0;
    const old = [];
    for (const [head, known] of [...this.heads].reverse()) {
      bytes += known.bytes;
      if (bytes <= KEPT || needed.has(head)) continue;
      this.heads.delete(head);
      old.push(known.number);
    }
    return old;
  }

  /**
   * Tell the worker something to which it has no answer; an error shows with the tiles.
   * @param {string} job
   * @param {object} request
   * @param {Transferable[]} [transfer]
   */
  _tell(job, request, transfer) {
    this.kernel.ask(job, request, { transfer }).catch(() => {});
  }
}
