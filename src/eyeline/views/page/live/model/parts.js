// The parts of a model's layers, read from its tensors into the kernel's memory: matrices, norms, feed-forward layers.

/** Part of a matrix, and whether its bias is wanted. @typedef {{ rows?: Span, columns?: Span, bias?: boolean }} Cut */
/** @typedef {[first: number, last: number]} Span */

/** A layer norm. Source: Ba et al., "Layer Normalization" (2016). */
export class Norm {
  /** @param {Kernel} kernel @param {Placed} weight @param {Placed} bias @param {number} epsilon */
  constructor(kernel, weight, bias, epsilon) {
    this.kernel = kernel;
    this.weight = weight;
    this.bias = bias;
    this.epsilon = epsilon;
  }

  /** Norm rows, or their sums with others, in place. @param {Placed} x @param {Placed} [residual] */
  over(x, residual) {
    this.kernel.norm(x, this.weight, this.bias, this.epsilon, { residual, into: x });
  }
}

/** norm(x + output(activation(inner(x)))). */
export class FeedForward {
  /** @param {Parts} parts @param {PackedMatrix} inner @param {PackedMatrix} output @param {Norm} norm */
  constructor({ room, config, share }, inner, output, norm) {
    this.kernel = room.kernel;
    this.activation = config.activation;
    this.residual = share.residual;
    this.inner = inner;
    this.output = output;
    this.norm = norm;
  }

  /** Over rows x, in place. @param {Placed} x @param {Call} call */
  async over(x, { work, swap }) {
    this.kernel.product(this.inner, x, work.inner, { activation: this.activation });
    this.kernel.product(this.output, work.inner, x, { residual: this.residual ? x : undefined });
    this.norm.over(x, await swap?.(x));
  }
}

/** A scale for each row. @type {(tensor: LiveTensor) => Float32Array} */
const scalesOf = ({ shape: [rows], scales = new Float32Array(0) }) =>
  scales.length === rows ? scales : new Float32Array(rows).fill(scales[0]);

/**
 * The columns [first, last) of rows; a copy unless they are all.
 * @template {Int8Array | Float32Array} T
 * @param {T} numbers
 * @param {number} width
 * @param {Span} columns
 * @returns {T}
 */
const cut = (numbers, width, [first, last]) => {
  if (last - first === width) return numbers;
  const rows = Array.from({ length: numbers.length / width }, (_, row) => row * width);
  return joined(rows.map((at) => /** @type {T} */ (numbers.subarray(at + first, at + last))));
};

/**
 * Arrays of one type, one after the other.
 * @template {Int8Array | Float32Array} T
 * @param {T[]} arrays
 * @returns {T}
 */
const joined = (arrays) => {
  if (arrays.length === 1) return arrays[0];
  const Kind = /** @type {new (length: number) => T} */ (arrays[0].constructor);
  const result = new Kind(arrays.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const one of arrays) {
    result.set(one, at);
    at += one.length;
  }
  return result;
};

/** Reads a model's parts: all of them, or a share. */
export class Parts {
  /**
   * @param {Room} room where they stay
   * @param {Tensors} tensors
   * @param {LiveConfig} config
   * @param {Share} share
   */
  constructor(room, tensors, config, share) {
    this.room = room;
    this.tensors = tensors;
    this.config = config;
    this.share = share;
  }

  /**
   * Linear layers of the same inputs as one: name.weight and name.bias of each, whose outputs follow one another.
   * @param {string[]} names
   * @param {[outputs: number, inputs: number]} shape of each
   * @param {Cut} cut what of each is wanted; all of it if nothing is said
   */
  linear(names, shape, { rows = [0, shape[0]], columns = [0, shape[1]], bias = true } = {}) {
    const biases = names.map((name) => this.tensors.vector(`${name}.bias`, shape[0]).subarray(...rows));
    const weights = names.map((name) => `${name}.weight`);
    return this._packed(weights, shape, rows, columns, bias ? joined(biases) : null);
  }

  /** A matrix without a bias. @param {string} name @param {[rows: number, columns: number]} shape */
  matrix(name, shape) {
    return this._packed([name], shape, [0, shape[0]], [0, shape[1]], null);
  }

  /** The norm name.weight, name.bias. @param {string} name */
  norm(name) {
    const { width, epsilon } = this.config;
    /** @type {(part: string) => Placed} */
    const placed = (part) => this.room.put(this.tensors.vector(`${name}.${part}`, width), width);
    return new Norm(this.room.kernel, placed("weight"), placed("bias"), epsilon);
  }

  /** @param {string} inner @param {string} output @param {string} norm their names */
  feedForward(inner, output, norm) {
    const { width, innerWidth } = this.config;
    const { units, residual } = this.share;
    const widening = this.linear([inner], [innerWidth, width], { rows: units });
    const narrowing = this.linear([output], [width, innerWidth], { columns: units, bias: residual });
    return new FeedForward(this, widening, narrowing, this.norm(norm));
  }

  /**
   * @param {string[]} names
   * @param {[outputs: number, inputs: number]} shape of each
   * @param {Span} rows
   * @param {Span} columns
   * @param {Float32Array | null} bias
   */
  _packed(names, shape, rows, columns, bias) {
    const { tensors, room: { kernel } } = this;
    const [outputs, inputs] = [names.length * (rows[1] - rows[0]), columns[1] - columns[0]];
    const stored = names.map((name) => tensors.stored(name, shape));
    const [first, last] = rows.map((row) => row * shape[1]);
    const wholes = stored.flatMap(({ int8 }) => (int8 ? [cut(int8.subarray(first, last), shape[1], columns)] : []));
    if (wholes.length === names.length) {
      const scales = stored.map((one) => scalesOf(one).subarray(...rows));
      return kernel.packInt8(joined(wholes), joined(scales), outputs, inputs, bias);
    }
    const wide = names.map((name) => cut(tensors.matrix(name, shape, ...rows), shape[1], columns));
    return kernel.pack(joined(wide), outputs, inputs, bias);
  }
}
