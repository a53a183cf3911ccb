// The types of a live page's file and of the messages between its host and its worker; docs/live.md describes them.

/** A tensor: its kind, its shape, where it begins, and of int8 where its scales do, in bytes. */
type StoredTensor = [kind: "int8" | "float16" | "float32", shape: number[], at: number, scales?: number];

/** A model in the contents of a live file. */
interface StoredModel {
  name: string;
  config: Record<string, unknown>;
  tensors: Record<string, StoredTensor>;
  /** The bytes of all tensors, and those of each compressed piece. */
  size: number;
  pieces: number[];
  source: { model: string; summary: string | null; license: string | null; sha256: string };
}

interface LiveContents {
  /** The file beside the page that has the weights; null if they are in the page. */
  source: { file: string; size: number } | null;
  models: StoredModel[];
  /** The models' order in the file. */
  order: number[];
  /** The bytes of each piece but a model's last, before compression. */
  piece: number;
  /** The blocks of replies that the file holds. */
  stored: string[];
}

/** How far the weights are: bytes as they are stored. */
interface WeightsRead {
  done: number;
  size: number;
}

/** A model that can run, with its tokenizer. */
interface ReadySource extends LiveSource {
  reader: LiveTokenizer;
}

interface TextRunOptions {
  mask?: "causal" | null;
  scale?: number | null;
  edits?: EditsOfLayer;
  /** The edits in words, their tokens by positions. */
  said?: string[];
  /** As the run's name says them, if in other words. */
  called?: string[];
  cancelled?: () => boolean;
  breathe?: () => Promise<void>;
  told?: (report: Partial<RunReport>) => void;
}

interface RunReport {
  /** How far the weights are, before the model can run. */
  read?: WeightsRead;
}

interface HostModel {
  /** When the weights of a live page can run; rejected if they can't be read. */
  loaded?: Promise<void>;
}

/** A piece of a model's weights. */
interface WeightsPiece {
  model: number;
  place: number;
  data: string | Uint8Array<ArrayBuffer>;
}

/** The contents of a file, needed to read its blocks; docs/page-format.md describes each key. */
interface Contents {
  dtype: "float32" | "float16";
  traces: { masks: (number | null)[]; mask_shapes: [heads: number, ...number[]][] }[];
  live?: LiveContents;
}

type LiveSession = import("../live/session.js").LiveSession;

/** What answers requests of a kind that need more than traces. */
type LiveAnswerer = (kernel: Kernel, session: LiveSession, request: any, turn: Turn) => Promise<LiveAnswer>;

type FileModel = import("../hosts/file.js").FileModel;
