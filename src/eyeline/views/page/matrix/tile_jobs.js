// The jobs of a worker that computes the tiles of matrices.

import { Dots } from "./dots.js";

const AWAY = 20; // milliseconds between two looks at what else there is to do

/** @typedef {{ heads: Map<number, TileHead>, tables: Map<number, Dots> }} Known */

/** What each kernel's jobs were told: heads and tables, by their numbers. @type {WeakMap<Kernel, Known>} */
const told = new WeakMap();

/** @type {(kernel: Kernel) => Known} */
const knownTo = (kernel) => {
  const known = told.get(kernel) ?? { heads: new Map(), tables: new Map() };
  told.set(kernel, known);
  return known;
};

/** What computes heads' weights by a kernel. @type {(kernel: Kernel) => Weigher} */
export const weigherOf = (kernel) => ({
  weights(head, rows, columns) {
    const weights = kernel.weights(callOf(head), rows, columns);
    const { factors, M } = head;
    if (!factors) return weights;
    for (let row = rows[0], at = 0; row < rows[1]; row++) {
      for (let column = columns[0]; column < columns[1]; column++, at++) weights[at] *= factors[row * M + column];
    }
    return weights;
  },
  *grid(head, rows, columns, high, width) {
    const ask = { grid: { rows: high, columns: width, mean: true } };
    const attending = kernel.attending({ ...callOf(head), ask }, rows, columns);
    let done = false;
    try {
      while (!attending.step(AWAY)) yield;
      done = true;
    } finally {
      if (!done) attending.end();
    }
    return /** @type {Float32Array} */ (attending.result().gridMean);
  },
});

/** @type {(head: TileHead) => AttendCall & { lse: Float32Array }} */
const callOf = ({ q, k, lse, N, M, D, scale, mask }) => ({ H: 1, G: 1, N, M, D, E: 0, q, k, scale, mask, lse });

/**
 * Run steps to their end, with a look at what else there is to do now and then.
 * @template T
 * @param {Generator<void, T>} steps
 * @param {Turn} turn
 */
const inTurns = async (steps, turn) => {
  try {
    for (let since = performance.now(); ; ) {
      const { done, value } = steps.next();
      if (done) return value;
      if (performance.now() - since < AWAY) continue;
      await turn.breathe();
      since = performance.now();
    }
  } finally {
    steps.return(/** @type {any} */ (undefined)); // nobody wants it any more: what it took is given back
  }
};

/** @type {(kernel: Kernel, number: number) => Dots} */
const tableOf = (kernel, number) => {
  const table = knownTo(kernel).tables.get(number);
  if (!table) throw new Error(`table must be one that was told, got ${number}`);
  return table;
};

/** Numbers in the kernel's memory, (tokens, width). @type {(kernel: Kernel, numbers: KernelNumbers, tokens: number) => KernelNumbers} */
const placed = (kernel, numbers, tokens) => {
  if (!ArrayBuffer.isView(numbers)) return numbers;
  const { byteLength } = numbers;
  const at = kernel.take(byteLength);
  kernel.memory.copy(numbers, at);
  return { at, strides: [byteLength, byteLength / tokens], half: numbers instanceof Uint16Array };
};

/** Learn a head. @type {(kernel: Kernel, request: { number: number, head: TileHead }) => Promise<object>} */
const learnHead = async (kernel, { number, head }) => {
  const [q, k] = [placed(kernel, head.q, head.N), placed(kernel, head.k, head.M)];
  knownTo(kernel).heads.set(number, { ...head, q, k });
  return {};
};

/**
 * Learn a table of heads' weights.
 * @type {(kernel: Kernel, request: { number: number, heads: number[], table: Omit<DotTable, "heads"> }) => Promise<object>}
 */
const learnTable = async (kernel, { number, heads, table }) => {
  const known = knownTo(kernel);
  const found = heads.map((one) => /** @type {TileHead} */ (known.heads.get(one)));
  known.tables.set(number, new Dots(weigherOf(kernel), { ...table, heads: found }));
  return {};
};

/** Forget heads and tables. @type {(kernel: Kernel, request: { heads: number[], tables: number[] }) => Promise<object>} */
const forget = async (kernel, { heads, tables }) => {
  const known = knownTo(kernel);
  for (const number of heads) {
    const head = known.heads.get(number);
    for (const numbers of head ? [head.q, head.k] : []) {
      if (!ArrayBuffer.isView(numbers)) kernel.give(numbers.at);
    }
    known.heads.delete(number);
  }
  for (const number of tables) known.tables.delete(number);
  return {};
};

/**
 * The means of a tile's dots.
 * @type {(kernel: Kernel, request: { table: number, sides: Sides, level: number }, turn: Turn) => Promise<object>}
 */
const tile = async (kernel, { table, sides, level }, turn) => {
  const means = await inTurns(tableOf(kernel, table).means(sides, level), turn);
  return { means, transfer: [means.buffer] };
};

/**
 * What units that aren't shown take of rows.
 * @type {(kernel: Kernel, request: { table: number, top: number, bottom: number }, turn: Turn) => Promise<object>}
 */
const aside = async (kernel, { table, top, bottom }, turn) => {
  const found = await inTurns(tableOf(kernel, table).aside(top, bottom), turn);
  return { aside: found, transfer: [found.buffer] };
};

/**
 * What columns take of some rows.
 * @type {(kernel: Kernel, request: { table: number, places: TokenRange[] }, turn: Turn) => Promise<object>}
 */
const received = async (kernel, { table, places }, turn) => {
  const means = await inTurns(tableOf(kernel, table).received(places), turn);
  return { means, transfer: [means.buffer] };
};

/** @type {Jobs} */
export const tileJobs = {
  "matrix.head": learnHead, "matrix.table": learnTable, "matrix.forget": forget, "matrix.tile": tile,
  "matrix.aside": aside, "matrix.received": received,
};
