// The host of a page that is one file: its numbers lie in blocks of the file, decoded when they are first looked at.

const KEPT = 4; // layers that are kept as decoded

const block = (name) => document.getElementById(`eyeline-${name}`);

// The text of a block, once the browser has read as far: of a large file the page is there before its last numbers.
const textOf = (name) =>
  new Promise((done) => {
    const ready = () => done(block(name).textContent);
    if (document.readyState !== "loading" || block(name)?.nextElementSibling) ready();
    else document.addEventListener("DOMContentLoaded", ready, { once: true });
  });

// Text that holds seven bits in a sign.
const decoded = (text) => {
  const bytes = new Uint8Array(Math.floor((text.length * 7) / 8));
  for (let [at, to, held, count] = [0, 0, 0, 0]; at < text.length; at++) {
    held = (held << 7) | (text.charCodeAt(at) & 127);
    count += 7;
    if (count >= 8) bytes[to++] = held >> (count -= 8);
  }
  return bytes;
};

const opened = async (name) => {
  const bytes = decoded(await textOf(name));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")));
};

const unpacked = async (name) => new Uint8Array(await (await opened(name)).arrayBuffer());

// The bytes of numbers of `size` bytes, of which the lowest bytes stand together, then the next ones, and so on; the
// sign of each is its lowest bit.
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

/** The model object over the blocks of this file. */
class FileModel {
  /** @param header what the page is told first; contents: what the file says of its own blocks. */
  constructor(header, contents) {
    this.header = header;
    this.contents = contents;
    this.listeners = [];
    this.layers = new Map(); // promises of what layers are made of, the latest used last
    this.masks = new Map();
  }

  /** "header"; and "address", whether the page may keep its state in the address. */
  get(name) {
    return { header: this.header, address: /^(file|https?):$/.test(location.protocol) }[name];
  }

  on(event, listener) {
    if (event === "msg:custom") this.listeners.push(listener);
  }

  async send(request) {
    const answers = { head: () => this._head(request), overview: () => this._overview(request) };
    let [reply, buffers] = [{ error: { argument: "kind", message: `kind must be head or overview, got ${request.kind}` } }, []];
    try {
      if (Object.hasOwn(answers, request.kind)) [reply, buffers] = await answers[request.kind]();
    } catch (error) {
      [reply, buffers] = [{ error: { argument: "request", message: error.message } }, []];
    }
    for (const listener of this.listeners) listener({ id: request.id, ...reply }, buffers);
  }

  async _head({ trace: number, layer, head }) {
    const trace = this.header.traces[number];
    const { heads, key_heads: groups, head_dim: D } = trace.model;
    const [N, M] = [trace.queries.ids.length, (trace.keys ?? trace.queries).ids.length];
    const E = trace.values ? trace.model.value_dim : 0;
    const parts = await this._layer(number, layer, { q: heads * N * D, k: groups * M * D, v: groups * M * E, lse: heads * N });
    const group = Math.floor(head / (heads / groups));
    const share = (name, at, of) => {
      const size = parts[name].length / of;
      return parts[name].slice(at * size, (at + 1) * size).buffer;
    };
    const arrays = ["q", "k", "lse", ...(E ? ["v"] : [])];
    const places = { q: [head, heads], k: [group, groups], v: [group, groups], lse: [head, heads] };
    const buffers = arrays.map((name) => share(name, ...places[name]));
    const reply = { kind: "head", shape: { N, M, D, E }, dtype: this.contents.dtype, arrays };
    const place = this.contents.traces[number].masks[layer];
    if (place !== null) {
      const [count, ...shape] = this.contents.traces[number].mask_shapes[place];
      const mask = await this._mask(number, place);
      const size = mask.length / count;
      const at = count > 1 ? head : 0;
      arrays.push(trace.layers[layer].mask.kind === "bits" ? "allowed" : "bounds");
      buffers.push(mask.slice(at * size, (at + 1) * size).buffer);
      reply.mask_shape = shape;
    }
    return [reply, buffers];
  }

  async _overview({ trace: number }) {
    const { model, picture } = this.header.traces[number];
    const shape = [model.layers, model.heads, ...picture];
    const bytes = await unpacked(`overview-${number}`);
    const split = shape.reduce((product, size) => product * size);
    return [{ kind: "overview", shape }, [bytes.slice(0, split).buffer, bytes.slice(split).buffer]];
  }

  // The bytes of each array of a layer, by the counts of their numbers.
  _layer(trace, layer, counts) {
    const name = `layer-${trace}-${layer}`;
    const kept = this.layers.get(name) ?? this._decoded(name, counts);
    this.layers.delete(name);
    this.layers.set(name, kept);
    if (this.layers.size > KEPT) this.layers.delete(this.layers.keys().next().value);
    return kept;
  }

  async _decoded(name, { q, k, v, lse }) {
    const packed = await unpacked(name);
    const size = this.contents.dtype === "float16" ? 2 : 4;
    const split = size * (q + k + v);
    const bytes = size === 4
      ? ofPlanes(packed, 4)
      : [ofPlanes(packed.subarray(0, split), 2), ofPlanes(packed.subarray(split), 4)];
    const [numbers, sums] = size === 4 ? [bytes.subarray(0, split), bytes.subarray(split)] : bytes;
    return {
      q: numbers.subarray(0, size * q),
      k: numbers.subarray(size * q, size * (q + k)),
      v: numbers.subarray(size * (q + k)),
      lse: sums.subarray(0, 4 * lse),
    };
  }

  _mask(trace, place) {
    const name = `mask-${trace}-${place}`;
    if (!this.masks.has(name)) this.masks.set(name, unpacked(name));
    return this.masks.get(name);
  }
}

/** Show the page in this file. */
export const start = async (main) => {
  const [header, contents] = await (await opened("header")).json();
  main.render({ model: new FileModel(header, contents), el: document.getElementById("eyeline") });
};
