// Tiles that the kernel's worker computes: it is told each head and each table once.

import { isReweighted } from "../weights/attention_map.js";
import { HostWeights } from "./host_weights.js";

const KEPT = 160e6; // bytes of heads that the worker remembers
const TABLES = 6; // that it remembers, if their heads aren't more

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
class TileClient {
  /** @param {KernelClient} kernel */
  constructor(kernel) {
    this.kernel = kernel;
    this.number = 0;
    /** @type {Map<Head, { number: number, bytes: number }>} The heads that the worker knows, the latest used last. */
    this.heads = new Map();
    /** The tables that it knows, the latest last. @type {{ number: number, heads: Head[] }[]} */
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
    this.tables.push({ number, heads });
    this._forget();
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
      known.bytes = [q, k, lse, values, factors].reduce((sum, array) => sum + (array?.byteLength ?? 0), 0);
      const moved = [sent.q, sent.k, lse, mask.values, sent.factors].flatMap((array) => (array ? [array.buffer] : []));
      this._tell("matrix.head", { number: known.number, head: sent }, moved, () => this.heads.delete(head));
    }
    this.heads.delete(head);
    this.heads.set(head, known);
    return known.number;
  }

  /** Have the worker forget the oldest tables, and the heads that no other table has, as far as all heads take too much. */
  _forget() {
    /** @type {Set<Head>} */
    const needed = new Set();
    /** @type {(heads: Iterable<Head>) => number} */
    const bytesOf = (heads) => [...heads].reduce((sum, head) => sum + (this.heads.get(head)?.bytes ?? 0), 0);
    const kept = this.tables.findLastIndex(({ heads }, at) => {
      const all = new Set([...needed, ...heads]);
      const full = at < this.tables.length - 1 && (bytesOf(all) > KEPT || this.tables.length - at > TABLES);
      if (!full) for (const head of heads) needed.add(head);
      return full;
    });
    const tables = this.tables.splice(0, kept + 1).map(({ number }) => number);
    let bytes = bytesOf(needed);
    const heads = [];
    for (const [head, known] of [...this.heads].reverse()) {
      if (needed.has(head)) continue;
      bytes += known.bytes;
      if (bytes <= KEPT) continue;
      this.heads.delete(head);
      heads.push(known.number);
    }
    this._tell("matrix.forget", { heads, tables });
  }

  /**
   * Tell the worker something to which it has no answer; an error shows with the tiles.
   * @param {string} job
   * @param {object} request
   * @param {Transferable[]} [transfer]
   * @param {() => void} [failed]
   */
  _tell(job, request, transfer, failed = () => {}) {
    this.kernel.ask(job, request, { transfer }).catch(failed);
  }
}

/** @type {WeakMap<KernelClient, TileClient>} */
const clients = new WeakMap();

/** The one client of a kernel: the worker keeps the heads that it was told of, whatever becomes of a view. @type {(kernel: KernelClient) => TileClient} */
export const tileClient = (kernel) => {
  const client = clients.get(kernel) ?? new TileClient(kernel);
  clients.set(kernel, client);
  return client;
};
