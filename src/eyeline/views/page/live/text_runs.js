// A text's run by a model of the page, as traces: one of an encoder, three of an encoder-decoder.

import { HostError } from "../host_error.js";
import { askOf, traceOf } from "./answers/tracing.js";
import { namesOf } from "./editing/written.js";
import { lineEntry } from "./tokens/line.js";
import { TextRefused } from "./tokens/refusing.js";

/** The parts of an encoder-decoder's run, in order; the last is the one to show. */
export const PARTS = /** @type {const} */ (["encoder", "decoder", "cross"]);

/** @type {HeadMask} */
const CAUSAL = { kind: "causal" };

/** The name of a run, from its changes, as Python's. @type {(first: string, changes: { mask?: "causal" | null, scale?: number | null, said?: string[], called?: string[] }) => string} */
const named = (first, { mask = null, scale = null, said = [], called = said }) => {
  const changes = [
    ...(mask ? [mask] : []),
    ...(scale === null ? [] : [scale === 1 ? "without ÷ √d" : `scale ${scale}`]),
    ...namesOf(called),
  ];
  if (first === "as trained") return changes.join(", ") || first;
  return [first, ...changes].join(", ");
};

/** The error of a text that can't be run. @type {(refusal: TextRefusal) => HostError} */
const refused = ({ key, values }) => new HostError({ argument: "text", message: key, values });

/** The tokens of a text, checked. @type {(reader: LiveTokenizer, text: string) => LiveTokens} */
const tokensOf = (reader, text) => {
  let tokens;
  try {
    tokens = reader.read(text);
  } catch (error) {
    throw error instanceof TextRefused ? refused(error) : error;
  }
  const refusal = reader.refusal(tokens);
  if (refusal) throw refused(refusal);
  return tokens;
};

/**
 * Run a text.
 * @param {Kernel} kernel
 * @param {ReadySource} source
 * @param {string} text
 * @param {TextRunOptions} options
 * @returns {Promise<LiveTrace[]>}
 */
export const runText = async (kernel, source, text, options = {}) => {
  const tokens = tokensOf(source.reader, text);
  const { model } = source;
  const { mask = null, scale = null, edits, said = [], called, told, cancelled, breathe } = options;
  const followed = { edits, cancelled, breathe };
  if (!("generate" in model)) {
    const queries = lineEntry(tokens, { causal: false });
    const causal = mask ? { mask: CAUSAL } : {};
    const run = await model.run(tokens.ids, {
      ...followed, ...causal, scale, ask: askOf(queries), told: (layers) => told?.({ layers }),
    });
    return [traceOf(kernel, source, run, { name: named("as trained", options), kind: "encoder", queries, edits: said })];
  }
  const { start, end } = model.config;
  const line = (/** @type {number[]} */ ids) => source.reader.written(ids, [start, end]);
  const { layers, decoderLayers } = model.config;
  const made = await model.generate(tokens.ids, {
    ...followed,
    told: ({ written }) => told?.({ layers: [layers + decoderLayers, layers + decoderLayers], written: line(written).text }),
  });
  const keys = lineEntry(tokens, { causal: false });
  const lines = {
    encoder: { queries: keys },
    decoder: { queries: lineEntry(line(made.inputs), { causal: true }) },
    cross: { queries: lineEntry(line(made.written), { causal: false }), keys },
  };
  return PARTS.map((kind) => traceOf(kernel, source, made[kind], { name: named(kind, { said, called }), kind, ...lines[kind], edits: said }));
};
