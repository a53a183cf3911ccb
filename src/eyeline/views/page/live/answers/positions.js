// The request "positions": the vectors of a model's first positions; as Python's requests/positions.py.

import { isEncoderDecoder } from "./parameters.js";
import { traceAt, whole } from "./refusal.js";

const MOST = 64; // positions whose vectors are sent
const FEWER = 32; // positions, with "brief"
const COORDINATES = 128; // with "brief"
const DROPPED = 6; // bits of a float16's fraction, with "brief"

/**
 * How a part of a model tells positions apart; null where it isn't said.
 * @type {(model: LiveModel, kind: TraceEntry["kind"]) => PositionScheme | null}
 */
export const schemeOf = (model, kind) => {
  if (!isEncoderDecoder(model)) return "learned";
  return kind === "encoder" ? "sinusoidal" : null;
};

/** @type {(kernel: Kernel, traces: (LiveTrace | null)[], request: Record<string, any>) => LiveAnswer} */
export const answerPositions = (_, traces, request) => {
  const { entry, model } = traceAt(traces, request);
  if (!entry.positions) return { reply: { positions: null }, buffers: [] };
  const brief = "brief" in request && whole(request, "brief", 0, 1) === 1;
  const { width } = model.config;
  const P = Math.min(model.placing.length / width, brief ? FEWER : MOST);
  const C = brief ? Math.min(width, COORDINATES) : width;
  const vectors = model.placing.subarray(0, P * width);
  const shown = Float32Array.from({ length: P * C }, (__, at) => vectors[Math.floor(at / C) * width + (at % C)]);
  /** @type {(numbers: Float32Array) => Uint16Array<ArrayBuffer>} */
  const sent = (numbers) => {
    const halves = Uint16Array.from(numbers, halfOf);
    return brief ? halves.map((bits) => ((bits + (1 << (DROPPED - 1))) >> DROPPED) << DROPPED) : halves;
  };
  return {
    reply: { positions: entry.positions, shape: [P, C], width, dtype: "float16", arrays: ["positions", "cosines"] },
    buffers: [sent(shown).buffer, sent(cosinesOf(vectors, P)).buffer],
  };
};

/** The cosine of each two of P vectors without their mean. (P, P) @type {(vectors: Float32Array, P: number) => Float32Array} */
const cosinesOf = (vectors, P) => {
  const width = vectors.length / P;
  const mean = new Float64Array(width);
  vectors.forEach((number, at) => (mean[at % width] += number / P));
  const directions = Float64Array.from(vectors, (number, at) => number - mean[at % width]);
  for (let p = 0; p < P; p++) {
    const own = directions.subarray(p * width, (p + 1) * width);
    const length = Math.hypot(...own) || 1;
    own.forEach((number, at) => (own[at] = number / length));
  }
  return Float32Array.from({ length: P * P }, (_, at) => {
    const [a, b] = [Math.floor(at / P) * width, (at % P) * width];
    let sum = 0;
    for (let c = 0; c < width; c++) sum += directions[a + c] * directions[b + c];
    return sum;
  });
};

/** The bits of a number as float16, rounded to the nearest, of two to the even one. @type {(number: number) => number} */
const halfOf = (number) => {
  const sign = number < 0 || Object.is(number, -0) ? 0x8000 : 0;
  const size = Math.abs(number);
  if (!(size < 65520)) return sign | (Number.isNaN(number) ? 0x7e00 : 0x7c00);
  // Below 2^-14 all numbers are 2^-24 apart; from there on, 1024 from each power of two to the next.
  const exponent = Math.max(Math.floor(Math.log2(size || 2 ** -24)), -14);
  const steps = size / 2 ** (exponent - 10);
  const near = Math.floor(steps);
  const over = steps - near;
  const rounded = near + Number(over > 0.5 || (over === 0.5 && near % 2 === 1));
  return sign | (rounded + (exponent + 14) * 1024); // 1024 of the steps are the exponent's own bit
};
