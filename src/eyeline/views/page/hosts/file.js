// The host of a single-file page: its numbers are in blocks of the file, decoded on first use.

import { unframed } from "./framing.js";
import { HostError, messageOf } from "../host_error.js";

const KEPT = 4; // the number of decoded layers cached

/** @type {(name: string) => HTMLElement | null} */
const block = (name) => document.getElementById(`eyeline-${name}`);

// The text of a block, once the browser has read it: in a large file the page starts before the last numbers arrive.
/** @type {(name: string) => Promise<string>} */
const textOf = (name) =>
  new Promise((done) => {
    const ready = () => done(block(name)?.textContent ?? "");
    if (document.readyState !== "loading" || block(name)?.nextElementSibling) ready();
    else document.addEventListener("DOMContentLoaded", ready, { once: true });
  });

// The bytes of a base64 text.
/** @type {(text: string) => Uint8Array<ArrayBuffer>} */
const decoded = (text) => {
  const signs = atob(text);
  const bytes = new Uint8Array(signs.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = signs.charCodeAt(at);
  return bytes;
};

/** A block's bytes, decompressed. @type {(name: string) => Promise<Response>} */
export const opened = async (name) => {
  const bytes = decoded(await textOf(name));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")));
};

/** @type {(name: string) => Promise<Uint8Array<ArrayBuffer>>} */
const unpacked = async (name) => new Uint8Array(await (await opened(name)).arrayBuffer());

/**
 * Restore numbers of `size` bytes from planes: the lowest bytes of all numbers, then the next ones, and so on; the sign
 * of each is its lowest bit.
 * @type {(planes: Uint8Array, size: number) => Uint8Array<ArrayBuffer>}
 */
const ofPlanes = (planes, size) => {
  const count = planes.length / size;
  const numbers = size === 4 ? new Uint32Array(count) : new Uint16Array(count);
  const [first, second, third] = [count, 2 * count, 3 * count];
  for (let at = 0; at < count; at++) {
    const low = planes[at] | (planes[first + at] << 8);
    numbers[at] = size === 2
      ? (low >> 1) | (low << 15)
      : ((low | (planes[second + at] << 16) | (planes[third + at] << 24)) >>> 1) | (low << 31);
  }
  return new Uint8Array(numbers.buffer);
};

/** The bytes, or the counts of numbers, of each array of a layer. @typedef {"q" | "k" | "v" | "lse"} Name */

/** @typedef {[reply: object, buffers: Bytes[]]} Answer */

/** The model object over the blocks of this file. */
export class FileModel {
  /**
   * @param {Header} header
   * @param {Contents} contents
   */
  constructor(header, contents) {
    this.header = header;
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
    const { reply, buffers } = unframed((await unpacked(name)).buffer);
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
    /** @type {(array: Uint8Array<ArrayBuffer>, at: number, of: number) => ArrayBuffer} */
    const share = (array, at, of) => {
      const size = array.length / of;
      return array.slice(at * size, (at + 1) * size).buffer;
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
    if (block(factors)) all.push(["factors", (await unpacked(factors)).buffer]);
    return [{ ...reply, arrays: all.map(([name]) => name), mask_shape }, all.map(([, buffer]) => buffer)];
  }

  /**
   * @param {{ trace: number }} request
   * @returns {Promise<Answer>}
   */
  async _overview({ trace: number }) {
    const { model, picture } = this.header.traces[number];
    const shape = [model.layers, model.heads, ...(picture ?? [])];
    const bytes = await unpacked(`overview-${number}`);
    const split = shape.reduce((product, size) => product * size);
    return [{ kind: "overview", shape }, [bytes.slice(0, split).buffer, bytes.slice(split).buffer]];
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
    const packed = await unpacked(name);
    const size = this.contents.dtype === "float16" ? 2 : 4;
    const split = size * (q + k + v);
    const halves = () => [ofPlanes(packed.subarray(0, split), 2), ofPlanes(packed.subarray(split), 4)];
    const whole = () => {
      const bytes = ofPlanes(packed, 4);
      return [bytes.subarray(0, split), bytes.subarray(split)];
    };
    const [numbers, sums] = size === 4 ? whole() : halves();
    return {
      q: numbers.subarray(0, size * q),
      k: numbers.subarray(size * q, size * (q + k)),
      v: numbers.subarray(size * (q + k)),
      lse: sums.subarray(0, 4 * lse),
    };
  }

  /**
   * @param {number} trace
   * @param {number} place
   */
  _mask(trace, place) {
    const name = `mask-${trace}-${place}`;
    const mask = this.masks.get(name) ?? unpacked(name);
    this.masks.set(name, mask);
    return mask;
  }
}

/**
 * Show the page in this file; `rooms` are what it has beside the views, `modelOf` makes its model object. Returns that.
 * @template {FileModel} T
 * @param {Main} main
 * @param {Rooms} [rooms]
 * @param {(header: Header, contents: any) => T} [modelOf]
 */
export const show = async (main, rooms, modelOf) => {
  const [header, contents] = await (await opened("header")).json();
  const model = modelOf?.(header, contents) ?? new FileModel(header, contents);
  main.render({ model, el: document.getElementById("eyeline") ?? document.body, rooms });
  return /** @type {T} */ (model);
};

/** Show the page in this file. @type {(main: Main) => Promise<void>} */
export const start = async (main) => {
  await show(main);
};
