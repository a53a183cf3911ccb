// The types of the runs that were made in the page, as its requests are answered from them. This file isn't shipped.

/** The sums over the rows of a layer's weights, heads in order. */
interface RowSums {
  /** In nats. (H, N) */
  entropy: Float32Array;
  /** Mean |i − j|; null where queries and keys are different texts. (H, N) */
  distance: Float32Array | null;
  /** The weight on each group of keys. (H, N, groups) */
  groups: Float32Array;
  /** The mean weight of each cell of the thumbnails; null where the page draws these itself. (H, R, C) */
  cells: Float32Array | null;
}

/** A loaded model, and the tokenizer's data, which has its name and its vocabulary. */
interface LiveSource {
  model: LiveModel;
  tokenizer: TokenizerData | PiecesData;
}

/** A run that was made in the page, with its entry of the header. */
interface LiveTrace extends LiveSource {
  entry: TraceEntry;
  run: LiveRun;
  /** The thumbnails of all heads, as the request "overview" has them; null where the page draws them itself. */
  thumbnails: { bytes: Uint8Array<ArrayBuffer>; most: Float32Array<ArrayBuffer> } | null;
}

/** What a trace is of: its name, such as "as trained", its part, its texts, and its edits in words. */
interface LiveTraceOptions {
  name: string;
  kind: TraceEntry["kind"];
  queries: LineEntry;
  /** Only where they are another text than the queries. */
  keys?: LineEntry | null;
  edits?: string[];
}

/** A reply, without its id and kind, and the bytes of its arrays. */
interface LiveAnswer {
  reply: Record<string, any>;
  buffers: ArrayBuffer[];
}

type HeadCall = import("../live/answers/layer_weights.js").HeadCall;
