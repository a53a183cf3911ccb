// Rows of numbers in the kernel's memory: taken, filled, read and given back.

/**
 * Memory of a kernel that is given back together.
 */
export class Room {
  /** @param {Kernel} kernel */
  constructor(kernel) {
    this.kernel = kernel;
    /** @type {number[]} */
    this._taken = [];
  }

  /**
   * Room for rows of float32 numbers, side by side.
   * @param {number} rows
   * @param {number} columns
   * @returns {Placed}
   */
  rows(rows, columns) {
    const at = this.kernel.take(4 * rows * columns);
    this._taken.push(at);
    return { at, rows, columns, stride: 4 * columns };
  }

  /**
   * Numbers put there, as rows of so many.
   * @param {Float32Array} numbers
   * @param {number} columns
   */
  put(numbers, columns) {
    const placed = this.rows(numbers.length / columns, columns);
    this.numbers(placed).set(numbers);
    return placed;
  }

  /** The numbers of rows that lie side by side: a view, valid until memory grows. @param {Placed} placed */
  numbers({ at, rows, columns }) {
    return this.kernel.floats(at, rows * columns);
  }

  /** Give all of it back. */
  leave() {
    for (const at of this._taken) this.kernel.give(at);
    this._taken = [];
  }
}

/** The rows [first, last) of others. @type {(placed: Placed, first: number, last: number) => Placed} */
export const rowsOf = ({ at, columns, stride }, first, last) =>
  ({ at: at + first * stride, rows: last - first, columns, stride });

/**
 * What lies in columns of rows, head by head: (N, …) from column `first` on → (H, N, D), a copy.
 * @type {(numbers: Float32Array, N: number, width: number, first: number, H: number, D: number) => Float32Array}
 */
export const headsOf = (numbers, N, width, first, H, D) => {
  const result = new Float32Array(H * N * D);
  for (let head = 0, to = 0; head < H; head++) {
    for (let token = 0; token < N; token++) {
      let from = token * width + first + head * D;
      for (const end = to + D; to < end; to++, from++) result[to] = numbers[from];
    }
  }
  return result;
};

/**
 * Heads' numbers, (H, N, D), side by side: (N, H·D).
 * @type {(heads: Float32Array, into: Float32Array, H: number, N: number, D: number) => void}
 */
export const joinHeads = (heads, into, H, N, D) => {
  for (let head = 0, from = 0; head < H; head++) {
    for (let token = 0; token < N; token++) {
      let to = (token * H + head) * D;
      for (const end = from + D; from < end; to++, from++) into[to] = heads[from];
    }
  }
};
