// The kernel in the page: one instance of the module with its memory. The only place that calls WebAssembly.

import { CallReadouts } from "./readouts.js";
import { ForwardCall } from "./forward.js";
import { Memory } from "./memory.js";
import { norm, packFloats, packInt8, product, unpack } from "./products.js";
import { CallRecord } from "./record.js";
import { widened } from "./halves.js";

const PAGES = 32; // of 64 KiB, at first

/** 0, 1, 2, … @type {(count: number) => Int32Array} */
const inOrder = (count) => {
  const numbers = new Int32Array(count);
  for (let at = 0; at < count; at++) numbers[at] = at; // many times as fast as Int32Array.from
  return numbers;
};

/** One instance. Every array that it is given must stay as it is; what it returns is the caller's. */
export class Kernel {
  /**
   * @param {KernelExports} exports
   * @param {WebAssembly.Memory} memory
   */
  constructor(exports, memory) {
    this.exports = exports;
    this.memory = new Memory(memory, exports.__heap_base.value);
    /** @type {WeakMap<Uint16Array, Float32Array>} */
    this.wide = new WeakMap();
    /** @type {Map<string, { record: CallRecord, workspace: number, bytes: number }>} */
    this.rowCalls = new Map();
  }

  /**
   * Start a kernel.
   * @param {WebAssembly.Module} module
   */
  static async start(module) {
    const memory = new WebAssembly.Memory({ initial: PAGES });
    const { exports } = await WebAssembly.instantiate(module, { env: { memory } });
    return new Kernel(/** @type {any} */ (exports), memory);
  }

  /**
   * Call a function of the module; returns how many tasks are left.
   * @param {KernelProgram} program
   * @param {number} params
   * @param {number} workspace
   * @param {number} most
   */
  run(program, params, workspace, most) {
    return this.exports[program](BigInt(params), BigInt(workspace), BigInt(most));
  }

  /**
   * The whole of a call as a forward pass: its output, lse and readouts.
   * @param {AttendCall} call
   * @param {[first: number, last: number]} [rows] the queries, all by default: N is then their number
   * @param {[first: number, last: number]} [columns] the keys
   * @returns {Attended}
   */
  attend(call, rows, columns) {
    const attending = this.attending(call, rows, columns);
    attending.step(Infinity);
    return attending.result();
  }

  /**
   * The same, to be done step by step.
   * @param {AttendCall} given
   * @param {[first: number, last: number]} [rows]
   * @param {[first: number, last: number]} [columns]
   * @returns {Attending}
   */
  attending(given, [top, bottom] = [0, given.N], [left, right] = [0, given.M]) {
    const call = given.E && given.q instanceof Uint16Array ? this._widened(given) : given;
    const N = bottom - top;
    const span = { top, bottom, left, right, ahead: (call.firstQuery ?? 0) - (call.firstKey ?? 0) };
    const forward = new ForwardCall(this, call, span);
    try {
      return this._prepared(forward, call, N);
    } catch (error) {
      forward.end(); // there is no memory left
      throw error;
    }
  }

  /**
   * @param {ForwardCall} forward
   * @param {AttendCall} call
   * @param {number} N
   * @returns {Attending}
   */
  _prepared(forward, { H, E, into, ask = {}, lse = null }, N) {
    const [m, l] = [forward.take(4 * H * N), forward.take(4 * H * N)];
    const output = into?.at ?? forward.take(4 * H * N * E);
    const strides = into?.strides ?? [4 * N * E, 4 * E];
    forward.record.set({ m, l });
    forward.record.point("output", { at: output, head: strides[0], token: strides[1], column: 4 });
    const readouts = Object.keys(ask).length ? new CallReadouts(forward, ask, lse) : null;
    forward.plan(readouts?.sizes ?? null);
    return {
      get share() {
        return forward.tasks ? 1 - forward.left / forward.tasks : 1;
      },
      step: (milliseconds) => {
        if (milliseconds === Infinity) forward.finish();
        return forward.step(milliseconds);
      },
      result: () => {
        const [maxima, sums] = [this.memory.floats(m, H * N), this.memory.floats(l, H * N)];
        const logSums = Float32Array.from(sums, Math.log2);
        /** @type {Attended} */
        const found = {
          output: into ? new Float32Array(0) : this.memory.floats(output, H * N * E).slice(),
          lse: logSums.map((log, row) => (sums[row] > 0 ? (maxima[row] + Math.log2(sums[row])) * Math.LN2 : log)),
          ...(readouts?.results(logSums) ?? {}),
          pairs: forward.record.read("work"),
        };
        forward.end();
        return found;
      },
      end: () => forward.end(),
    };
  }

