// A call of the kernel's forward pass: its params, filled from arrays, and its run, task by task.

import { layoutOf } from "./layout.js";
import { lowered, reachOf } from "./masks.js";
import { CallRecord } from "./record.js";
import { RECORDS } from "./records.js";

const LOG2E = Math.LOG2E;
const NOTHING_READ = {
  primitives: 0, keys: 0, select: 0, bins: 0, ranges: 0, grid_columns: 0, grid_sums: 0, grid_maxima: 0, column_sums: 0,
  column_maxima: 0,
};
const FIRST = 1e6; // multiply-adds per millisecond, before it was measured

/** @type {(numbers: KernelNumbers) => numbers is Float32Array | Uint16Array} */
const isArray = (numbers) => ArrayBuffer.isView(numbers);

/** One call, or a part of it: the queries [top, bottom) on the keys [left, right). */
export class ForwardCall {
  /**
   * @param {Kernel} kernel
   * @param {AttendCall} call
   * @param {CallSpan} span
   */
  constructor(kernel, call, span) {
    const { memory } = kernel;
    this.kernel = kernel;
    this.call = call;
    this.span = span;
    this.N = span.bottom - span.top;
    this.M = span.right - span.left;
    /** @type {number[]} */
    this.taken = [];
    this.rate = FIRST;
    this.workspace = 0;
    this.tasks = this.left = this.cost = 0; // until it is planned
    this.mask = lowered(call.mask, span);
    const { H, G, D, E, q, scale } = call;
    this.half = isArray(q) ? q instanceof Uint16Array : q.half === true;
    memory.calls += 1;
    try {
      this.record = new CallRecord(memory, "forward", this.take(CallRecord.size("forward")));
      this.record.set({
        H, group: H / G, N: this.N, M: this.M, D, E, q_factor: scale * LOG2E,
        half: this.half ? RECORDS.enums.Half.FLOAT16 : RECORDS.enums.Half.NOT,
      });
      this._fill();
    } catch (error) {
      this.end(); // there is no memory left
      throw error;
    }
  }

  _fill() {
    const { call, span } = this;
    this._point("q", call.q, call.N, call.D, span.top);
    this._point("k", call.k, call.M, call.D, span.left);
    if (call.E && call.v) this._point("v", call.v, call.M, call.E, span.left);
    else this._point("v", call.k, call.M, call.D, span.left);
    this._mask();
    this._scores();
  }

  /** Memory that is given back with the call. @param {number} bytes */
  take(bytes) {
    const at = this.kernel.memory.take(bytes);
    this.taken.push(at);
    return at;
  }

  /** A copy of an array, until the call ends. @param {KeptArray} array */
  copied(array) {
    const at = this.take(array.byteLength);
    this.kernel.memory.copy(array, at);
    return at;
  }

  /**
   * @param {string} name
   * @param {KernelNumbers} numbers
   * @param {number} tokens
   * @param {number} width
   * @param {number} first
   */
  _point(name, numbers, tokens, width, first) {
    const size = this.half ? 2 : 4;
    const [at, strides] = isArray(numbers)
      ? [this.kernel.memory.place(numbers), [size * tokens * width, size * width]]
      : [numbers.at, numbers.strides];
    this.record.point(name, { at: at + first * strides[1], head: strides[0], token: strides[1], column: size });
  }

  _mask() {
    const { call, span, record } = this;
    const { bounds, allowed } = this.mask;
    if (bounds) {
      const { values, heads, rows, count } = bounds;
      const row = 8 * count;
      record.point("mask.bounds", {
        at: this.copied(values), head: heads > 1 ? row * rows : 0, token: rows > 1 ? row : 0,
      });
      record.set({ "mask.intervals": count });
    }
    if (allowed) {
      // The masks of several heads were put together for this call alone.
      const whole = allowed.heads > 1 ? this.copied(allowed.values) : this.kernel.memory.place(allowed.values);
      const at = whole + span.top * call.M + span.left;
      record.point("mask.allowed", { at, head: allowed.heads > 1 ? call.N * call.M : 0, token: call.M, column: 1 });
    }
  }

