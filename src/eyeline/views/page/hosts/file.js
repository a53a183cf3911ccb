// The host of a single-file page: its numbers are in blocks of the file, decoded on first use.

import { KernelClient } from "../kernel/client.js";
import { JOBS } from "../kernel/jobs.js";
import { unframed } from "./framing.js";
import { layerOf, ofPlanes, opened, unpacked } from "./unpacking.js";
import { HostError, messageOf } from "../host_error.js";

const KEPT = 4; // the number of decoded layers cached
const LARGE = 2e6; // signs of a block that is decoded in the worker

/** @type {(name: string) => HTMLElement | null} */
const block = (name) => document.getElementById(`eyeline-${name}`);

// The text of a block, once the browser has read it: in a large file the page starts before the last numbers arrive.
/** @type {(name: string) => Promise<string>} */
export const textOf = (name) =>
  new Promise((done) => {
    const ready = () => done(block(name)?.textContent ?? "");
    if (document.readyState !== "loading" || block(name)?.nextElementSibling) ready();
    else document.addEventListener("DOMContentLoaded", ready, { once: true });
  });

/** @type {(name: string) => Promise<Uint8Array<ArrayBuffer>>} */
const bytesOf = async (name) => unpacked(await textOf(name));

/** The bytes, or the counts of numbers, of each array of a layer. @typedef {"q" | "k" | "v" | "lse"} Name */

/** @typedef {[reply: object, buffers: Bytes[]]} Answer */

/** The model object over the blocks of this file. */
export class FileModel {
  /**
   * @param {Header} header
   * @param {Contents} contents
   * @param {Jobs} jobs those of its worker
   */
  constructor(header, contents, jobs = JOBS) {
    this.header = header;
    this.kernel = new KernelClient(jobs);
    this.contents = contents;
    /** @type {((reply: any, buffers: Bytes[]) => void)[]} */
    this.listeners = [];
    /** @type {Map<string, Promise<Record<Name, Uint8Array<ArrayBuffer>>>>} Decoded layers, the latest used last. */
    this.layers = new Map();
    /** @type {Map<string, Promise<Uint8Array<ArrayBuffer>>>} */
    this.masks = new Map();
  }

  /**
   * The value of "header"; or of "address", whether the page may keep its state in the address.
   * @param {string} name
   * @returns {any}
   */
  get(name) {
    if (name === "header") return this.header;
    return name === "address" ? /^(file|https?):$/.test(location.protocol) : undefined;
  }

  /**
   * @param {string} event
   * @param {(reply: any, buffers: Bytes[]) => void} listener
   */
  on(event, listener) {
    if (event === "msg:custom") this.listeners.push(listener);
  }

  /** @param {HostRequest & { id: number }} request */
  async send(request) {
    let [reply, buffers] = /** @type {Answer} */ ([{}, []]);
    try {
      [reply, buffers] = await this._answer(request);
    } catch (error) {
      const { argument = "request", values } = /** @type {Partial<Refusal>} */ (error instanceof HostError ? error : {});
      reply = { error: { argument, message: messageOf(error), values } };
    }
    for (const listener of this.listeners) listener({ ...reply, id: request.id }, buffers);
  }

  /**
   * @param {HostRequest} request
   * @returns {Promise<Answer>}
   */
  async _answer(request) {
    if (request.kind === "head") return this._head(request);
    if (request.kind === "overview") return this._overview(request);
    if (request.kind === "pyramid") return this._pyramid(request);
    if (request.kind === "picture") return [{ error: { argument: "kind", message: "a file makes no pictures" } }, []];
    return this._stored(/** @type {PlacedRequest} */ (request));
  }

  /**
   * A reply that the file holds as it is.
   * @param {PlacedRequest} request
   * @returns {Promise<Answer>}
   */
  async _stored({ kind, trace, other, layer, head, token, last }) {
    const name = [kind, trace, other, layer, head, token, last].filter((part) => part !== undefined).join("-");
    if (!block(name) && document.readyState === "loading") await textOf(name);
    if (!block(name)) return [{ error: { argument: "file", message: `this file doesn't hold ${name}` } }, []];
    const { reply, buffers } = unframed((await bytesOf(name)).buffer);
    return [reply, buffers];
  }

  /**
   * @param {{ trace: number, layer: number, head: number }} request
   * @returns {Promise<Answer>}
   */
  async _head({ trace: number, layer, head }) {
    const trace = this.header.traces[number];
    const { heads, key_heads: groups, head_dim: D } = trace.model;
    const [N, M] = [trace.queries.ids.length, (trace.keys ?? trace.queries).ids.length];
    const E = trace.values ? trace.model.value_dim : 0;
    const counts = { q: heads * N * D, k: groups * M * D, v: groups * M * E, lse: heads * N };
    const parts = await this._layer(number, layer, counts);
    const group = Math.floor(head / (heads / groups));
    /** @type {(array: Uint8Array<ArrayBuffer>, at: number, of: number) => Uint8Array<ArrayBuffer>} */
    const share = (array, at, of) => {
      const size = array.length / of;
      return array.subarray(at * size, (at + 1) * size);
    };
    const [q, k, lse] = [share(parts.q, head, heads), share(parts.k, group, groups), share(parts.lse, head, heads)];
    const sent = { q, k, lse };
    const all = Object.entries(E ? { ...sent, v: share(parts.v, group, groups) } : sent);
    const reply = { kind: "head", shape: { N, M, D, E }, dtype: this.contents.dtype };
    const place = this.contents.traces[number].masks[layer];
    let mask_shape;
    if (place !== null) {
      const [count, ...shape] = this.contents.traces[number].mask_shapes[place];
      const mask = await this._mask(number, place);
      const name = trace.layers[layer].mask.kind === "bits" ? "allowed" : "bounds";
      all.push([name, share(mask, count > 1 ? head : 0, count)]);
      mask_shape = shape;
    }
    const factors = `factors-${number}-${layer}-${head}`; // of weights that were multiplied
    if (block(factors)) all.push(["factors", await bytesOf(factors)]);
    return [{ ...reply, arrays: all.map(([name]) => name), mask_shape }, all.map(([, buffer]) => buffer)];
  }

