// The types that the page's modules share. They are global: modules name them in JSDoc. This file isn't shipped.
// docs/page-format.md describes each key of a header, a request and a reply.

// The messages of a host to the page.

type MaskKind = "all" | "causal" | "bounds" | "bits";

interface LineEntry {
  text: string;
  ids: number[];
  pieces: string[];
  starts: number[];
  ends: number[];
  words: [first: number, last: number, start: number, end: number][];
  aside: number[];
  unknown: number[];
  prompt: number | null;
}

/** The patches of an image: tokens [first, first + rows · columns), row by row. */
interface ImageEntry {
  rows: number;
  columns: number;
  first: number;
}
type KindName =
  | "previous" | "next" | "same" | "punctuation" | "separator" | "sink" | "broad" | "induction" | "mixed";

/** The labels of a head, the first the most telling, with the value of each one's measure: none for "mixed". */
type HeadKinds = Partial<Record<KindName, number | null>>;

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
  /** For each layer, for each head, its labels. */
  kinds: HeadKinds[][] | null;
  picture: [rows: number, columns: number] | null;
  /** The side in tokens of the squares whose means the file has; null or missing for none. */
  pyramid?: number | null;
  projections: "all" | [layer: number, head: number][] | null;
  /** Whether the products of its tokens' vectors can be asked for. */
  vectors: boolean;
  /** How its model tells positions apart; null if that isn't known. */
  positions?: PositionScheme | null;
  image?: ImageEntry | null;
  /** What was changed in its run, in words. */
  edits?: string[];
}

/** The weight at which the page opens: the sharpest of one word on another; docs/page-format.md says which. */
interface Opening {
  layer: number;
  head: number;
  token: number;
  key: number;
  weight: number;
  why: "far" | "near" | "across" | "plain";
}

/** What `eyeline bench growth` measured on the machine that made the page. */
interface MeasuredGrowth {
  machine: string;
  threads: number;
  versions: Record<string, string>;
  date: string;
  heads: number;
  head_dim: number;
  attention: { name: string; points: [tokens: number, seconds: number][] };
  recurrent: { name: string; points: [tokens: number, seconds: number][] };
}

