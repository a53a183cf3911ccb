// The tensors of a model's file: as they are stored, or widened to float32.

import { widened } from "../../kernel/halves.js";

/** The tensors by name. */
export class Tensors {
  /** @param {Record<string, LiveTensor>} stored */
  constructor(stored) {
    this._stored = stored;
  }

  /**
   * A tensor as it is stored.
   * @param {string} name
   * @param {number[]} [shape] what it must have
   */
  stored(name, shape) {
    const found = Object.hasOwn(this._stored, name) ? this._stored[name] : null;
    if (!found) throw new Error(`weights must have ${name}, got none; make the file again`);
    const numbers = found.int8 ?? found.float16 ?? found.float32;
    const wanted = shape ?? found.shape;
    if (`${found.shape}` !== `${wanted}` || numbers?.length !== wanted.reduce((product, size) => product * size, 1)) {
      const [right, wrong] = [wanted, found.shape].map((sizes) => sizes.join(" × "));
      throw new Error(`${name} must have shape ${right}, got ${wrong}; make the file again`);
    }
    if (found.int8 && ![1, found.shape[0]].includes(found.scales?.length ?? 0)) {
      throw new Error(`${name} must have a scale for each row, got ${found.scales?.length ?? 0}; make the file again`);
    }
    return found;
  }

  /** A whole tensor, float32. @param {string} name */
  numbers(name) {
    const { shape } = this.stored(name);
    return rowsOf(this.stored(name), 0, shape.length > 1 ? shape[0] : 1, shape[shape.length - 1]);
  }

  /**
   * A vector, float32.
   * @param {string} name
   * @param {number} size
   */
  vector(name, size) {
    return rowsOf(this.stored(name, [size]), 0, 1, size);
  }

  /**
   * The rows [first, last) of a matrix, float32.
   * @param {string} name
   * @param {[rows: number, columns: number]} shape the matrix's
   * @param {number} first
   * @param {number} last
   */
  matrix(name, shape, first = 0, last = shape[0]) {
    return rowsOf(this.stored(name, shape), first, last, shape[1]);
  }

  /**
   * The columns [first, last) of a matrix, float32, (rows, last - first).
   * @param {string} name
   * @param {[rows: number, columns: number]} shape the matrix's
   * @param {number} first
   * @param {number} last
   */
  columns(name, shape, first, last) {
    const [rows, columns] = shape;
    const whole = this.matrix(name, shape);
    const result = new Float32Array(rows * (last - first));
    for (let row = 0; row < rows; row++) {
      result.set(whole.subarray(row * columns + first, row * columns + last), row * (last - first));
    }
    return result;
  }
}

/**
 * The rows [first, last) of a tensor, float32; a copy, unless they are stored so.
 * @type {(tensor: LiveTensor, first: number, last: number, columns: number) => Float32Array}
 */
const rowsOf = ({ int8, scales, float16, float32 }, first, last, columns) => {
  const [from, to] = [first * columns, last * columns];
  if (float32) return float32.subarray(from, to);
  if (float16) return widened(float16.subarray(from, to));
  if (!int8 || !scales) throw new Error("a tensor must have numbers, got none; make the file again");
  const result = new Float32Array(to - from);
  for (let row = first; row < last; row++) {
    const scale = scales[Math.min(row, scales.length - 1)];
    for (let at = row * columns, end = at + columns; at < end; at++) result[at - from] = int8[at] * scale;
  }
  return result;
};
