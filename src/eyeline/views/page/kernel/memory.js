// The kernel's memory: parts that are taken and given back, and arrays that stay while they are in use.

const LINE = 64; // bytes: every part begins on a cache line
const PAGE = 65536; // bytes of a page of WebAssembly's memory
const STEP = 16 * PAGE; // memory grows by whole steps
const KEPT = 128e6; // bytes of arrays that are kept

/** @type {(bytes: number) => number} */
const whole = (bytes) => Math.max(Math.ceil(bytes / LINE), 1) * LINE;

/** One instance's memory. */
export class Memory {
  /**
   * @param {WebAssembly.Memory} memory
   * @param {number} heap where the part begins that is ours
   */
  constructor(memory, heap) {
    this.memory = memory;
    /** @type {[at: number, bytes: number][]} The free parts, by address; no two touch each other. */
    this.free = [];
    this.end = whole(heap); // everything from here on was never taken
    /** @type {Map<number, number>} The bytes of each part that is taken. */
    this.taken = new Map();
    /** @type {Map<KeptArray, number>} Where arrays are, the latest used last. */
    this.arrays = new Map();
    this.kept = 0;
    this.budget = KEPT;
    this.calls = 0; // that are under way: meanwhile no array is dropped
  }

  /** The bytes that are taken. */
  get used() {
    return [...this.taken.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /**
   * The address of a part of so many bytes, on a cache line.
   * @param {number} bytes
   */
  take(bytes) {
    const size = whole(bytes);
    const place = this.free.findIndex(([, room]) => room >= size);
    let at = this.end;
    if (place >= 0) {
      const [first, room] = this.free[place];
      at = first;
      if (room > size) this.free[place] = [first + size, room - size];
      else this.free.splice(place, 1);
    } else {
      const last = this.free[this.free.length - 1];
      if (last && last[0] + last[1] === this.end) {
        at = last[0];
        this.free.pop();
      }
      this.reach(at + size);
      this.end = at + size;
    }
    this.taken.set(at, size);
    return at;
  }

  /** Give a part back. @param {number} at */
  give(at) {
    let size = this.taken.get(at);
    if (size === undefined) throw new Error(`address must be of a part that was taken, got ${at}; give each back once`);
    this.taken.delete(at);
    let place = this.free.findIndex(([first]) => first > at);
    if (place < 0) place = this.free.length;
    const [before, after] = [this.free[place - 1], this.free[place]];
    if (after && at + size === after[0]) {
      size += after[1];
      this.free.splice(place, 1);
    }
    if (before && before[0] + before[1] === at) before[1] += size;
    else this.free.splice(place, 0, [at, size]);
  }

  /** Make the memory at least so many bytes long. Views of it end then. @param {number} bytes */
  reach(bytes) {
    const more = bytes - this.memory.buffer.byteLength;
    if (more <= 0) return;
    try {
      this.memory.grow((Math.ceil(more / STEP) * STEP) / PAGE);
    } catch {
      throw new RangeError(`memory must have room for ${Math.ceil(bytes / 1e6)} MB, got less from this browser`);
    }
  }

  /** A view of float32: valid until the memory grows. @param {number} at @param {number} count */
  floats(at, count) {
    return new Float32Array(this.memory.buffer, at, count);
  }

  /** A view of int32: valid until the memory grows. @param {number} at @param {number} count */
  ints(at, count) {
    return new Int32Array(this.memory.buffer, at, count);
  }

  /** A view of bytes: valid until the memory grows. @param {number} at @param {number} count */
  bytes(at, count) {
    return new Uint8Array(this.memory.buffer, at, count);
  }

  /** Copy an array to an address. @param {KeptArray} array @param {number} at */
  copy(array, at) {
    this.bytes(at, array.byteLength).set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  }

  /**
   * Where an array is, by its identity: it is copied here on first use, and stays until others need its room (`forget`).
   * It must not change.
   * @param {KeptArray} array
   */
  place(array) {
    let at = this.arrays.get(array);
    if (at === undefined) {
      at = this.take(array.byteLength);
      this.copy(array, at);
      this.kept += array.byteLength;
    }
    this.arrays.delete(array);
    this.arrays.set(array, at);
    return at;
  }

  /** Drop the arrays that were used least lately, as far as they take more than their budget. */
  forget(budget = this.budget) {
    for (const [array, at] of this.arrays) {
      if (this.kept <= budget || this.calls) return;
      this.arrays.delete(array);
      this.kept -= array.byteLength;
      this.give(at);
    }
  }
}
