// The blocks of a file: from base64 and DEFLATE to bytes, and from planes of bytes to numbers; here or in a worker.

const STEP = 1 << 20; // signs that are decoded at once, a multiple of 4: whole, a large block would take its size again

/** The bytes of a base64 text. @type {(text: string) => Uint8Array<ArrayBuffer>} */
export const decoded = (text) => {
  const quick = /** @type {any} */ (Uint8Array).fromBase64; // not in every browser yet
  if (quick) return quick(text);
  const signs = atob(text);
  const bytes = new Uint8Array(signs.length);
  for (let at = 0; at < signs.length; at++) bytes[at] = signs.charCodeAt(at);
  return bytes;
};

/** What a block's text holds, as a response: its JSON, its text or its bytes. @type {(text: string) => Response} */
export const opened = (text) =>
  new Response(new Blob([decoded(text)]).stream().pipeThrough(new DecompressionStream("deflate-raw")));

/** The bytes that a block's text holds. @type {(text: string) => Promise<Uint8Array<ArrayBuffer>>} */
export const unpacked = async (text) => new Uint8Array(await opened(text).arrayBuffer());

/**
 * The same of so many bytes, piece by piece, in little more memory than they take.
 * @type {(text: string, length: number) => Promise<Uint8Array<ArrayBuffer>>}
 */
const inflated = async (text, length) => {
  const { writable, readable } = new DecompressionStream("deflate-raw");
  const bytes = new Uint8Array(length);
  const write = async () => {
    const writer = writable.getWriter();
    for (let from = 0; from < text.length; from += STEP) await writer.write(decoded(text.slice(from, from + STEP)));
    await writer.close();
  };
  const read = async () => {
    let at = 0;
    for (const reader = readable.getReader(); ; ) {
      const { done, value } = await reader.read();
      if (!done && at + value.length <= length) bytes.set(value, at);
      else if (!done || at < length) throw new Error(`a block must have ${length} bytes, got ${done ? "fewer" : "more"}; the file is damaged`);
      if (done) return;
      at += value.length;
    }
  };
  await Promise.all([write(), read()]);
  return bytes;
};

/**
 * Restore numbers of `size` bytes from planes: the lowest bytes of all numbers, then the next ones, and so on; the sign
 * of each is its lowest bit.
 * @type {(planes: Uint8Array, size: number) => Uint8Array<ArrayBuffer>}
 */
export const ofPlanes = (planes, size) => {
  const count = planes.length / size;
  const numbers = size === 4 ? new Uint32Array(count) : new Uint16Array(count);
  const [first, second, third] = [count, 2 * count, 3 * count];
  for (let at = 0; at < count; at++) {
    const low = planes[at] | (planes[first + at] << 8);
    numbers[at] = size === 2
      ? (low >> 1) | (low << 15)
      : ((low | (planes[second + at] << 16) | (planes[third + at] << 24)) >>> 1) | (low << 31);
  }
  return new Uint8Array(numbers.buffer);
};

/** How a layer's numbers lie in its block: the size of one, how many q, k and v are, and how many lse. @typedef {{ size: number, count: number, sums: number }} LayerShape */

/**
 * The numbers of a layer: q, k and v, and lse.
 * @type {(text: string, shape: LayerShape) => Promise<{ numbers: Uint8Array<ArrayBuffer>, lse: Uint8Array<ArrayBuffer> }>}
 */
export const layerOf = async (text, { size, count, sums }) => {
  const split = size * count;
  const planes = await inflated(text, split + 4 * sums);
  if (size === 2) return { numbers: ofPlanes(planes.subarray(0, split), 2), lse: ofPlanes(planes.subarray(split), 4) };
  const bytes = ofPlanes(planes, 4);
  return { numbers: bytes.subarray(0, split), lse: bytes.slice(split, split + 4 * sums) };
};

/** The same as a worker's job. @type {Job} */
export const unpackLayer = async (_, /** @type {{ text: string, shape: LayerShape }} */ { text, shape }) => {
  const { numbers, lse } = await layerOf(text, shape);
  return { numbers, lse, transfer: [numbers.buffer, lse.buffer] };
};
