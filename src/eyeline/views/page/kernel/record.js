// A record in the kernel's memory: a call's params, filled by field.

import { RECORDS } from "./records.js";

const HALF = 2 ** 32;

/** One record: its fields are 8 bytes each, whole numbers but for a few of float64. */
export class CallRecord {
  /**
   * @param {import("./memory.js").Memory} memory
   * @param {string} kind "forward", "product", "rowwise", "step" or "factor"
   * @param {number} at where it is; all its fields become 0
   */
  constructor(memory, kind, at) {
    const { size, fields } = RECORDS.records[kind];
    this.memory = memory;
    this.at = at;
    this.fields = fields;
    this.floats = RECORDS.floats[kind] ?? [];
    this.size = size;
    this.clear();
  }

  /** Make all fields 0. */
  clear() {
    this.memory.bytes(this.at, this.size).fill(0);
  }

  /** The bytes of a record. @param {string} kind */
  static size(kind) {
    return RECORDS.records[kind].size;
  }

  /** Set fields. @param {Record<string, number>} values */
  set(values) {
    const view = new DataView(this.memory.memory.buffer, this.at);
    for (const name in values) {
      const [value, place] = [values[name], this.fields[name]];
      if (place === undefined) throw new Error(`field must be one of the record's, got ${name}`);
      if (this.floats.includes(name)) {
        view.setFloat64(place, value, true);
        continue;
      }
      view.setUint32(place, value >>> 0, true);
      view.setInt32(place + 4, Math.floor(value / HALF), true);
    }
  }

  /** Set an array: its address and its strides, of head and token; its numbers lie side by side. @param {string} name @param {{ at: number, head?: number, token?: number, column?: number }} array */
  point(name, { at, head = 0, token = 0, column = 0 }) {
    this.set({ [`${name}.address`]: at, [`${name}.head`]: head, [`${name}.token`]: token, [`${name}.column`]: column });
  }

  /** A field that is a whole number. @param {string} name */
  read(name) {
    const view = new DataView(this.memory.memory.buffer, this.at + this.fields[name]);
    return view.getUint32(0, true) + HALF * view.getInt32(4, true);
  }
}
