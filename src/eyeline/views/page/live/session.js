// What a live page's worker holds: the models, and the page's traces by their numbers.

import { answer } from "./answers/answers.js";
import { answerChanges } from "./editing/changes.js";
import { answerEdited } from "./editing/edited.js";
import { answerEffects } from "./effects/effects.js";
import { loadModel } from "./model/model.js";
import { answerSources } from "./sources/sources.js";
import { StoredWeights } from "./stored_weights.js";
import { PARTS, runText } from "./text_runs.js";
import { tokenizer } from "./tokens/tokenizer.js";

const KEPT = 50e6; // bytes of runs that can be made again
const COPIES = 40e6; // bytes of their arrays that the kernel keeps copies of
const [WARM_UP, WARM_UPS] = ["to be or not to be ".repeat(20), 3];

/** Other kinds of requests, by what answers them. @type {Record<string, LiveAnswerer>} */
const KINDS = { changes: answerChanges, edited: answerEdited, effects: answerEffects, sources: answerSources };

/** The bytes of a run's arrays. @type {(trace: LiveTrace) => number} */
const bytesOf = ({ run: { layers, states } }) =>
  layers.reduce((sum, { q, k, v, output }) => sum + q.byteLength + k.byteLength + v.byteLength + (output?.byteLength ?? 0), 0) +
  states.reduce((sum, state) => sum + state.byteLength, 0);

/** The models and traces of a page. */
export class LiveSession {
  constructor() {
    /** @type {StoredWeights[]} */
    this.stored = [];
    /** @type {Map<string, ReadySource>} Each model that can run, by its name. */
    this.sources = new Map();
    /** Whether a text was asked for. */
    this.wanted = false;
    /** @type {TraceEntry[]} The header's traces. */
    this.entries = [];
    /** @type {(LiveTrace | null)[]} Their runs; null for one that is to be made again when it is asked for. */
    this.traces = [];
    /** @type {Map<number, Promise<void>>} The runs that are being made again, by their first traces. */
    this.again = new Map();
    /** @type {Set<number>} The traces, the latest used last. */
    this.used = new Set();
  }

  /**
   * Begin with the models of a file, of which nothing has arrived, and its traces.
   * @param {LiveContents} live
   * @param {TraceEntry[]} entries
   */
  begin(live, entries) {
    this.stored = live.models.map((model) => new StoredWeights(model, live.piece));
    this.entries = [...entries];
    this.traces = entries.map(() => null);
  }

  /**
   * Make a model that can run of the weights that have arrived.
   * @param {Kernel} kernel
   * @param {number} number
   * @param {TokenizerData | PiecesData} data its tokenizer's
   * @param {Followed} followed
   */
  async ready(kernel, number, data, followed) {
    const stored = this.stored[number];
    const { name, config } = stored.entry;
    kernel.memory.budget = COPIES;
    const model = await loadModel(kernel, { name, config, tensors: stored.tensors(), tokenizer: data }, followed);
    const source = { model, tokenizer: data, reader: tokenizer(data) };
    this.sources.set(name, source);
    if (!("generate" in model)) this._warmUp(kernel, source, followed).catch(() => {}); // nobody waits for it
  }

  /**
   * Run a text until someone asks for another: a browser translates what runs often once more, into quicker code.
   * @param {Kernel} kernel
   * @param {ReadySource} source
   * @param {Followed} followed
   */
  async _warmUp(kernel, source, followed) {
    const cancelled = () => this.wanted;
    for (let time = 0; time < WARM_UPS; time++) await runText(kernel, source, WARM_UP, { ...followed, cancelled });
  }

  /** A model by its name. @param {string} name */
  source(name) {
    const found = this.sources.get(name);
    if (!found) throw new Error(`model must be one of ${[...this.sources.keys()].join(", ")}, got ${name}`);
    return found;
  }

  /**
   * Add traces in the places of as many from number `first` on, or after all. Returns the number of the first.
   * @param {LiveTrace[]} traces
   * @param {number} [first]
   */
  add(traces, first = this.traces.length) {
    this.traces.splice(first, traces.length, ...traces);
    this.entries.splice(first, traces.length, ...traces.map(({ entry }) => entry));
    traces.forEach((_, at) => this._use(first + at));
    return first;
  }

  /**
   * A trace by its number. One of the file's is run again, and so is one that had to make room: the same text, the same
   * weights.
   * @param {Kernel} kernel
   * @param {number} number
   * @param {Followed} followed
   * @returns {Promise<LiveTrace | null>}
   */
  async trace(kernel, number, followed) {
    const entry = this.entries[number];
    if (!entry) return null;
    if (!this.traces[number]) {
      const first = number - Math.max(PARTS.findIndex((name) => name === entry.name), 0);
      const making = this.again.get(first) ?? this._again(kernel, first, followed);
      this.again.set(first, making);
      await making.finally(() => this.again.delete(first));
    }
    this._use(number);
    return this.traces[number];
  }

  /**
   * Run the text of a trace again; the traces of an encoder-decoder's other parts follow it.
   * @param {Kernel} kernel
   * @param {number} first
   * @param {Followed} followed
   */
  async _again(kernel, first, followed) {
    this.wanted = true;
    const entries = [...this.entries];
    const { queries, model, layers, kind, name } = entries[first];
    const mask = kind === "encoder" && layers[0].mask.kind === "causal" ? "causal" : null;
    const scale = kind === "encoder" && name !== "as trained" && name !== "encoder" ? layers[0].scale : null;
    const made = await runText(kernel, this.source(model.name), queries.text, { ...followed, mask, scale });
    made.forEach((trace, at) => {
      const entry = entries[first + at];
      if (this.entries[first + at] === entry) this.traces[first + at] = { ...trace, entry }; // else a typed text took its place
    });
  }

  /** Note that a trace was used, and let those go that weren't for longest, if there is too much. @param {number} number */
  _use(number) {
    this.used.delete(number);
    this.used.add(number);
    let total = 0;
    for (const at of [...this.used].reverse()) {
      const trace = this.traces[at];
      total += trace ? bytesOf(trace) : 0;
      // Those of a run with edits can't be made again from their entries.
      if (total > KEPT && at !== number && !this.entries[at].edits?.length) this.traces[at] = null;
    }
  }

  /**
   * Answer a request about traces.
   * @param {Kernel} kernel
   * @param {Record<string, any>} request
   * @param {Turn} turn
   * @returns {Promise<LiveAnswer>}
   */
  async answer(kernel, request, turn) {
    for (const number of [request.trace, request.other]) await this.trace(kernel, number, turn);
    const other = Object.hasOwn(KINDS, request.kind) ? KINDS[request.kind] : null;
    return other ? other(kernel, this, request, turn) : answer(kernel, this.traces, request);
  }
}