  /**
   * The weights of queries [first, last) on keys [first, last), (H, R, C), normalised by the call's lse.
   * @param {AttendCall & { lse: Float32Array }} call
   * @param {[first: number, last: number]} rows
   * @param {[first: number, last: number]} columns
   */
  weights(call, [top, bottom] = [0, call.N], [left, right] = [0, call.M]) {
    const [H, R, C] = [call.H, bottom - top, right - left];
    if (!(H * R * C)) return new Float32Array(0);
    const ahead = (call.firstQuery ?? 0) - (call.firstKey ?? 0);
    const forward = new ForwardCall(this, { ...call, E: 0 }, { top, bottom, left, right, ahead });
    try {
      const address = forward.take(4 * H * R * C);
      this.memory.floats(address, H * R * C).fill(0);
      const [rows, columns] = [R, C].map((count) => forward.copied(inOrder(count)));
      forward.record.set({
        ...forward.totals(call.lse),
        "rectangle.address": address, "rectangle.rows": R, "rectangle.columns": C,
        "rectangle.row_places": rows, "rectangle.column_places": columns,
      });
      forward.plan(null).finish();
      return this.memory.floats(address, H * R * C).slice();
    } finally {
      forward.end();
    }
  }

  /** A call on float16's bits with values: in float32, as the output would be rounded otherwise. @param {AttendCall} call @returns {AttendCall} */
  _widened(call) {
    /** @type {(numbers: KernelNumbers | null | undefined) => any} */
    const wide = (numbers) => {
      if (!(numbers instanceof Uint16Array)) return numbers;
      const found = this.wide.get(numbers) ?? widened(numbers);
      this.wide.set(numbers, found);
      return found;
    };
    return { ...call, q: wide(call.q), k: wide(call.k), v: wide(call.v) };
  }

  /**
   * The params, all 0, and the workspace of a product or a row pass, used again and again.
   * @param {"product" | "rowwise"} program
   * @param {number} bytes
   */
  rowCall(program, bytes) {
    let kept = this.rowCalls.get(program);
    if (kept && kept.bytes < bytes) {
      this.rowCalls.delete(program); // there may be no memory for the next one
      this.give(kept.workspace);
      this.give(kept.record.at);
      kept = undefined;
    }
    if (!kept) {
      const at = this.take(CallRecord.size(program));
      kept = { record: new CallRecord(this.memory, program, at), workspace: this.take(bytes), bytes };
      this.rowCalls.set(program, kept);
    }
    kept.record.clear();
    return kept;
  }

  /**
   * A matrix (outputs, inputs) with its bias (outputs), packed in the kernel's memory until `unpack`.
   * @param {Float32Array} W
   * @param {number} outputs
   * @param {number} inputs
   * @param {Float32Array | null} [bias]
   */
  pack(W, outputs, inputs, bias = null) {
    return packFloats(this, W, outputs, inputs, bias);
  }

  /**
   * The same of int8, with a scale for each output.
   * @param {Int8Array} W
   * @param {Float32Array} scales
   * @param {number} outputs
   * @param {number} inputs
   * @param {Float32Array | null} [bias]
   */
  packInt8(W, scales, outputs, inputs, bias = null) {
    return packInt8(this, W, scales, outputs, inputs, bias);
  }

  /** Give a packed matrix's memory back. @param {PackedMatrix} W */
  unpack(W) {
    unpack(this, W);
  }

  /**
   * activation(x·Wᵀ + bias) + residual, for each row of x.
   * @param {PackedMatrix} W
   * @param {Placed} x
   * @param {Placed} into
   * @param {{ activation?: ActivationName, residual?: Placed }} [options]
   */
  product(W, x, into, options) {
    product(this, W, x, into, options);
  }

  /**
   * Layer norm of x + residual, in place or `into` other rows.
   * @param {Placed} x
   * @param {Placed} weight one row
   * @param {Placed} bias one row
   * @param {number} epsilon
   * @param {{ residual?: Placed, into?: Placed }} [options]
   */
  norm(x, weight, bias, epsilon, options) {
    norm(this, x, weight, bias, epsilon, options);
  }

  /** The address of new memory, on a cache line. @param {number} bytes */
  take(bytes) {
    return this.memory.take(bytes);
  }

  /** Give memory back. @param {number} at */
  give(at) {
    this.memory.give(at);
  }

  /** A view of numbers: valid until the memory grows. @param {number} at @param {number} count */
  floats(at, count) {
    return this.memory.floats(at, count);
  }

  /**
   * Rows in new memory, side by side; with numbers, filled.
   * @param {number} rows
   * @param {number} columns
   * @param {Float32Array} [numbers]
   * @returns {Placed}
   */
  rows(rows, columns, numbers) {
    const at = this.take(4 * rows * columns);
    if (numbers) this.floats(at, rows * columns).set(numbers);
    return { at, rows, columns, stride: 4 * columns };
  }
}
