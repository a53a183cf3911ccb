// The types of the page's state, of texts and weights, and of its shared parts.

// The state.

type ViewName = "sentence" | "steps" | "matrix" | "overview" | "compare" | "toy" | "positions" | "cost";
type SpecialTokens = "grey" | "shown" | "out";
type UnitKind = "words" | "pieces";
type Side = "queries" | "keys";
type Language = string; // a code of LANGUAGES, such as "vi"
type Theme = "light" | "dark";
type ScaleKind = "linear" | "log" | "rank";
type ScaleChoice = "auto" | ScaleKind;
type Order = "place" | "entropy" | "distance" | "aside" | "pair";
type HeadChoice = number | "mean" | "max";
type Place = [trace: number, layer: number, head: HeadChoice];
/** A place as a view shows it: null for all layers, or for all heads of a layer. */
type ShownPlace = [trace: number, layer: number | null, head: HeadChoice | null];
type Box = [top: number, left: number, bottom: number, right: number];

interface State {
  view: ViewName;
  trace: number;
  layer: number;
  head: HeadChoice;
  unit: UnitKind;
  special: SpecialTokens;
  token: number | null;
  toward: "from" | "to";
  links: 5 | "all";
  order: Order;
  kind: KindName | null;
  colour: "looks" | "matters";
  thumbnails: "own" | "shared";
  scale: ScaleChoice;
  clipped: number[] | null;
  box: Box | null;
  ahead: boolean;
  padded: number;
  scaled: boolean;
  step: number | null;
  removed: number[];
  edits: string[];
  key: number | null;
  coordinate: number | null;
  passed: number | null;
  other: Place | null;
  partner: number | null;
  toy: string | null;
  n: number | null;
  scheme: PositionScheme | null;
  placed: PlacedScheme;
  shuffled: boolean;
  position: number;
  against: number;
  stop: number | null;
  done: number[];
  own: number[];
  language: Language | null;
  theme: Theme | null;
}

/** The settings that change a run, where they aren't as trained. */
type Changes = Partial<Pick<State, "ahead" | "padded" | "scaled" | "removed">>;
type MaskName = "none" | "causal" | "own";

/** What a picture or a table is of. */
interface Provenance {
  version: string;
  /** None where no text is shown; two where places, or surveys, are compared. */
  places: {
    text: string; keys?: string; trace?: string; model: string;
    layer: number | null; head: HeadChoice | null; mask: MaskName | null;
  }[];
  changes: Changes;
  /** "weight", "share of the words", or a measure of a survey. */
  quantity: string | null;
  unit: UnitKind | null;
  /** Null where nothing is set aside. */
  special: SpecialTokens | null;
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

/** A word, a piece of a word, or a special token, with one label; tokens [first, last), text [start, end). */
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

/** Numbers in float32, or float16's bits. */
type Stored = Float32Array | Uint16Array;

interface HeadArrays extends HeadShape {
  q: Stored;
  k: Stored;
  v: Stored | null;
  lse: Float32Array;
  scale: number;
  mask: HeadMask;
  /** What each weight is multiplied by after the softmax, (N, M). */
  factors?: Float32Array | null;
  /** All weights, (N, M), where the host gave them. */
  weights?: Float32Array;
}

type Role = "query" | "key" | "value";

/** How a role's vector is made: W·x + b, W (rows, width); then normed, with these weights. */
interface Projection {
  letter: string;
  W: Float32Array;
  b: Float32Array | null;
  norm: Float32Array | null;
  rows: number;
}

type Projections = import("../weights/projections.js").Projections;

/** What is changed: whether tokens may look ahead, how many last tokens are padding, scaling, which keys are out. */
interface HeadChanges {
  ahead: boolean;
  padded: number;
  scaled: boolean;
  removed: number[];
}

/** The thumbnails of all heads of a trace. */
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
  /** The place that the numbers are of, if it isn't the state's. */
  place?: Place;
  columns: string[];
  rows: Datum[][];
}

/** What the parts of the frame need of a page, of texts or of a survey. */
interface Framed {
  id: string;
  model: { get(name: "address"): boolean | undefined };
  state: Readonly<Record<string, any>>;
  words: string;
  language: Language;
  narrow: MediaQueryList;
  set(settings: Record<string, any>): void;
  read(words: string): Record<string, any>;
  restore(words: string, kept?: Record<string, any>): void | Promise<void>;
  /** Whether the address had to leave out a text, as it is too long. */
  lacking?: boolean;
  /** Whether a change of the state follows what is typed, and is no step of the browser's Back. */
  following?: boolean;
  provenance(places?: ShownPlace[]): Provenance;
  provenanceParts(): string[];
  say(key: string, values?: Values): string;
  reason(error: unknown): string;
  announce(text: string): void;
}

/** What a host has beside the views. */
interface Rooms {
  createEditing?(page: Page, frame: HTMLElement): Editing;
  createMatters?(page: Page, redraw: () => void): Matters;
  createSources?(page: Page): SourcesOf;
  createTyping?(page: Page): Typing;
}

/** An item of a menu: its text, what it means, and what it does. */
interface MenuItem {
  text: string;
  why: string;
  chosen: () => void;
}

/** Makes the block that says where the score of a walkthrough comes from; null where that can't be said. */
type SourcesOf = (walk: Walkthrough) => HTMLElement | null;
type Editing = import("../editing/editing.js").Editing;
type Matters = import("../matters/matters.js").Matters;

interface View {
  element: HTMLElement;
  /** Its own controls, for the frame's bar. */
  controls?: HTMLElement;
  /** The frame's controls that change what it shows. */
  uses: Control[];
  /** One sentence that says what one sees, for the title line. */
  sentence?(): string;
  /** The places that it really shows, if they aren't the state's: none if no text is shown. */
  places?(): ShownPlace[];
  update(): void | Promise<void>;
  numbers(): Table | Promise<Table>;
  picture(): string;
  destroy(): void;
}

/** A control of the frame: a setting that several views share. */
type Control = "trace" | "layer" | "head" | "unit" | "special" | "ahead" | "padded";

/** The content of an element: nodes, texts, numbers, nothing, and lists of these. */
type Child = Node | string | number | boolean | null | undefined | Child[];
type Attributes = {
  on?: Record<string, (event: any) => void>;
  style?: Record<string, string | number | null | undefined>;
  [name: string]: unknown;
};
type Values = Record<string, string | number>;

type RGB = [red: number, green: number, blue: number];
type OkLab = [lightness: number, greenToRed: number, blueToYellow: number];

/** The parts that drawing needs. */
interface DrawingRoom {
  page: Page;
  canvases: import("../drawing/canvases.js").Canvases;
  colour: (name: string) => string;
}

type Draw = (context: CanvasRenderingContext2D, width: number, height: number, dots: number) => void;

type Page = import("../page.js").Page;
/** A language that the letters of a text tell. */
type TextLanguage = "vietnamese" | "japanese" | "korean" | "chinese" | "thai" | "another";
type Trace = import("../weights/traces.js").Trace;
type TokenizedText = import("../weights/traces.js").TokenizedText;
type Head = import("../weights/head.js").Head;
type AttentionMap = import("../weights/attention_map.js").AttentionMap;
