// What a live page's worker holds: the models, and the page's traces by their numbers.

import { answer } from "./answers/answers.js";
import { loadModel } from "./model/model.js";
import { StoredWeights } from "./stored_weights.js";
import { PARTS, runText } from "./text_runs.js";
import { tokenizer } from "./tokens/tokenizer.js";

/** The models and traces of a page. */
export class LiveSession {
  constructor() {
    /** @type {StoredWeights[]} */
    this.stored = [];
    /** @type {Map<string, ReadySource>} Each model that can run, by its name. */
    this.sources = new Map();
    /** @type {TraceEntry[]} The header's traces. */
    this.entries = [];
    /** @type {(LiveTrace | null)[]} Their runs; null for one of the file's until it is asked for. */
    this.traces = [];
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
    const model = await loadModel(kernel, { name, config, tensors: stored.tensors(), tokenizer: data }, followed);
    this.sources.set(name, { model, tokenizer: data, reader: tokenizer(data) });
  }

  /** A model by its name. @param {string} name */
  source(name) {
    const found = this.sources.get(name);
    if (!found) throw new Error(`model must be one of ${[...this.sources.keys()].join(", ")}, got ${name}`);
    return found;
  }

  /**
   * Add traces in the places of as many from number `first` on, or after all.
   * @param {LiveTrace[]} traces
   * @param {number} [first]
   */
  add(traces, first = this.traces.length) {
    this.traces.splice(first, traces.length, ...traces);
    this.entries.splice(first, traces.length, ...traces.map(({ entry }) => entry));
    return first;
  }

  /**
   * A trace by its number. One that the file holds is run again: the same text, the same weights.
   * @param {Kernel} kernel
   * @param {number} number
   * @param {Followed} followed
   */
  async trace(kernel, number, followed) {
    const entry = this.entries[number];
    if (entry && !this.traces[number]) {
      const part = PARTS.findIndex((name) => name === entry.name);
      const text = (entry.kind === "cross" ? entry.keys : part > 0 ? this.entries[number + 1].keys : entry.queries)?.text ?? "";
      const first = number - Math.max(part, 0);
      const made = await runText(kernel, this.source(entry.model.name), text, followed);
      made.forEach((trace, at) => (this.traces[first + at] = { ...trace, entry: this.entries[first + at] }));
    }
    return this.traces[number];
  }

  /**
   * Answer a request about traces.
   * @param {Kernel} kernel
   * @param {Record<string, any>} request
   * @param {Followed} followed
   */
  async answer(kernel, request, followed) {
    for (const number of [request.trace, request.other]) {
      if (Number.isInteger(number)) await this.trace(kernel, number, followed);
    }
    return answer(kernel, this.traces, request);
  }
}
