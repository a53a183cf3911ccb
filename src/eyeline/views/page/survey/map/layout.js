// Where each head's cell is: by its place, or by the measure, within each layer or over all.

const SIDE = 34; // pixels of the layers' names
const TOP = 18; // pixels of the heads' names
const HIGH = 520; // pixels of all rows, where there is room
const CELL = { least: [13, 12], most: [104, 58] }; // pixels of a cell: width, height
const APART = 16; // pixels of a cell from which cells are 2 pixels apart

/** The heads in the order asked for: those without a number last. @type {(order: MapOrder, values: Float64Array, heads: number) => number[]} */
export const ordered = (order, values, heads) => {
  const all = Array.from(values, (_, at) => at);
  if (order === "place") return all;
  /** @type {(at: number) => number} */
  const size = (at) => (Number.isNaN(values[at]) ? -Infinity : values[at]);
  /** @type {(one: number, other: number) => number} */
  const largest = (one, other) => size(other) - size(one) || one - other;
  if (order === "all") return all.sort(largest);
  return Array.from({ length: values.length / heads }, (_, layer) =>
    all.slice(layer * heads, (layer + 1) * heads).sort(largest)).flat();
};

/**
 * The cells in so many pixels, with `side` pixels at the end of each row for what a layer has altogether.
 * @type {(order: MapOrder, values: Float64Array, heads: number, room: number, side: number) => MapLayout}
 */
export const layoutOf = (order, values, heads, room, side) => {
  const [across, down] = [heads, values.length / heads];
  const rows = order !== "all";
  const left = rows ? SIDE : 0;
  const beside = rows ? side : 0;
  const [least, most] = [CELL.least, CELL.most];
  const width = Math.min(Math.max(Math.floor((room - left - beside) / across), least[0]), most[0]);
  const height = Math.min(Math.max(Math.floor(HIGH / down), least[1]), most[1], Math.max(width, 22));
  const top = order === "place" ? TOP : 0;
  return {
    heads: ordered(order, values, heads), across, down, rows, columns: order === "place", left, top, width, height,
    gap: Math.min(width, height) >= APART ? 2 : 1, side: beside,
    whole: [left + across * width + beside, top + down * height],
  };
};

/** The corner of the cell with a number. @type {(layout: MapLayout, cell: number) => [x: number, y: number]} */
export const cornerOf = ({ across, left, top, width, height }, cell) => [
  left + (cell % across) * width, top + Math.floor(cell / across) * height,
];

/** The number of the cell at a point; null beside all. @type {(layout: MapLayout, x: number, y: number) => number | null} */
export const cellAt = ({ across, down, left, top, width, height }, x, y) => {
  const [column, row] = [Math.floor((x - left) / width), Math.floor((y - top) / height)];
  return column >= 0 && column < across && row >= 0 && row < down ? row * across + column : null;
};

/** The cell that a key leads to; null for other keys, and beyond the edges. @type {(layout: MapLayout, cell: number, key: string) => number | null} */
export const stepFrom = ({ across, heads }, cell, key) => {
  const start = cell - (cell % across);
  /** @type {Record<string, number>} */
  const places = {
    ArrowLeft: cell - 1, ArrowRight: cell + 1, ArrowUp: cell - across, ArrowDown: cell + across,
    Home: start, End: start + across - 1, PageUp: cell % across, PageDown: heads.length - across + (cell % across),
  };
  if (!Object.hasOwn(places, key)) return null;
  return places[key] >= 0 && places[key] < heads.length ? places[key] : cell;
};
