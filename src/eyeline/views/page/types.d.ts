// The types that the page's modules share. They are global: modules name them in JSDoc, and nothing of this is shipped.
// docs/page-format.md says what each key of a header, a request and a reply means.

// What a host tells the page, and answers.

type MaskKind = "all" | "causal" | "bounds" | "bits";

interface LineEntry {
  text: string;
  ids: number[];
  pieces: string[];
  starts: number[];
  ends: number[];
  words: [first: number, last: number, start: number, end: number][];
  aside: number[];
  prompt: number | null;
}

interface TraceEntry {
  name: string;
  model: {
    name: string; layers: number; heads: number; key_heads: number; head_dim: number; value_dim: number;
  };
  kind: "encoder" | "decoder" | "cross";
  queries: LineEntry;
  keys: LineEntry | null;
  values: boolean;
  layers: { scale: number; mask: { kind: MaskKind } }[];
  entropy: number[][];
  distance: number[][] | null;
  aside: number[][];
  picture: [rows: number, columns: number] | null;
}

interface Header {
  schema: string;
  version: string;
  title: string;
  can: {
    run: boolean;
    picture: boolean;
    models: string[];
    fetch?: Record<string, number>;
    files?: { name: string; kind: "text" | "trace" }[];
  };
  state: Partial<State>;
  traces: TraceEntry[];
}

interface PictureRequest {
  trace: number;
  layer: number;
  head: number;
  queries: [first: number, last: number];
  keys: [first: number, last: number];
  rows: number;
  columns: number;
}

type HostRequest =
  | { kind: "head"; trace: number; layer: number; head: number }
  | { kind: "overview"; trace: number }
  | ({ kind: "picture" } & PictureRequest);

/** An error as a host reports it. */
interface Refusal {
  argument: string | null;
  message: string;
}

interface HeadShape {
  N: number;
  M: number;
  D: number;
  E: number;
}

/** A reply to any request: a head's has all of it, an overview's and a picture's a shape of numbers. */
interface Reply {
  id: number;
  error?: Refusal;
  shape: HeadShape | number[];
  dtype: "float32" | "float16";
  arrays: string[];
  mask_shape?: number[];
}

type Bytes = ArrayBuffer | ArrayBufferView<ArrayBuffer>;

interface RunReport {
  layers: [done: number, count: number];
  line: string;
  seconds: number;
}

/** What a host takes to run a text or to open a file. */
interface RunRequest {
  text?: string;
  file?: number;
  model: string;
  mask: "causal" | null;
  scale: number | null;
}

/** The model object of a host: anywidget's in a notebook, and the same over a file or a server. */
interface HostModel {
  get(name: "header"): Header;
  get(name: "address"): boolean | undefined;
  get(name: "words"): string | undefined;
  on(event: "msg:custom", listener: (reply: Reply, buffers?: Bytes[]) => void): void;
  send(request: HostRequest & { id: number }): void;
  set?(name: "words", value: string): void;
  save_changes?(): void;
  /** Only a host that runs texts has these. */
  createPrompt?(page: Page): PagePart;
  run?(request: RunRequest, told: (report: RunReport) => void): Promise<{ trace: number; header: Header } | null>;
  cancel?(job?: number): Promise<void>;
}

// The state.

type ViewName = "sentence" | "overview" | "matrix" | "steps" | "compare";
type UnitKind = "words" | "pieces";
type Side = "queries" | "keys";
type Language = "en" | "vi";
type Theme = "light" | "dark";
type ScaleKind = "linear" | "log" | "rank";
type Order = "place" | "entropy" | "distance" | "aside";
type HeadChoice = number | "mean" | "max";
type Place = [trace: number, layer: number, head: HeadChoice];
type Box = [top: number, left: number, bottom: number, right: number];

interface State {
  view: ViewName;
  trace: number;
  layer: number;
  head: HeadChoice;
  unit: UnitKind;
  special: boolean;
  token: number | null;
  toward: "from" | "to";
  threshold: number;
  order: Order;
  scale: ScaleKind;
  clipped: number[];
  box: Box | null;
  ahead: boolean;
  scaled: boolean;
  removed: number[];
  key: number | null;
  coordinate: number | null;
  passed: number | null;
  other: Place | null;
  partner: number | null;
  language: Language | null;
  theme: Theme | null;
}

// Texts, weights.

interface Token {
  index: number;
  id: number;
  piece: string;
  special: boolean;
  start: number;
  end: number;
  text: string;
}

/** What one label stands for: a word or a piece of one, or a special token; tokens [first, last), text [start, end). */
interface Unit {
  index: number;
  first: number;
  last: number;
  start: number;
  end: number;
  text: string;
  special: boolean;
  aside: boolean;
  before: boolean;
  after: boolean;
}

interface HeadMask {
  kind: MaskKind;
  shape?: number[];
  values?: Int32Array | Uint8Array;
}

interface HeadArrays extends HeadShape {
  q: Float32Array;
  k: Float32Array;
  v: Float32Array | null;
  lse: Float32Array;
  scale: number;
  mask: HeadMask;
}

