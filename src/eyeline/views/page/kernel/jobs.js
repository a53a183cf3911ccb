// The jobs of every page's worker: what takes too long for the main thread.

import { unpackLayer } from "../hosts/unpacking.js";
import { tileJobs } from "../matrix/tile_jobs.js";

const SLICE = 20;

/** A forward pass with readouts, told how far it is. @type {Job} */
const attend = async (kernel, call, { told, breathe }) => {
  const attending = kernel.attending(call);
  try {
    while (!attending.step(SLICE)) {
      told(attending.share);
      await breathe();
    }
    const found = attending.result();
    return { ...found, transfer: Object.values(found).filter(ArrayBuffer.isView).map(({ buffer }) => buffer) };
  } catch (error) {
    attending.end();
    throw error;
  }
};

/** The weights of some queries on some keys: {call, rows, columns}. @type {Job} */
const weights = async (kernel, { call, rows, columns }, { told, breathe }) => {
  const [H, R, C] = [call.H, rows[1] - rows[0], columns[1] - columns[0]];
  const found = new Float32Array(H * R * C);
  const step = Math.max(Math.floor(1e7 / Math.max(H * C * call.D, 1)), 8); // some 10 ms
  for (let top = rows[0]; top < rows[1]; top += step) {
    const bottom = Math.min(top + step, rows[1]);
    const part = kernel.weights(call, [top, bottom], columns);
    for (let head = 0; head < H; head++) {
      const own = part.subarray(head * (bottom - top) * C, (head + 1) * (bottom - top) * C);
      found.set(own, (head * R + top - rows[0]) * C);
    }
    told((bottom - rows[0]) / R);
    await breathe();
  }
  return { weights: found, transfer: [found.buffer] };
};

/** By their names. @type {Jobs} */
export const JOBS = { attend, weights, unpack: unpackLayer, ...tileJobs };