  _scores() {
    const { call, span, record } = this;
    const { H, N, M } = call;
    const memory = this.kernel.memory;
    if (call.flat?.some(Boolean)) {
      const step = new CallRecord(memory, "STEP", this.take(CallRecord.size("STEP")));
      step.set({ kind: RECORDS.enums.StepKind.FLATTENED });
      step.point("array", { at: this.copied(Uint8Array.from(call.flat, Number)), head: 1 });
      record.set({ steps: step.at, step_count: 1 });
    }
    const { factors = [] } = call;
    if (!factors.length) return;
    const size = CallRecord.size("FACTOR");
    const all = this.take(size * factors.length);
    factors.forEach(({ by, columns }, place) => {
      const one = new CallRecord(memory, "FACTOR", all + size * place);
      const numbers = Float32Array.from({ length: 2 * H * N }, (_, at) => {
        const number = by[at % (by.length === N ? N : H * N)];
        return at < H * N ? number : Math.log2(Math.abs(number));
      });
      const whole = Uint8Array.from({ length: H * M }, (_, at) => columns[at % columns.length]);
      const heads = Uint8Array.from({ length: H }, (_, head) => Number(whole.subarray(head * M, (head + 1) * M).includes(1)));
      one.set({ logs: 4 * H * N });
      one.point("by", { at: this.copied(numbers) + 4 * span.top, head: 4 * N, token: 4 });
      one.point("columns", { at: this.copied(whole) + span.left, head: M, column: 1 });
      one.point("heads", { at: this.copied(heads), head: 1 });
    });
    record.set({ factors: all, factor_count: factors.length });
  }

  /**
   * Each row's maximum and sum that a given lse means, as the kernel has them: (H, queries of the span).
   * @param {Float32Array} lse (H, N)
   */
  totals(lse) {
    const { N, call: { H, N: all }, span: { top } } = this;
    const memory = this.kernel.memory;
    const [m, l] = [this.take(4 * H * N), this.take(4 * H * N)];
    const [maxima, sums] = [memory.floats(m, H * N), memory.floats(l, H * N)];
    for (let head = 0, at = 0; head < H; head++) {
      for (let i = 0; i < N; i++, at++) {
        maxima[at] = lse[head * all + top + i] * LOG2E;
        sums[at] = Number(maxima[at] > -Infinity);
      }
    }
    return { m, l };
  }

  /**
   * Lay out the workspace, and divide the work into tasks.
   * @param {Record<string, number> | null} reading what readouts need of it; null without readouts
   */
  plan(reading) {
    const { call: { H, D, E }, N, M, record } = this;
    const { PANEL: panel, TILE_ROWS: rows, KEY_BLOCK, QUERIES_TOGETHER, KEPT_TOGETHER } = RECORDS.sizes;
    const size = 4;
    const inHead = Math.ceil(N / panel);
    let together = Math.floor(QUERIES_TOGETHER / panel);
    let reach = 0;
    if (reading) {
      reach = reachOf(this.mask.bounds, M, panel, KEY_BLOCK);
      together = Math.min(together, Math.max(1, Math.floor(KEPT_TOGETHER / (Math.max(reach, 1) * panel * size))));
    }
    const panels = Math.max(1, Math.min(together, Math.floor((inHead * H) / 4), inHead));
    const blocks = Math.ceil(inHead / panels);
    const { fields, size: bytes } = layoutOf({
      D, E, size, panel, panels, rows, reach,
      half: Number(this.half),
      intervals: this.mask.bounds?.count ?? 0,
      steps: Number(Boolean(this.call.flat?.some(Boolean))),
      cuts: 0,
      factors: this.call.factors?.length ?? 0,
      ...(reading ? { primitives: 1, keys: M, ...reading } : NOTHING_READ),
    });
    this.tasks = H * blocks;
    this.left = this.tasks;
    record.set({ ...fields, tasks: this.tasks, blocks, panels });
    this.workspace = this.take(bytes);
    this.cost = panels * panel * M * (D + E + 4) * (reading ? 2 : 1); // multiply-adds of a task, about
    return this;
  }

  /** Do tasks for about so many milliseconds; returns whether none is left. @param {number} milliseconds */
  step(milliseconds) {
    const end = performance.now() + milliseconds;
    while (this.left > 0) {
      const now = performance.now();
      if (now >= end) return false;
      const most = Math.min(Math.max(Math.floor((this.rate * (end - now)) / this.cost), 1), this.left);
      const before = this.left;
      this.left = Number(this.kernel.run("forward", this.record.at, this.workspace, most));
      const spent = performance.now() - now;
      if (spent > 0.5) this.rate = ((before - this.left) * this.cost) / spent;
    }
    return true;
  }

  /** Do all tasks. */
  finish() {
    if (this.left) this.left = Number(this.kernel.run("forward", this.record.at, this.workspace, this.left));
  }

  /** Give the memory back. */
  end() {
    const { memory } = this.kernel;
    for (const at of this.taken) memory.give(at);
    this.taken = [];
    memory.calls -= 1;
    memory.forget();
  }
}
