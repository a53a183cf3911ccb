// The types of each view.

// The matrix view.

interface Cell {
  row: number;
  column: number;
}

/** A line of units beside a matrix. */
interface Axis {
  title: string;
  units: Unit[];
  labels: string[];
  numbers: number[];
  wide: number | null;
  marked: Set<number>;
  pinned: Set<number>;
}

/** The room for labels beside a matrix, in pixels; the height of their letters. */
interface Gutter {
  left: number;
  top: number;
  turned: boolean;
  letters: number;
}

/** The grey column at the right: its distance from the cells and its width, in pixels, and its title. */
interface Grey {
  gap: number;
  width: number;
  title: string;
}

type Cells = import("../matrix/cells.js").Cells;
type ColourMap = import("../matrix/colour_map.js").ColourMap;
type Viewport = import("../matrix/viewport.js").Viewport;
type Ruler = import("../matrix/axes.js").Ruler;
type Plot = import("../matrix/plot.js").Plot;
type Sink = import("../matrix/heavy_columns.js").Sink;
type Scale = import("../matrix/scale_choice.js").Scale;
type Measured = import("../matrix/scale_choice.js").Measured;
type RowParts = import("../matrix/row_parts.js").RowParts;
type Pyramid = import("../matrix/pyramid.js").Pyramid;

/** A part of a table, in cells. */
interface Sides {
  top: number;
  left: number;
  bottom: number;
  right: number;
}

/** A head as a worker computes its tiles from it. */
type TileHead = Pick<Head, "N" | "M" | "D" | "scale" | "mask" | "factors"> & {
  q: KernelNumbers;
  k: KernelNumbers;
  lse: Float32Array;
};

/** A table of cells, the units as [first, last) of their tokens, one after another; the units that aren't shown. */
interface DotTable {
  heads: TileHead[];
  reduce: "mean" | "max";
  rows: Int32Array;
  columns: Int32Array;
  others?: Int32Array | null;
  /** Whether each row is divided by what the shown units take. */
  shares?: boolean;
  /** Whether that has to be summed, since rows don't sum to 1. */
  sums?: boolean;
}

type TokenRange = [first: number, last: number];

/** Computes a head's weights between tokens, row by row: each, or the means of a grid of equal cells. */
interface Weigher {
  weights(head: TileHead, rows: TokenRange, columns: TokenRange): Float32Array;
  grid?(
    head: TileHead, rows: TokenRange, columns: TokenRange, high: number, width: number,
  ): Generator<void, Float32Array>;
}

/** Computes the dots of a part of one table, what columns take of some rows, and what units that aren't shown take. */
interface DotSource {
  received(places: TokenRange[]): Promise<Float32Array>;
  means(sides: Sides, level: number, signal?: AbortSignal): Promise<Float32Array>;
  aside(top: number, bottom: number): Promise<Float32Array>;
}

/** Computes the dots of a tile, until it is told to stop. */
type TileSource = (tile: Tile, signal: AbortSignal) => Promise<Float32Array>;

/** The stored means of a layer: codes (H, R, C), and the largest mean of each head. */
interface StoredMeans {
  side: number;
  shape: [heads: number, rows: number, columns: number];
  codes: Uint16Array;
  most: Float32Array;
}

/**
 * The parts of a matrix that depend on its weights: cells, lines, gutter and ruler are null until these are available.
 */
interface Matrix {
  page: Page;
  viewport: Viewport;
  canvas: HTMLCanvasElement;
  cells: Cells | null;
  parts: RowParts | null;
  grey: Grey | null;
  sinks: Sink[];
  lines: { rows: Axis; columns: Axis } | null;
  at: Cell | null;
  clipped: number[];
  gutter: Gutter | null;
  ruler: Ruler | null;
  point(at: Cell | null, spoken?: boolean): void;
  dotAt(at: Cell): { side: number; mean: number; stored: boolean } | null;
  pin(row: number): void;
  clip(column: number): void;
  zoom(factor: number, x?: number, y?: number): void;
  fit(): void;
  rest(): void;
  resized(): void;
}

/** A layer of a picture: the part [x, y, width, height] of a canvas over cells [top, bottom) × [left, right). */
interface Layer {
  canvas: HTMLCanvasElement;
  part: [x: number, y: number, width: number, height: number];
  top: number;
  left: number;
  bottom: number;
  right: number;
  smooth: boolean;
  hidden: boolean;
}

type SceneLines = { rows: Axis & { at: number | null }; columns: Axis & { at: number | null } };

/** The result of drawing a frame. */
interface Drawn {
  state: "loading" | "slow" | "busy" | "done";
  /** The part of the visible tiles that are finished. */
  share: number;
  level: number;
  colourMap: ColourMap | null;
  coarse: boolean;
  failed: unknown;
}

type Tile = import("../matrix/tiles.js").Tile;

interface Scene {
  viewport: Viewport;
  gutter: Gutter;
  ruler: Ruler;
  colourMap: ColourMap | null;
  layers: Layer[];
  weight: ((row: number, column: number) => number | undefined) | null;
  aside: (Grey & { numbers: Float64Array }) | null;
  lines: SceneLines | null;
}

interface Ink {
  [name: string]: string;
}

