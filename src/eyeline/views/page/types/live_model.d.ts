// The types of a model that runs in the page. N tokens, M keys, H heads, D the width of a head.

/** A tensor as the file has it: numbers of one kind; whole numbers are multiplied by their row's scale. */
interface LiveTensor {
  shape: number[];
  int8?: Int8Array;
  /** With `int8`: a factor for each row, or one alone for a vector. */
  scales?: Float32Array;
  /** The bits of half-precision numbers. */
  float16?: Uint16Array;
  float32?: Float32Array;
}

/** A model's files: config.json, the tensors by their names in the checkpoint, without a prefix, and tokenizer.json. */
interface LiveWeights {
  name: string;
  config: Record<string, unknown>;
  tensors: Record<string, LiveTensor>;
  tokenizer: object;
}

/** The sizes and settings of a model; what an encoder-decoder has beside them is below. */
interface LiveConfig {
  kind: "encoder" | "encoder-decoder";
  layers: number;
  heads: number;
  headDim: number;
  width: number;
  innerWidth: number;
  activation: ActivationName;
  epsilon: number;
  vocabulary: number;
  /** The most tokens of a text. */
  positions: number;
  decoderLayers: number;
  /** The tokens before the first that is written, and after the last; the most tokens that are written. */
  start: number;
  end: number;
  mostWritten: number;
}

type AttentionKind = "encoder" | "decoder" | "cross";

/** What is changed in a layer's attention, a number for each head; what isn't there changes nothing. */
interface LayerEdits {
  /** Where the head's queries may look; null for where the model lets them. */
  masks?: (HeadMask | null)[];
  /** Whether the head looks everywhere alike. */
  flat?: boolean[];
  /** What weights are multiplied by after the softmax. */
  factors?: AttendCall["factors"];
  /** What its output is multiplied by: a number, or one for each token. */
  gates?: (number | Float32Array)[];
}

/** What is changed in a layer whose queries are N and whose keys are M: a text that is written grows. */
type EditsOfLayer = (kind: AttentionKind, layer: number, N: number, M: number) => LayerEdits | null;

/** A layer's attention as it was computed, in arrays of its own, one head after the other. */
interface LiveLayer {
  /** Queries, keys and values: (H, N, D), (H, M, D) twice. */
  q: Float32Array;
  k: Float32Array;
  v: Float32Array;
  /** The log of each row's sum of exponentials of scaled scores, (H, N). */
  lse: Float32Array;
  /** The heads' outputs as they go into W_o, with all edits, (H, N, D). */
  output: Float32Array;
  scale: number;
  mask: HeadMask | HeadMask[];
  edits: LayerEdits | null;
  /** What else was read of the weights, if something was asked. */
  seen: Attended;
  /** Of cross-attention: the vectors that queries are made of, (N, width), and those of keys, (M, width). */
  x?: Float32Array;
  keysX?: Float32Array;
}

interface LiveRun {
  kind: AttentionKind;
  ids: number[];
  /** Those before the first layer that was run are missing, and so are all if only the last state was kept. */
  layers: LiveLayer[];
  /** Each token's vector before the first layer and after each, (N, width). */
  states: Float32Array[];
}

/** How a long job is followed and stopped. */
interface Followed {
  /** Whether to stop: the run then throws `Cancelled`. */
  cancelled?: () => boolean;
  /** Lets the messages in that may cancel the run. */
  breathe?: () => Promise<void>;
}

interface RunOptions extends Followed {
  edits?: EditsOfLayer;
  /** Where tokens may look, if not everywhere. */
  mask?: HeadMask | null;
  /** The factor of q·k; 1/√D if not given. */
  scale?: number | null;
  /** The first layer to run, on `states[first]` of an earlier run of the same tokens. */
  first?: number;
  states?: Float32Array[];
  /** "last" keeps the last state alone. */
  keep?: "all" | "last";
  /** What is to be read of every layer's weights. */
  ask?: AttendCall["ask"];
  told?: (layers: [done: number, count: number]) => void;
}

/** What a decoder has written: its own attention, and its look at the encoder's text, whose rows are its steps. */
interface Written {
  decoder: LiveRun;
  cross: LiveRun;
  /** The tokens that it took: the start, then all but the last that it wrote. */
  inputs: number[];
  /** The tokens that it wrote, with the end once it is there. */
  written: number[];
}

interface Generated extends Written {
  encoder: LiveRun;
}

interface GenerateOptions extends Followed {
  edits?: EditsOfLayer;
  /** What it is to write, without the end; what it writes by itself if not given. */
  target?: number[];
  /** Called after each token. */
  told?: (written: Written) => void;
}

type Encoder = import("../live/model/encoder.js").Encoder;
type EncoderDecoder = import("../live/model/encoder_decoder.js").EncoderDecoder;
type LiveModel = Encoder | EncoderDecoder;
type Attention = import("../live/model/attention.js").Attention;
type Call = import("../live/model/attention.js").Call;
type Work = import("../live/model/attention.js").Work;
type EncoderLayer = import("../live/model/running.js").EncoderLayer;
type FeedForward = import("../live/model/parts.js").FeedForward;
type Parts = import("../live/model/parts.js").Parts;
type Room = import("../live/model/placing.js").Room;
type Tensors = import("../live/model/tensors.js").Tensors;
