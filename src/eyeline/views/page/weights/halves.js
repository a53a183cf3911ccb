// Numbers of half precision, widened.

/** All 65,536 of them, by their bits: made once. @type {Float32Array | null} */
let table = null;

/** The number of these bits: float16, IEEE 754. @type {(bits: number) => number} */
const half = (bits) => {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
};

/** Float16 numbers, given by their bits, as float32. @type {(bits: Uint16Array) => Float32Array<ArrayBuffer>} */
export const halves = (bits) => {
  const numbers = (table ??= Float32Array.from({ length: 1 << 16 }, (_, at) => half(at)));
  const result = new Float32Array(bits.length);
  for (let at = 0; at < bits.length; at++) result[at] = numbers[bits[at]];
  return result;
};