// The overview.

interface OneHead {
  layer: number;
  head: number;
}

type Thumbnails = import("../overview/thumbnails.js").Thumbnails;

// The sentence view.

interface Selected {
  side: Side;
  unit: number;
  pinned?: boolean;
}

type TokenSelection = import("../sentence/token_selection.js").TokenSelection;

/** What units receive on average, NaN for those that aren't shown, which take `aside`. */
interface Averages {
  numbers: Float64Array;
  aside: number;
}

/** The numbers that one unit gives to, or receives from, each unit of a side; see TokenSelection.read. */
interface Reading {
  kind: "from" | "to" | "none";
  one: Selected | null;
  side: Side;
  units: Unit[];
  ones: Unit[] | null;
  asked: Unit | null;
  own: number | null;
  kept: Set<number>;
  numbers: Float64Array | null;
  weights: Float64Array | null;
  aside: number;
  end: number;
  sums: boolean;
  whole: boolean;
}

/** What a list of bars reports; see createBarList. */
interface BarEvents {
  pick: (unit: number) => void;
  point: (unit: number | null) => void;
  beside?: (unit: number, title: string) => HTMLElement | null;
}

/** A row of the list of bars: a word or a patch, and its number. `place` stands beside a name that isn't unique. */
interface BarEntry {
  at: number;
  name: Child;
  title: string;
  number: number;
  place?: string;
}

/** A part of the bar of a whole row: its number, as a share of the scale's end its depth; null for what is set aside. */
interface RowPart {
  name: string;
  number: number;
  depth: number | null;
}

/** What is drawn of a text: in one line, as large as fits; in several lines; or in a column that scrolls. */
type TextLayout = { kind: "line" | "lines" | "column"; size: number };

/**
 * A drawn part of a text: the gap between units; a unit with its text; a unit with a label, which has no text, such as
 * a special token; or a whole character that is split over several units, drawn once.
 */
type TextItem =
  | { gap: string }
  | { unit: Unit; text: string }
  | { unit: Unit; label: string }
  | { whole: string; units: Unit[] };

type UnitRange = [first: number, last: number];

/** The style of a unit. */
interface Look {
  fill?: string;
  light?: boolean | null;
  kind?: string;
  label: string;
}

// The compare view.

interface ComparedSide {
  place: Place;
  trace: Trace;
  attention: AttentionMap;
  unit: Unit;
  /** The unit's weights on all keys. */
  row: Float64Array;
  /** What is drawn of them, NaN for keys that aren't: weights, or shares if special tokens are left out. */
  numbers: Float64Array;
  /** The weight on the keys that aren't drawn; 0 for shares. */
  aside: number;
  /** The weights on words as shares of their sum, NaN for special tokens. */
  share: Float64Array;
  shown: number[];
}

type Pair = [first: Unit | null, second: Unit | null, same: boolean];

interface Comparison {
  sides: [ComparedSide, ComparedSide];
  names: [string, string];
  pairs: Pair[];
  same: boolean;
  matched: boolean;
}

/** The weights of some query units on some key units, row by row, and the hidden pairs. */
interface Patch {
  rows: number[];
  columns: number[];
  queries: Unit[];
  keys: Unit[];
  weights: Float64Array;
  /** What is drawn of each row, as in `ComparedSide`. */
  numbers: Float64Array;
  /** For each row the weight on the keys that aren't drawn. */
  aside: Float64Array;
  /** Whether these weights are drawn, in a column of their own. */
  grey: boolean;
  hidden: Uint8Array;
}

/** The words of the vocabulary that are nearest to a vector, the nearest first, with their cosines. */
type NearWords = [text: string, cosine: number][];

/** Two words' vectors before the first layer and after each. */
interface Parting {
  cosines: number[];
  /** Whether they are the same vectors: those of one word of one text. */
  itself: boolean;
}

interface Heatmap {
  element: HTMLCanvasElement;
  width: number;
  patch: Patch;
  pinned: number;
  paint(cell: [row: number, column: number] | null): void;
  cellAt(event: MouseEvent): [row: number, column: number] | null;
}

// The steps view.

type StepsOf = ReturnType<typeof import("../steps/formula.js").stepsOf>;
type Walkthrough = Awaited<ReturnType<typeof import("../steps/walkthrough.js").walked>>;
/** The coordinates of queries and keys, of values, and of the vectors that a layer takes and gives. */
type Space = "match" | "pass" | "input";

/** What is added up after attention: vectors of the model's width. */
interface JoinedParts {
  residual: Float64Array;
  added: Float64Array;
  part: Float64Array;
  sum: Float64Array;
}

/** The parts that the steps are made with. */
interface StepsRoom extends DrawingRoom {
  reading: Record<Space, { at: number; of: number }>;
  walk: Walkthrough;
  ends: { query: number; keys: number; values: number; taken: number };
  sources: SourcesOf | undefined;
  /** The role whose coordinate is taken apart; null while none is. */
  role: Role | null;
  tell(space: Space, value: (at: number) => number): HTMLElement;
  which(space: Space): HTMLElement;
  choose(key: number): void;
  remove(key: number): void;
  takeApart(role: Role | null): void;
  rest(): HTMLElement | null;
}
