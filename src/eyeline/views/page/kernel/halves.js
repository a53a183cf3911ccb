// float16 as float32.

/** The number of a float16's bits. @type {(bits: number) => number} */
const wide = (bits) => {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
};

/** All of them, by their bits: a model has millions. @type {Float32Array | null} */
let all = null;

/** The numbers of float16's bits. @type {(halves: Uint16Array) => Float32Array<ArrayBuffer>} */
export const widened = (halves) => {
  all ??= Float32Array.from({ length: 1 << 16 }, (_, bits) => wide(bits));
  const result = new Float32Array(halves.length);
  for (let at = 0; at < halves.length; at++) result[at] = all[halves[at]];
  return result;
};
