// The client of a host of traces: heads, which it caches, pictures, and what is said of tokens' vectors.

import { HostError } from "../host_error.js";
import { pageKernel } from "../kernel/page_kernel.js";
import { bytesOf, numbersOf, typed } from "./buffers.js";
import { Head } from "./head.js";
import { HostClient } from "./host_client.js";

const KEPT = 256e6; // bytes of cached heads
const ASKED = 1 << 22; // weights of a head that the host is asked for, where this page can't compute

/** Sends requests about traces, and caches heads. */
export class TraceClient extends HostClient {
  /** @param {HostModel} model */
  constructor(model) {
    super(model);
    /** @type {Map<string, { promise: Promise<Head>, bytes: number }>} Heads and their bytes, the latest used last. */
    this.kept = new Map();
    /** @type {Map<string, Promise<HostAnswer>>} Answers about tokens' vectors, by their requests. */
    this.answers = new Map();
  }

  /**
   * A head of a trace, both counted from 0.
   * @param {Trace} trace
   * @param {number} layer
   * @param {number} head
   */
  head(trace, layer, head) {
    const name = `${trace.index} ${layer} ${head}`;
    const entry = this.kept.get(name) ?? { promise: this._fetched(trace, layer, head), bytes: 0 };
    this.kept.delete(name);
    this.kept.set(name, entry);
    if (!entry.bytes) {
      entry.promise.then(
        (found) => {
          entry.bytes = found.bytes;
          this._forget();
        },
        () => this.kept.delete(name),
      );
    }
    return entry.promise;
  }

  /**
   * The thumbnails of all heads of a trace: {shape: [L, H, R, C], bytes, most}.
   * @param {Trace} trace
   * @returns {Promise<Pictures>}
   */
  async overview(trace) {
    if (!trace.picture) return this._drawn(trace);
    const { reply, buffers } = await this.ask({ kind: "overview", trace: trace.index });
    const shape = /** @type {number[]} */ (reply.shape);
    return { shape, bytes: bytesOf(buffers[0]), most: typed(Float32Array, buffers[1]) };
  }

  /**
   * The thumbnails of a short trace, for which the host has none: each cell is one weight.
   * @param {Trace} trace
   */
  async _drawn(trace) {
    const [L, H] = [trace.depth, trace.heads];
    const places = Array.from({ length: L * H }, (_, at) => [Math.floor(at / H), at % H]);
    const heads = await Promise.all(places.map(([layer, head]) => this.head(trace, layer, head)));
    const [{ N, M }] = heads;
    const [bytes, most] = [new Uint8Array(L * H * N * M), new Float32Array(L * H)];
    heads.forEach((head, at) => {
      const weights = Array.from({ length: N }, (_, i) => [...head.row(i)]).flat();
      most[at] = Math.max(...weights);
      weights.forEach((weight, cell) => {
        bytes[at * N * M + cell] = Math.round(255 * Math.sqrt(weight / (most[at] || 1)));
      });
    });
    return { shape: [L, H, N, M], bytes, most };
  }

  /** Drop what is kept of traces whose numbers others have now: `count` from `first` on. @type {(first: number, count: number) => void} */
  forget(first, count) {
    const gone = (/** @type {number | undefined} */ at) => at !== undefined && at >= first && at < first + count;
    for (const name of this.kept.keys()) if (gone(Number(name.split(" ")[0]))) this.kept.delete(name);
    for (const name of this.answers.keys()) {
      const { trace, other } = JSON.parse(name);
      if (gone(trace) || gone(other)) this.answers.delete(name);
    }
  }

  /**
   * The means that a file has of the heads of a layer, for a long text.
   * @param {Trace} trace
   * @param {number} layer
   * @returns {Promise<StoredMeans>}
   */
  async means(trace, layer) {
    const { reply, buffers } = await this._asked({ kind: "pyramid", trace: trace.index, layer });
    const shape = /** @type {StoredMeans["shape"]} */ (reply.shape);
    return { side: trace.pyramid ?? 1, shape, codes: typed(Uint16Array, buffers[0]), most: typed(Float32Array, buffers[1]) };
  }

