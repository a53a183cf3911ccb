// float16 as float32.

/** The numbers of float16's bits. @type {(halves: Uint16Array) => Float32Array<ArrayBuffer>} */
export const widened = (halves) => {
  const result = new Float32Array(halves.length);
  for (let at = 0; at < halves.length; at++) {
    const [bits, sign] = [halves[at], halves[at] & 0x8000 ? -1 : 1];
    const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
    if (exponent === 31) result[at] = fraction ? NaN : sign * Infinity;
    else result[at] = sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
  }
  return result;
};
