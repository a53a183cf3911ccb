// Positions by their formulas: sines and cosines, and turning. Positions and coordinates count from 0.
// Sources: Vaswani et al., "Attention Is All You Need" (2017), section 3.5; Su et al., "RoFormer" (2021).

import { attended, dot } from "../toy/attention.js";
import { ordered } from "../toy/example.js";

const BASE = 10000;
const NEAR = 1e-9; // outputs nearer than this are the same: sums in another order differ in their last digits

/** The angle by which pair i of `width` numbers grows from one position to the next. @type {(pair: number, width: number) => number} */
export const speed = (pair, width) => BASE ** ((-2 * pair) / width);

/**
 * The vector of a position: sin(p·ω), cos(p·ω) for each pair of coordinates.
 * @type {(position: number, width: number) => number[]}
 */
export const sinusoid = (position, width) =>
  Array.from({ length: width }, (_, at) => {
    const angle = position * speed(Math.floor(at / 2), width);
    return at % 2 ? Math.cos(angle) : Math.sin(angle);
  });

/**
 * A vector turned for its position: each pair of coordinates by the position times its speed. An odd last one stays.
 * @type {(vector: number[], position: number) => number[]}
 */
export const turned = (vector, position) => {
  const result = [...vector];
  for (let at = 0; at + 1 < vector.length; at += 2) {
    const angle = position * speed(at / 2, vector.length);
    const [x, y] = [vector[at], vector[at + 1]];
    result[at] = x * Math.cos(angle) - y * Math.sin(angle);
    result[at + 1] = x * Math.sin(angle) + y * Math.cos(angle);
  }
  return result;
};

/** A toy whose queries and keys tell their positions. @type {(toy: Toy, scheme: PlacedScheme) => Toy} */
export const placed = (toy, scheme) => {
  /** @type {(vector: number[], position: number) => number[]} */
  const put = (vector, position) => {
    if (scheme === "rotary") return turned(vector, position);
    const added = sinusoid(position, vector.length);
    return vector.map((number, at) => number + added[at]);
  };
  return scheme === "none" ? toy : { ...toy, q: toy.q.map(put), k: toy.k.map(put) };
};

/**
 * The toy's attention in two orders of its words; `order` is the second: the last word first. Rows of `after` are put
 * back into the first order; `same` says of each word whether its output stayed.
 * @param {Toy} toy
 * @param {PlacedScheme} scheme
 */
export const twoOrders = (toy, scheme) => {
  const count = toy.words.length;
  const order = toy.words.map((_, at) => (at + count - 1) % count);
  const shuffled = placed(ordered(toy, order), scheme);
  const [before, second] = [attended(placed(toy, scheme)), attended(shuffled)];
  const after = toy.words.map((_, at) => second.output[order.indexOf(at)]);
  const same = before.output.map((row, at) => row.every((one, e) => Math.abs(one - after[at][e]) < NEAR));
  return { order, words: order.map((at) => toy.words[at]), before, second, after, same };
};

/** The sinusoidal vectors of the first positions, and their cosines. @type {(rows: number, width: number) => PositionVectors} */
export const sinusoids = (rows, width) => {
  const vectors = Array.from({ length: rows }, (_, position) => sinusoid(position, width));
  const cosines = vectors.map((one) => vectors.map((other) => dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other))));
  return { rows, columns: width, width, numbers: vectors.flat(), cosines: cosines.flat() };
};

/**
 * The score of a query and a key that are equal before they are turned, as a share of the largest: the mean of
 * cos(distance · speed) over the pairs.
 * @type {(distance: number, speeds: ArrayLike<number>) => number}
 */
export const turnedScore = (distance, speeds) => {
  let sum = 0;
  for (let pair = 0; pair < speeds.length; pair++) sum += Math.cos(distance * speeds[pair]);
  return sum / speeds.length;
};