/** The small pictures of all heads of a trace. */
interface Pictures {
  shape: number[];
  bytes: Uint8Array;
  most: Float32Array;
}

type Numbers = ArrayLike<number> & Iterable<number>;

// Parts of the page.

interface PagePart {
  element: HTMLElement;
  update(): void;
}

type Datum = string | number | boolean | null | undefined;

interface Table {
  name: string;
  columns: string[];
  rows: Datum[][];
}

interface View {
  element: HTMLElement;
  update(): void | Promise<void>;
  numbers(): Table;
  picture(): string;
  destroy(): void;
}

/** What may stand in an element: nodes, texts, numbers, nothing, and lists of all that. */
type Child = Node | string | number | boolean | null | undefined | Child[];
type Attributes = {
  on?: Record<string, (event: any) => void>;
  style?: Record<string, string | number | null | undefined>;
  [name: string]: unknown;
};
type Values = Record<string, string | number>;

type RGB = [red: number, green: number, blue: number];

/** What drawing needs. */
interface DrawingRoom {
  page: Page;
  canvases: import("./drawing/canvases.js").Canvases;
  colour: (name: string) => string;
}

type Draw = (context: CanvasRenderingContext2D, width: number, height: number, dots: number) => void;

type Page = import("./page.js").Page;
type Trace = import("./weights/traces.js").Trace;
type TokenizedText = import("./weights/traces.js").TokenizedText;
type Head = import("./weights/head.js").Head;
type AttentionMap = import("./weights/attention_map.js").AttentionMap;

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

interface Gutter {
  left: number;
  top: number;
  turned: boolean;
}

type Cells = import("./matrix/cells.js").Cells;
type ColourMap = import("./matrix/colour_map.js").ColourMap;
type Viewport = import("./matrix/viewport.js").Viewport;
type Ruler = import("./matrix/axes.js").Ruler;

/** What is known once weights are there: cells, lines, gutter and ruler are null until then. */
interface Matrix {
  page: Page;
  viewport: Viewport;
  canvas: HTMLCanvasElement;
  cells: Cells | null;
  lines: { rows: Axis; columns: Axis } | null;
  at: Cell | null;
  clipped: number[];
  gutter: Gutter | null;
  ruler: Ruler | null;
  point(at: Cell | null, spoken?: boolean): void;
  pin(row: number): void;
  clip(column: number): void;
  zoom(factor: number, x?: number, y?: number): void;
  fit(): void;
  rest(): void;
  resized(): void;
}

/** A picture under others: the part [x, y, width, height] of a canvas over cells [top, bottom) × [left, right). */
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

interface Scene {
  viewport: Viewport;
  gutter: { left: number; top: number; turned?: boolean };
  ruler: Ruler | null;
  colourMap: ColourMap | null;
  layers: Layer[];
  weight: ((row: number, column: number) => number | undefined) | null;
  lines: { rows: Axis & { at: number | null }; columns: Axis & { at: number | null } } | null;
}

interface Ink {
  [name: string]: string;
}

// The sentence view.

interface Selected {
  side: Side;
  unit: number;
  pinned?: boolean;
}

/** What one unit gives to, or gets of, each unit of a side. */
interface Reading {
  kind: "from" | "to" | "none";
  one: Selected | null;
  side: Side;
  units: Unit[];
  ones: Unit[] | null;
  asked: Unit | null;
  own: number | null;
  kept: Set<number>;
  shares: Float64Array | null;
  weights: Float64Array | null;
  aside: number;
  whole: boolean;
}

/** What of a reading is drawn. */
interface DrawnReading extends Reading {
  pointed: number | null;
  hidden: boolean;
  generated: boolean;
  long: boolean;
  joined: boolean;
}

type Range = [first: number, last: number];

// The compare view.

interface ComparedSide {
  place: Place;
  trace: Trace;
  attention: AttentionMap;
  unit: Unit;
  row: Float64Array;
  share: Float64Array;
  shown: number[];
  kept: number;
}

type Pair = [first: Unit | null, second: Unit | null, same: boolean];

interface Comparison {
  sides: [ComparedSide, ComparedSide];
  pairs: Pair[];
  same: boolean;
  matched: boolean;
}

/** The weights of some query units on some key units, row by row, and where one may not look. */
interface Patch {
  rows: number[];
  columns: number[];
  queries: Unit[];
  keys: Unit[];
  weights: Float64Array;
  hidden: Uint8Array;
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

type StepsOf = ReturnType<typeof import("./steps/formula.js").stepsOf>;
type Walkthrough = Awaited<ReturnType<typeof import("./steps/walkthrough.js").walked>>;
type Space = "match" | "pass";

/** What the steps are made with. */
interface StepsRoom extends DrawingRoom {
  reading: Record<Space, { at: number; of: number }>;
  walk: Walkthrough;
  ends: { query: number; keys: number; values: number; taken: number };
  tell(space: Space, value: (at: number) => number): HTMLElement;
  which(space: Space): HTMLElement;
  choose(key: number): void;
  remove(key: number): void;
  rest(): HTMLElement | null;
}
