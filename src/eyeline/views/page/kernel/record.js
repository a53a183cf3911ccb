// A record in the kernel's memory: a call's params, filled by field.

import { RECORDS } from "./records.js";

const HALF = 2 ** 32;

/** The place of each field, and whether it is a float64 or an int64. @typedef {Map<string, [offset: number, float: boolean]>} Fields */

/** @type {Map<string, Fields>} The fields of each kind of record, by their paths, such as "mask.bounds.address". */
const known = new Map();

/** @type {(kind: string) => Fields} */
const fieldsOf = (kind) => {
  const found = known.get(kind) ?? new Map();
  if (known.has(kind)) return found;
  for (const [name, [offset, type]] of Object.entries(RECORDS.records[kind].fields)) {
    if (type === "int" || type === "float") found.set(name, [offset, type === "float"]);
    else for (const [inner, [more, float]] of fieldsOf(type)) found.set(`${name}.${inner}`, [offset + more, float]);
  }
  known.set(kind, found);
  return found;
};

/** One record: each of its fields has 8 bytes. */
export class CallRecord {
  /**
   * @param {KernelMemory} memory
   * @param {string} kind its name in records.json
   * @param {number} at where it is; all its fields become 0
   */
  constructor(memory, kind, at) {
    this.memory = memory;
    this.at = at;
    this.fields = fieldsOf(kind);
    this.size = CallRecord.size(kind);
    this.clear();
  }

  /** The bytes of a record. @param {string} kind */
  static size(kind) {
    return RECORDS.records[kind].size;
  }

  /** Make all fields 0. */
  clear() {
    this.memory.bytes(this.at, this.size).fill(0);
  }

  /** Set fields. @param {Record<string, number>} values */
  set(values) {
    const view = new DataView(this.memory.memory.buffer, this.at, this.size);
    for (const name in values) {
      const [value, field] = [values[name], this.fields.get(name)];
      if (!field) throw new Error(`field must be one of the record's, got ${name}`);
      const [place, float] = field;
      if (float) view.setFloat64(place, value, true);
      else {
        view.setUint32(place, value >>> 0, true);
        view.setInt32(place + 4, Math.floor(value / HALF), true);
      }
    }
  }

  /**
   * Set an array's address and strides, in bytes.
   * @param {string} name
   * @param {{ at: number, head?: number, token?: number, column?: number }} array
   */
  point(name, { at, head = 0, token = 0, column = 0 }) {
    this.set({ [`${name}.address`]: at, [`${name}.head`]: head, [`${name}.token`]: token, [`${name}.column`]: column });
  }

  /** A field that is a whole number. @param {string} name */
  read(name) {
    const view = new DataView(this.memory.memory.buffer, this.at, this.size);
    const [place] = this.fields.get(name) ?? [0];
    return view.getUint32(place, true) + HALF * view.getInt32(place + 4, true);
  }
}
