// The request "effects": what changes when each head is cut; with progress, and stopped when the page says so.

import { isEncoderDecoder } from "../answers/parameters.js";
import { RequestRefused, replied, traceAt, whole } from "../answers/refusal.js";
import { EffectsRun } from "./effects_run.js";

const SOON = 250; // milliseconds that a request works before it replies with the progress

/** The effects of each run, by the first token of the measured word; -1 for the text. @type {WeakMap<LiveRun, Map<number, EffectsRun>>} */
const KEPT = new WeakMap();

/**
 * Answer as Python's requests/effects.py. The work is done within requests, so that it rests while nobody asks; one
 * that was stopped goes on when it is asked for again.
 * @type {LiveAnswerer}
 */
export const answerEffects = (kernel, { traces }, request, turn) =>
  replied(request, async () => {
    const { entry, run, model } = traceAt(traces, request);
    if (isEncoderDecoder(model)) {
      const line = `model must be an encoder or a decoder to measure what heads do, got the encoder-decoder ${model.name}`;
      throw new RequestRefused("trace", line);
    }
    const N = run.ids.length;
    const token = request.token ?? null;
    const word = token === null ? null : wordAt(entry.queries, whole(request, "token", 0, N - 1));
    const rows = Array.from({ length: word ? word[1] - word[0] : N }, (_, at) => at + (word?.[0] ?? 0));
    const known = KEPT.get(run) ?? new Map();
    KEPT.set(run, known);
    const key = word?.[0] ?? -1;
    if (request.stop && !known.has(key)) return { reply: { over: true, done: 0, count: 0 }, buffers: [] };
    /** @type {EffectsRun} */
    const found = known.get(key) ?? new EffectsRun(kernel, /** @type {Encoder} */ (model), run, rows);
    known.set(key, found);
    found.stopped = Boolean(request.stop);
    await found.goOn(SOON, turn);
    const { over, done, count, shape } = found;
    if (!over || !done) return { reply: { over, done, count }, buffers: [] };
    const reply = {
      over, measure: word ? "token cosine" : "text cosine", by: "zero", complete: done === count, shape,
    };
    return { reply, buffers: [found.heads.slice().buffer, found.looks().buffer] };
  });

/** The word that a token is of. @type {(line: LineEntry, token: number) => LineEntry["words"][number]} */
const wordAt = ({ words }, token) => {
  const word = words.find(([first, last]) => first <= token && token < last);
  if (!word) throw new RequestRefused("token", `token must be one of a word, got ${token}`);
  return word;
};
