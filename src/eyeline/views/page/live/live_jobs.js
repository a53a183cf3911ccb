// The jobs of a live page's worker: weights arrive, a model is made of them, texts are run, requests are answered.

import { HostError } from "../host_error.js";
import { decoded } from "../hosts/unpacking.js";
import { openingOf } from "./answers/telling.js";
import { LiveSession } from "./session.js";
import { runText } from "./text_runs.js";

/** The jobs, over a session of their own. @returns {Jobs} */
export const liveJobs = () => {
  const session = new LiveSession();

  /** The file's models and traces. @type {(kernel: Kernel, request: { live: LiveContents, entries: TraceEntry[] }) => Promise<void>} */
  const begin = async (_kernel, { live, entries }) => session.begin(live, entries);

  /** A piece of a model's weights, as base64 or bytes. @type {(kernel: Kernel, request: WeightsPiece) => Promise<void>} */
  const piece = async (_kernel, { model, place, data }) => {
    try {
      await session.stored[model].add(place, typeof data === "string" ? decoded(data) : data);
    } catch {
      throw new HostError({ argument: "file", message: "damaged" });
    }
  };

  /** All pieces of a model are there. @type {(kernel: Kernel, request: { model: number, tokenizer: TokenizerData | PiecesData }, turn: Turn) => Promise<void>} */
  const ready = (kernel, { model, tokenizer }, { breathe }) => session.ready(kernel, model, tokenizer, { breathe });

  /** The run that the page hasn't taken yet: it may have cancelled it meanwhile. @type {LiveTrace[]} */
  let made = [];

  /** Run a text. @type {(kernel: Kernel, request: RunRequest, turn: Turn) => Promise<object>} */
  const run = async (kernel, { text = "", model, mask, scale }, { cancelled, breathe, told }) => {
    session.wanted = true;
    const traces = await runText(kernel, session.source(model), text, { mask, scale, cancelled, breathe, told });
    const opening = openingOf(kernel, traces[traces.length - 1]);
    made = traces;
    return { entries: traces.map(({ entry }) => entry), opening };
  };

  /** Take the last run: its traces are the page's from number `first` on. @type {(kernel: Kernel, request: { first: number }) => Promise<void>} */
  const keep = async (_kernel, { first }) => void session.add(made, first);

  /** Answer a request of the page. @type {(kernel: Kernel, request: Record<string, any>, turn: Turn) => Promise<object>} */
  const answer = async (kernel, request, turn) => {
    const { reply, buffers } = await session.answer(kernel, request, turn);
    return { reply, buffers, transfer: buffers };
  };

  return { begin, piece, ready, run, keep, answer };
};
