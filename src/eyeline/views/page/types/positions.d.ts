// The types of the positions view.

type PositionScheme = "sinusoidal" | "learned" | "rotary";
type PlacedScheme = "none" | "sinusoidal" | "rotary";

/** Vectors of positions, row by row: some of their `width` coordinates, and the cosines of each two, row by row. */
interface PositionVectors {
  rows: number;
  columns: number;
  width: number;
  numbers: ArrayLike<number>;
  cosines: ArrayLike<number>;
}
