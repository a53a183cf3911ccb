// A model's weights, put together in the worker from the pieces that the file has.

/** The tensors of one model, in one run of bytes; docs/live.md describes it. */
export class StoredWeights {
  /**
   * @param {StoredModel} entry
   * @param {number} piece the bytes of each piece but the last, before compression
   */
  constructor(entry, piece) {
    this.entry = entry;
    this.bytes = new Uint8Array(entry.size);
    this._piece = piece;
  }

  /**
   * Add a piece. It throws if that isn't what was stored: its length and gzip's checksum tell.
   * @param {number} place which one
   * @param {Uint8Array<ArrayBuffer>} packed
   */
  async add(place, packed) {
    if (packed.length !== this.entry.pieces[place]) throw new Error(`piece ${place} has ${packed.length} bytes`);
    const [first, last] = [place * this._piece, Math.min((place + 1) * this._piece, this.bytes.length)];
    const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
    let at = first;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (at + value.length > last) throw new Error(`piece ${place} is too long`);
      this.bytes.set(value, at);
      at += value.length;
    }
    if (at < last) throw new Error(`piece ${place} is too short`);
  }

  /** The tensors by name: views of the bytes, once all pieces are there. @returns {Record<string, LiveTensor>} */
  tensors() {
    const { buffer } = this.bytes;
    const made = Object.entries(this.entry.tensors).map(([name, [kind, shape, at, scales]]) => {
      const count = shape.reduce((product, size) => product * size, 1);
      /** @type {LiveTensor} */
      const tensor = { shape };
      if (kind === "float32") tensor.float32 = new Float32Array(buffer, at, count);
      else if (kind === "float16") tensor.float16 = new Uint16Array(buffer, at, count);
      else {
        tensor.int8 = new Int8Array(buffer, at, count);
        tensor.scales = new Float32Array(buffer, scales, shape[0]);
      }
      return [name, tensor];
    });
    return Object.fromEntries(made);
  }
}
