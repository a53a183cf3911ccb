// A host's buffers as typed arrays.

import { widened } from "../kernel/halves.js";

/** The bytes of a buffer. @type {(buffer: Bytes) => Uint8Array<ArrayBuffer>} */
export const bytesOf = (buffer) =>
  buffer instanceof ArrayBuffer
    ? new Uint8Array(buffer)
    : new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);

/**
 * A typed array over a buffer, which is copied if it begins at an offset that isn't aligned.
 * @template T
 * @param {{ new (buffer: ArrayBuffer, offset?: number, length?: number): T, BYTES_PER_ELEMENT: number }} Kind
 * @param {Bytes} buffer
 */
export const typed = (Kind, buffer) => {
  const bytes = bytesOf(buffer);
  return bytes.byteOffset % Kind.BYTES_PER_ELEMENT
    ? new Kind(bytes.slice().buffer)
    : new Kind(bytes.buffer, bytes.byteOffset, bytes.byteLength / Kind.BYTES_PER_ELEMENT);
};

/** The numbers of a buffer, in float32. @type {(dtype: Reply["dtype"], buffer: Bytes) => Float32Array} */
export const numbersOf = (dtype, buffer) => (dtype === "float32" ? typed(Float32Array, buffer) : widened(typed(Uint16Array, buffer)));

