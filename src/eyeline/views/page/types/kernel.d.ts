// The types of the room that owns WebAssembly. H heads, G heads of keys, N queries, M keys, D and E the widths of a
// head's queries and values. Arrays are in C order; addresses and strides are in bytes.

/** A number, the name of one, or an operator and its operands, applied from left to right. */
type Formula = number | string | FormulaOf;
interface FormulaOf extends Array<Formula> {}

/** What a call of the module looks like: eyeline/kernels/wasm/describing.py describes it. */
interface KernelRecords {
  records: Record<string, { size: number; fields: Record<string, [offset: number, type: string]> }>;
  enums: Record<"StepKind" | "Half" | "Activation" | "RowPass", Record<string, number>>;
  sizes: Record<
    | "LINE" | "KEY_BLOCK" | "PANEL" | "TILE_ROWS" | "QUERIES_TOGETHER" | "KEPT_TOGETHER" | "PRODUCT_LINE"
    | "PRODUCT_HEIGHT" | "ROW_BLOCK" | "PANEL_BLOCK" | "NUMBERS_PER_TASK",
    number
  >;
  forward: Record<"derived" | "panel" | "shared", Record<string, Formula>>;
  product: Formula;
  rowwise: Formula;
}

/** The exports of the module: each does up to `most` tasks of a call, and returns how many are left. */
interface KernelExports extends Record<KernelProgram, KernelFunction> {
  /** The first byte of memory that is the host's. */
  __heap_base: { value: number };
}
type KernelProgram = "forward" | "product" | "rowwise";
type KernelFunction = (params: bigint, workspace: bigint, most: bigint) => bigint;

/** Rows of float32 in the kernel's memory. */
interface Placed {
  at: number;
  rows: number;
  columns: number;
  /** Bytes from a row to the next. */
  stride: number;
}

/** (heads, tokens, width): float32; or the bits of float16; or either that lies in the kernel's memory. */
type KernelNumbers =
  | Float32Array
  | Uint16Array
  | { at: number; strides: [head: number, token: number]; half?: boolean };

/** Weights that are multiplied after the softmax: those of query i on the keys with columns[j] = 1, times by[i]. */
interface WeightFactor {
  by: Float32Array; // (N) or (H, N)
  columns: Uint8Array; // (M) or (H, M)
}

/** A call of attention. The arrays must not change while they are in use: the kernel keeps copies of them. */
interface AttendCall {
  H: number;
  G: number;
  N: number;
  M: number;
  D: number;
  /** 0 without values. */
  E: number;
  q: KernelNumbers;
  k: KernelNumbers;
  v?: KernelNumbers | null;
  scale: number;
  /** Where queries may look: for all heads, or for each; null everywhere. */
  mask: HeadMask | HeadMask[] | null;
  /** The positions of the first query and the first key, for a causal mask and distances. */
  firstQuery?: number;
  firstKey?: number;
  /** (H, N): what normalises the weights of the readouts, if not the call's own. */
  lse?: Float32Array | null;
  /** The heads whose scores are all 0. */
  flat?: boolean[];
  factors?: WeightFactor[];
  /** Where the output goes in the kernel's memory; by default it comes back as an array. */
  into?: { at: number; strides: [head: number, token: number] };
  ask?: Readouts;
}

/** The part of a call that is computed: queries [top, bottom), keys [left, right); query 0's position less key 0's. */
interface CallSpan {
  top: number;
  bottom: number;
  left: number;
  right: number;
  ahead: number;
}

/** The masks of a call's heads for a span; each null where it hides nothing. */
interface LoweredMask {
  /** (heads or 1, rows or 1, count, 2): intervals of the span's keys, for its queries. */
  bounds: { values: Int32Array; heads: number; rows: number; count: number } | null;
  /** (heads or 1, N, M): a byte for each pair of the call. */
  allowed: { values: Uint8Array; heads: number } | null;
}

/** What the kernel's memory holds copies of. */
type KeptArray = Float32Array | Uint16Array | Int32Array | Uint8Array | Int8Array;

/** An error as it crosses from a worker. */
interface CrossingError {
  argument: string | null;
  message: string;
  cancelled: boolean;
}

/** The requested readouts of the weights. */
interface Readouts {
  entropy?: boolean;
  distance?: boolean;
  /** The number of largest weights per query. */
  largest?: number;
  /** Each key's group, or -1, and the number of groups. */
  groups?: { of: Int32Array; count: number };
  /** The ascending edges of ranges of key - query. */
  offsets?: number[];
  received?: boolean;
  receivedMost?: boolean;
  /** A picture of rows × columns cells, at most N × M: cell r is of the queries [floor(r·N/R), floor((r+1)·N/R)). */
  grid?: { rows: number; columns: number; mean?: boolean; most?: boolean };
}

interface Attended {
  output: Float32Array; // (H, N, E); empty if it went elsewhere
  lse: Float32Array; // (H, N), the call's own
  entropy?: Float32Array; // (H, N), in nats
  distance?: Float32Array; // (H, N)
  weights?: Float32Array; // (H, N, largest), in descending order
  keys?: Int32Array; // (H, N, largest); -1 where there are fewer
  groups?: Float32Array; // (H, N, count)
  offsets?: Float32Array; // (H, N, ranges)
  received?: Float32Array; // (H, M), the sums over queries
  receivedMost?: Float32Array; // (H, M)
  gridMean?: Float32Array; // (H, rows, columns); hidden pairs count as 0
  gridMost?: Float32Array; // (H, rows, columns)
  /** The number of query-key pairs that were computed. */
  pairs: number;
}

/** A call that is done step by step, so that others get their turn in between. */
interface Attending {
  /** The share that is done, from 0 to 1. */
  readonly share: number;
  /** Work for about so many milliseconds; returns whether everything is done. */
  step(milliseconds: number): boolean;
  /** The results, once everything is done; gives the memory back. */
  result(): Attended;
  /** Give the memory back without results. */
  end(): void;
}

type ActivationName = "relu" | "gelu" | "gelu_tanh" | "silu";

/** A matrix in the kernel's memory, packed for products. */
interface PackedMatrix {
  weights: number;
  bias: number;
  outputs: number;
  inputs: number;
  panels: number;
}

type Kernel = import("../kernel/kernel.js").Kernel;
type KernelMemory = import("../kernel/memory.js").Memory;
type ForwardCall = import("../kernel/forward.js").ForwardCall;
type KernelClient = import("../kernel/client.js").KernelClient;

/** What a job gets beside its request. */
interface Turn {
  /** Whether nobody wants the answer any more. */
  cancelled(): boolean;
  /** Tell how far it is. */
  told(progress: any): void;
  /** Let others have their turn; throws `Cancelled` if nobody wants the answer. To be called about every 20 ms. */
  breathe(): Promise<void>;
}

/** A job: what it returns is the answer; the buffers in its `transfer` are moved, not copied. */
type Job = (kernel: Kernel, request: any, turn: Turn) => Promise<any>;
type Jobs = Record<string, Job>;

/** An error as it crosses from a worker. */
interface CrossingError extends Refusal {
  cancelled: boolean;
}
