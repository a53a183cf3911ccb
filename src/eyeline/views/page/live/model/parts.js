// The parts of a model's layers, read from its tensors into the kernel's memory: matrices, norms, feed-forward layers.

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
  /**
   * @param {Kernel} kernel
   * @param {PackedMatrix} inner
   * @param {ActivationName} activation
   * @param {PackedMatrix} output
   * @param {Norm} norm
   */
  constructor(kernel, inner, activation, output, norm) {
    this.kernel = kernel;
    this.inner = inner;
    this.activation = activation;
    this.output = output;
    this.norm = norm;
  }

  /** Over rows x, in place. @param {Placed} x @param {Placed} inner memory for the inner rows */
  over(x, inner) {
    this.kernel.product(this.inner, x, inner, { activation: this.activation });
    this.kernel.product(this.output, inner, x, { residual: x });
    this.norm.over(x);
  }
}

/** A scale for each row. @type {(tensor: LiveTensor) => Float32Array} */
const scalesOf = ({ shape: [rows], scales = new Float32Array(0) }) =>
  scales.length === rows ? scales : new Float32Array(rows).fill(scales[0]);

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

/** Reads a model's parts. */
export class Parts {
  /**
   * @param {Room} room where they stay
   * @param {Tensors} tensors
   * @param {LiveConfig} config
   */
  constructor(room, tensors, config) {
    this.room = room;
    this.tensors = tensors;
    this.config = config;
  }

  /**
   * Linear layers of the same inputs as one: name.weight and name.bias of each, whose outputs follow one another.
   * @param {string[]} names
   * @param {number} outputs of each
   * @param {number} inputs
   */
  linear(names, outputs, inputs) {
    const biases = names.map((name) => this.tensors.vector(`${name}.bias`, outputs));
    return this._packed(names.map((name) => `${name}.weight`), [outputs, inputs], joined(biases));
  }

  /** A matrix without a bias. @param {string} name @param {[rows: number, columns: number]} shape */
  matrix(name, shape) {
    return this._packed([name], shape, null);
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
    const { width, innerWidth, activation } = this.config;
    const widening = this.linear([inner], innerWidth, width);
    const narrowing = this.linear([output], width, innerWidth);
    return new FeedForward(this.room.kernel, widening, activation, narrowing, this.norm(norm));
  }

  /**
   * @param {string[]} names
   * @param {[outputs: number, inputs: number]} shape of each
   * @param {Float32Array | null} bias
   */
  _packed(names, shape, bias) {
    const { tensors, room: { kernel } } = this;
    const [outputs, inputs] = [names.length * shape[0], shape[1]];
    const stored = names.map((name) => tensors.stored(name, shape));
    const wholes = stored.flatMap(({ int8 }) => (int8 ? [int8] : []));
    if (wholes.length === names.length) {
      return kernel.packInt8(joined(wholes), joined(stored.map(scalesOf)), outputs, inputs, bias);
    }
    return kernel.pack(joined(names.map((name) => tensors.matrix(name, shape))), outputs, inputs, bias);
  }
}