interface Header {
  schema: string;
  version: string;
  title: string;
  can: {
    run: boolean;
    picture: boolean;
    /** Whether texts are run in the page itself, while they are typed. */
    live?: boolean;
    models: string[];
    /** The models with which texts can be run again, with edits. */
    edit?: string[];
    fetch?: Record<string, number>;
    files?: { name: string; kind: "text" | "trace" }[];
  };
  state: Partial<State>;
  lesson: LessonTraces | null;
  opening: Opening | null;
  growth?: MeasuredGrowth | null;
  /** The effects that the host has already: the trace and the measured token of each. */
  effects?: [trace: number, token: number | null][];
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

/** A rectangle of a head's weights. */
interface WeightsRequest {
  trace: number;
  layer: number;
  head: number;
  queries: [first: number, last: number];
  keys: [first: number, last: number];
}

/** A request that a file answers from a block, if it holds the reply. */
interface PlacedRequest {
  kind: "pyramid" | "products" | "nearest" | "projections" | "image" | "positions" | "lesson" | "effects";
  trace?: number;
  other?: number;
  layer?: number;
  head?: number;
  token?: number;
  last?: number;
  /** Of effects: end their computation. */
  stop?: boolean;
}

type HostRequest =
  | { kind: "head"; trace: number; layer: number; head: number }
  | { kind: "overview"; trace: number }
  | ({ kind: "picture" } & PictureRequest)
  | ({ kind: "weights" } & WeightsRequest)
  | { kind: "edited"; trace: number; edits: string[]; known: number }
  | { kind: "changes"; trace: number; other: number; token?: number; last?: number }
  | { kind: "next"; sides: { trace: number; written: number[] }[] }
  | { kind: "sources"; trace: number; layer: number; head: number; query: number; key: number }
  | PlacedRequest;

/** An error as a host reports it. */
interface Refusal {
  argument: string | null;
  /** A sentence; or the key of a text of the page's, with what is filled in. */
  message: string;
  values?: Values;
}

interface HeadShape {
  N: number;
  M: number;
  D: number;
  E: number;
}

/** A reply to any request: for a head all keys, for an overview and a picture a shape of numbers. */
interface Reply {
  positions?: PositionScheme | null;
  id: number;
  error?: Refusal;
  shape: HeadShape | number[];
  dtype: "float32" | "float16";
  arrays: string[];
  mask_shape?: number[];
  /** For each layer the nearest words, the nearest first, and their cosines. */
  words?: [text: string, cosine: number][][];
  /** Of an image: its media type, and its size in pixels. */
  media?: string;
  width?: number;
  height?: number;
  /** Of "edited": the run's number, and the entries of all traces that the page doesn't know. */
  made?: number;
  entries?: TraceEntry[];
  /** Of "changes": the heads' rows that moved most, how many heads moved, and the turn of each token's vector. */
  looks?: [layer: number, head: number, query: number, moved: number][];
  turned?: number;
  rows?: [first: number, last: number];
  vectors?: number[] | null;
  /** Of "next". */
  sides?: { words: [id: number, text: string, probability: number][]; ended: boolean }[];
  /** Of "effects". */
  over?: boolean;
  done?: number;
  count?: number;
  measure?: string;
  by?: string;
  complete?: boolean;
  next?: string;
  rather?: string | null;
  probability?: number;
  /** Of "sources". */
  score?: number;
  same_place?: number;
  scheme?: "rotary" | "added";
  query_sources?: SourceSums & { largest: [source: SourceName, value: number][] };
  key_sources?: SourceSums & { largest: [source: SourceName, value: number][] };
  pairs?: SourceSums & { largest: [query: SourceName, key: SourceName, value: number][] };
}

/** A source of a score: its name, and its layer and head, if it has them. */
type SourceName = [name: string, layer: number | null, head: number | null];

/** Of the sources that aren't named: how many, and their sum. */
interface SourceSums {
  others: number;
  sum: number;
}

/** The further keys of a reply to "projections". */
interface ProjectionsReply {
  shapes: Record<string, [rows: number, columns: number]>;
  bias_length: number;
  norm_before: string | null;
  norm_after: string | null;
  norm_embedded: string | null;
  epsilon: number;
}

interface HostAnswer {
  reply: Reply;
  buffers: Bytes[];
}

type Bytes = ArrayBuffer | ArrayBufferView<ArrayBuffer>;

interface RunReport {
  layers: [done: number, count: number];
  line: string;
  seconds: number;
  /** What a decoder has written so far. */
  written?: string;
}

/** A request to a host to run a text or to open a file. */
interface RunRequest {
  text?: string;
  file?: number;
  model: string;
  mask: "causal" | null;
  scale: number | null;
  /** The first trace of an earlier run, whose places this one's traces take. */
  draft?: number;
}

/** What a run has made: the trace to show, the host's header with all traces, and the trace's most telling weight. */
interface Made {
  trace: number;
  header: Header;
  opening?: Opening | null;
}

/** The model object of a host: anywidget's in a notebook, and the same over a file or a server. */
interface HostModel {
  /** Its client of the kernel's worker, if it has one. */
  kernel?: KernelClient;
  get(name: "header"): Header;
  get(name: "address"): boolean | undefined;
  get(name: "words"): string | undefined;
  on(event: "msg:custom", listener: (reply: Reply, buffers?: Bytes[]) => void): void;
  send(request: HostRequest & { id: number }): void;
  set?(name: "words", value: string): void;
  save_changes?(): void;
  /** Only a host that runs texts has these. */
  createPrompt?(page: Page): PagePart;
  run?(request: RunRequest, told: (report: RunReport) => void): Promise<Made | null>;
  cancel?(job?: number): Promise<void>;
}

/** The exports of main.js. */
interface Main {
  render(shown: { model: HostModel; el: HTMLElement; rooms?: Rooms }): () => void;
}
