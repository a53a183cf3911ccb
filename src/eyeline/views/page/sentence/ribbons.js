// The shapes of links: ribbons that are wide where a word is seen and end in a point at the word that looks.

/** @typedef {[x: number, y: number]} Point */

const STEPS = 28; // points along a curve
const TIP = 0.7; // pixels, the width of a ribbon's end
const BEND = 9; // pixels, the radius of a route's corners

/** @type {(points: Point[]) => Point[]} The points of a cubic Bézier curve. */
const cubic = ([a, b, c, d]) =>
  Array.from({ length: STEPS + 1 }, (_, step) => {
    const t = step / STEPS;
    const u = 1 - t;
    const [p, q, r, s] = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t];
    return /** @type {Point} */ ([0, 1].map((axis) => p * a[axis] + q * b[axis] + r * c[axis] + s * d[axis]));
  });

/** An arc over a line, as high as `height`. @type {(from: Point, to: Point, height: number) => Point[]} */
export const arc = (from, to, height) => {
  const top = Math.min(from[1], to[1]) - (4 / 3) * height;
  return cubic([from, [from[0] + 0.08 * (to[0] - from[0]), top], [to[0] - 0.08 * (to[0] - from[0]), top], to]);
};

/** A curve down or up to another line. @type {(from: Point, to: Point) => Point[]} */
export const crossing = (from, to) => {
  const middle = (from[1] + to[1]) / 2;
  return cubic([from, [from[0], middle], [to[0], middle], to]);
};

/** A way through corners, which are rounded. @type {(corners: Point[]) => Point[]} */
export const route = (corners) => {
  /** @type {Point[]} */
  const points = [corners[0]];
  for (let at = 1; at < corners.length - 1; at++) {
    const here = corners[at];
    /** @type {(other: Point) => Point} A point beside the corner, on the way to another one. */
    const beside = (other) => {
      const away = Math.hypot(other[0] - here[0], other[1] - here[1]) || 1;
      const share = Math.min(BEND, away / 2) / away;
      return [here[0] + share * (other[0] - here[0]), here[1] + share * (other[1] - here[1])];
    };
    const [before, after] = [beside(corners[at - 1]), beside(corners[at + 1])];
    points.push(...cubic([before, here, here, after]).filter((_, step) => step % 4 === 0));
  }
  return [...points, corners[corners.length - 1]];
};

/**
 * The outline of a ribbon along points: as wide as `width` at the first, a point at the last.
 * @type {(points: Point[], width: number) => string}
 */
export const ribbon = (points, width) => {
  const lengths = [0];
  for (let at = 1; at < points.length; at++) {
    const [[x, y], [a, b]] = [points[at - 1], points[at]];
    lengths.push(lengths[at - 1] + Math.hypot(a - x, b - y));
  }
  const whole = lengths[lengths.length - 1] || 1;
  /** @type {string[][]} */
  const sides = [[], []];
  points.forEach(([x, y], at) => {
    const [before, after] = [points[Math.max(at - 1, 0)], points[Math.min(at + 1, points.length - 1)]];
    const [dx, dy] = [after[0] - before[0], after[1] - before[1]];
    const length = Math.hypot(dx, dy) || 1;
    const half = Math.max(width * (1 - lengths[at] / whole), Math.min(TIP, width)) / 2;
    sides.forEach((side, number) => {
      const sign = number ? -half : half;
      side.push(`${(x - (sign * dy) / length).toFixed(1)} ${(y + (sign * dx) / length).toFixed(1)}`);
    });
  });
  return `M${[...sides[0], ...sides[1].reverse()].join("L")}Z`;
};
