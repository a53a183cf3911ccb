// Linear layers and activation functions in double precision; as Python's models/activations.py.

const SERIES = 2.5; // up to here the error function's power series is exact enough
const TERMS = 60;

/**
 * x · Wᵀ + b, with the columns of W from `first` on, of rows `width` long.
 * @type {(x: ArrayLike<number>, W: Float32Array, bias?: Float32Array | null, first?: number, width?: number) => Float64Array}
 */
export const product = (x, W, bias = null, first = 0, width = x.length) => {
  const made = new Float64Array(W.length / width);
  for (let row = 0; row < made.length; row++) {
    let sum = bias ? bias[row] : 0;
    for (let column = 0, at = row * width + first; column < x.length; column++, at++) sum += x[column] * W[at];
    made[row] = sum;
  }
  return made;
};

/** The error function. Source: Abramowitz and Stegun, 7.1.6 and 7.1.14. @param {number} x */
export const erf = (x) => {
  const size = Math.abs(x);
  const factor = Math.exp(-size * size) / Math.sqrt(Math.PI);
  if (size > SERIES) {
    let below = size;
    for (let term = TERMS; term > 0; term--) below = size + term / 2 / below;
    return Math.sign(x) * (1 - factor / below);
  }
  let [sum, term] = [0, size];
  for (let n = 1; n <= TERMS; n++) {
    sum += term;
    term *= (2 * size * size) / (2 * n + 1);
  }
  return Math.sign(x) * 2 * factor * sum;
};

/** By the kernel's names. @type {Record<string, (x: number) => number>} */
const ACTIVATIONS = {
  relu: (x) => Math.max(x, 0),
  gelu: (x) => (x * (1 + erf(x / Math.SQRT2))) / 2,
  gelu_tanh: (x) => (x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)))) / 2,
  silu: (x) => (x * (1 + Math.tanh(x / 2))) / 2,
};

/** @type {(name: ActivationName, x: Float64Array) => Float64Array} */
export const activated = (name, x) => x.map(ACTIVATIONS[name]);
