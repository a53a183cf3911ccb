// The framing of a reply and its buffers in one message, as framing.py describes it.

const STEP = 8; // bytes: the alignment of the parts of a reply

/** @type {(length: number) => number} */
const whole = (length) => Math.ceil(length / STEP) * STEP;

/**
 * A reply and its buffers, from a message of framing.py.
 * @type {(bytes: ArrayBuffer) => { reply: Reply, buffers: Bytes[] }}
 */
export const unframed = (bytes) => {
  const length = new DataView(bytes).getUint32(0, true);
  const reply = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  let at = whole(4 + length);
  /** @type {number[]} */
  const lengths = reply.lengths;
  const buffers = lengths.map((size) => {
    const buffer = new DataView(bytes, at, size);
    at += whole(size);
    return buffer;
  });
  return { reply, buffers };
};