  /** The numbers of a picture that the host makes, row by row. @param {PictureRequest} request */
  async picture(request) {
    const { buffers } = await this.ask({ kind: "picture", ...request });
    return typed(Float32Array, buffers[0]);
  }

  /**
   * The inner products of the vectors of each token of a trace and each of another's, before the first layer and after
   * each: [layers + 1, tokens, other's tokens].
   * @param {Trace} trace
   * @param {Trace} other not before the trace
   */
  async products(trace, other) {
    const { reply, buffers } = await this._asked({ kind: "products", trace: trace.index, other: other.index });
    return { shape: /** @type {number[]} */ (reply.shape), values: typed(Float32Array, buffers[0]) };
  }

  /**
   * For the embedding and each layer, the words of the vocabulary that are nearest to a unit's vector.
   * @param {Trace} trace
   * @param {Unit} unit of the trace's queries
   * @returns {Promise<NearWords[]>}
   */
  async nearest(trace, { first, last }) {
    const { reply } = await this._asked({ kind: "nearest", trace: trace.index, token: first, last });
    return reply.words ?? [];
  }

  /**
   * The positions of a trace's model: the vectors (P, C) of the first, with all cosines (P, P); or the angles of rotary
   * ones, (D/2).
   * @param {Trace} trace
   * @returns {Promise<PositionVectors>}
   */
  async positions(trace) {
    const { reply, buffers } = await this._asked({ kind: "positions", trace: trace.index });
    const [rows, columns = 1] = /** @type {number[]} */ (reply.shape);
    const [numbers, cosines = new Float32Array(0)] = buffers.map((buffer) => numbersOf(reply.dtype, buffer));
    return { rows, columns, width: reply.width ?? 2 * rows, numbers, cosines };
  }

  /** The answer to a request, which is sent once. @param {HostRequest} request */
  _asked(request) {
    const name = JSON.stringify(request);
    const answer = this.answers.get(name) ?? this.ask(request);
    this.answers.set(name, answer);
    answer.catch(() => this.answers.delete(name));
    return answer;
  }

  /**
   * @param {Trace} trace
   * @param {number} layer
   * @param {number} head
   */
  async _fetched(trace, layer, head) {
    const [{ reply, buffers }, kernel] = await Promise.all([
      this.ask({ kind: "head", trace: trace.index, layer, head }),
      pageKernel().catch(() => null), // forbidden here: then the host computes
    ]);
    const { scale, mask: { kind } } = trace.layers[layer];
    const sent = Object.fromEntries(reply.arrays.map((name, at) => [name, buffers[at]]));
    /** @type {(name: string) => Stored} */
    const numbers = (name) => typed(/** @type {any} */ (reply.dtype === "float16" ? Uint16Array : Float32Array), sent[name]);
    const shape = /** @type {HeadShape} */ (reply.shape);
    /** @type {HeadMask} */
    const mask = { kind, shape: reply.mask_shape };
    if (sent.bounds) mask.values = typed(Int32Array, sent.bounds);
    if (sent.allowed) mask.values = bytesOf(sent.allowed);
    const arrays = {
      ...shape,
      q: numbers("q"), k: numbers("k"), v: sent.v ? numbers("v") : null, lse: typed(Float32Array, sent.lse),
      scale, mask, factors: sent.factors ? typed(Float32Array, sent.factors) : null,
    };
    return new Head(kernel ? arrays : { ...arrays, weights: await this._weights(trace, layer, head, shape) }, kernel);
  }

  /**
   * All weights of a head as the host computes them.
   * @param {Trace} trace
   * @param {number} layer
   * @param {number} head
   * @param {HeadShape} shape
   */
  async _weights(trace, layer, head, { N, M }) {
    if (N * M > ASKED) throw new HostError({ argument: "webassembly", message: "too long without WebAssembly" });
    const { buffers } = await this.ask({
      kind: "weights", trace: trace.index, layer, head, queries: [0, N], keys: [0, M],
    });
    return typed(Float32Array, buffers[0]);
  }

  _forget() {
    let total = 0;
    for (const [name, { bytes }] of [...this.kept].reverse()) {
      total += bytes;
      if (total > KEPT && total > bytes) this.kept.delete(name);
    }
  }
}