  /**
   * @param {{ trace: number }} request
   * @returns {Promise<Answer>}
   */
  async _overview({ trace: number }) {
    const { model, picture } = this.header.traces[number];
    const shape = [model.layers, model.heads, ...(picture ?? [])];
    const bytes = await bytesOf(`overview-${number}`);
    const split = shape.reduce((product, size) => product * size);
    return [{ kind: "overview", shape }, [bytes.slice(0, split).buffer, bytes.slice(split).buffer]];
  }

  /**
   * The stored means of a layer: the codes of all heads, and the largest mean of each.
   * @param {PlacedRequest} request
   * @returns {Promise<Answer>}
   */
  async _pyramid({ trace: number = 0, layer }) {
    const { model, queries, keys, pyramid } = this.header.traces[number];
    const side = pyramid ?? 1;
    const [rows, columns] = [queries, keys ?? queries].map(({ ids }) => Math.ceil(ids.length / side));
    const bytes = await bytesOf(`pyramid-${number}-${layer}`);
    const most = bytes.slice(0, 4 * model.heads).buffer;
    const codes = ofPlanes(bytes.subarray(4 * model.heads), 2).buffer;
    return [{ kind: "pyramid", side, shape: [model.heads, rows, columns] }, [codes, most]];
  }

  /**
   * The bytes of each array of a layer.
   * @param {number} trace
   * @param {number} layer
   * @param {Record<Name, number>} counts how many numbers each has
   */
  _layer(trace, layer, counts) {
    const name = `layer-${trace}-${layer}`;
    const kept = this.layers.get(name) ?? this._decoded(name, counts);
    this.layers.delete(name);
    this.layers.set(name, kept);
    for (const oldest of this.layers.keys()) if (this.layers.size > KEPT) this.layers.delete(oldest);
    return kept;
  }

  /**
   * @param {string} name
   * @param {Record<Name, number>} counts
   */
  async _decoded(name, { q, k, v, lse }) {
    const size = this.contents.dtype === "float16" ? 2 : 4;
    const shape = { size, count: q + k + v, sums: lse };
    const text = await textOf(name);
    const { numbers, lse: sums } = text.length > LARGE
      ? await this._apart(text, shape).catch(() => layerOf(text, shape)) // there may be no worker
      : await layerOf(text, shape);
    // Its layers stay decoded, so that the texts of large ones aren't needed any more.
    if (text.length > LARGE && this.header.traces.reduce((sum, { layers }) => sum + layers.length, 0) <= KEPT) {
      block(name)?.remove();
    }
    return {
      q: numbers.subarray(0, size * q),
      k: numbers.subarray(size * q, size * (q + k)),
      v: numbers.subarray(size * (q + k)),
      lse: sums,
    };
  }

  /**
   * The numbers of a large block, from a worker of its own: its memory ends with it.
   * @param {string} text
   * @param {{ size: number, count: number, sums: number }} shape
   */
  async _apart(text, shape) {
    const worker = new KernelClient(JOBS);
    try {
      return await worker.ask("unpack", { text, shape });
    } finally {
      worker.end();
    }
  }

  /**
   * @param {number} trace
   * @param {number} place
   */
  _mask(trace, place) {
    const name = `mask-${trace}-${place}`;
    const mask = this.masks.get(name) ?? bytesOf(name);
    this.masks.set(name, mask);
    return mask;
  }
}

/** The still picture of a file, if it has one. */
export const still = () => document.getElementById("eyeline-still");

/**
 * Show the page in this file in place of the still picture; `rooms` are what it has beside the views, `modelOf` makes
 * its model object. Returns that.
 * @template {FileModel} T
 * @param {Main} main
 * @param {Rooms} [rooms]
 * @param {(header: Header, contents: any) => T} [modelOf]
 */
export const show = async (main, rooms, modelOf) => {
  const [header, contents] = await opened(await textOf("header")).json();
  const model = modelOf?.(header, contents) ?? new FileModel(header, contents);
  main.render({ model, el: document.getElementById("eyeline") ?? document.body, rooms });
  still()?.remove();
  return /** @type {T} */ (model);
};

/** Show the page in this file. @type {(main: Main) => Promise<void>} */
export const start = async (main) => {
  await show(main);
};
