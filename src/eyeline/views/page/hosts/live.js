// The host of a live page: the file holds its first traces, and a model in a worker makes everything else.

import { createEditing } from "../editing/editing.js";
import { HostError } from "../host_error.js";
import { JOBS } from "../kernel/jobs.js";
import { liveJobs } from "../live/live_jobs.js";
import { createMatters } from "../matters/matters.js";
import { createSources } from "../sources/sources.js";
import { createTyping } from "../typing/typing.js";
import { FileModel, textOf } from "./file.js";
import { showText } from "./text_file.js";
import { opened } from "./unpacking.js";
import { damaged, piecesOf } from "./weights_source.js";

const HIDDEN = 400; // milliseconds to wait for the first picture in a window that draws none

/** The model object. */
class LiveModel extends FileModel {
  /**
   * @param {Header} header
   * @param {Contents & { live: LiveContents }} contents
   */
  constructor(header, contents) {
    super(header, contents, { ...JOBS, ...liveJobs() });
    /** Begin to read the weights. */
    this.begin = () => {};
    this.live = contents.live;
    this.stored = new Set(this.live.stored);
    /** Fulfilled when all models can run; rejected if the weights can't be read. */
    this.loaded = this._begun().then(() => this._read());
    this.loaded.catch(() => {}); // whoever asks for the model is told
    /** @type {Map<string, Promise<void>>} When each model can run. */
    this.ready = new Map(this.live.models.map(({ name }) => [name, this.loaded]));
    /** @type {(read: WeightsRead) => void} */
    this.reading = () => {};
    /** @type {AbortController | null} */
    this.running = null;
  }

  /** When the page is to begin to read the weights: at the call of `begin`. @returns {Promise<void>} */
  _begun() {
    return new Promise((begun) => {
      this.begin = begun;
    });
  }

  /** Read the weights, and have models made of them in the worker. */
  async _read() {
    const { live, kernel, header } = this;
    const left = live.models.map(({ pieces }) => pieces.length);
    await kernel.ask("begin", { live, entries: header.traces });
    for await (const { model, ...piece } of piecesOf(live, (read) => this.reading(read))) {
      const transfer = typeof piece.data === "string" ? [] : [piece.data.buffer];
      await kernel.ask("piece", { model, ...piece }, { transfer }).catch((error) => {
        throw error instanceof HostError && error.message === "damaged" ? damaged(live) : error;
      });
      left[model] -= 1;
      if (left[model]) continue;
      const tokenizer = await opened(await textOf(`tokenizer-${model}`)).json();
      await kernel.ask("ready", { model, tokenizer });
      this.ready.set(live.models[model].name, Promise.resolve());
    }
  }

  /** Whether the file holds the reply to a request. @param {HostRequest} request */
  holds(request) {
    if (request.kind === "head") return this.stored.has(`layer-${request.trace}-${request.layer}`);
    const { kind, trace, other, layer, head, token, last } = /** @type {PlacedRequest} */ (request);
    return this.stored.has([kind, trace, other, layer, head, token, last].filter((part) => part !== undefined).join("-"));
  }

  /** @param {HostRequest} request */
  async _answer(request) {
    return this.holds(request) ? super._answer(request) : this._computed(request);
  }

  /**
   * A reply of the worker.
   * @param {HostRequest} request
   * @returns {Promise<[object, Bytes[]]>}
   */
  async _computed(request) {
    const { traces } = this.header;
    const { trace = 0 } = /** @type {{ trace?: number }} */ (request);
    await this.ready.get(traces[trace]?.model.name ?? "");
    const { reply, buffers } = await this.kernel.ask("answer", request);
    if (request.kind === "edited" && reply.entries) traces.splice(request.known, Infinity, ...reply.entries);
    return [reply, buffers];
  }

  /**
   * Run a text, while `told` is called with its progress; null if it was cancelled.
   * @param {RunRequest} request
   * @param {(report: RunReport) => void} told
   * @returns {Promise<Made | null>}
   */
  async run(request, told) {
    const began = performance.now();
    /** @type {(report: Partial<RunReport>) => void} */
    const tell = (report) => told({ layers: [0, 0], line: "", ...report, seconds: (performance.now() - began) / 1000 });
    const control = new AbortController();
    const { signal } = control;
    this.running = control;
    this.reading = (read) => tell({ read });
    const stopped = new Promise((_, fail) => {
      signal.addEventListener("abort", fail);
    });
    try {
      await Promise.race([this.ready.get(request.model), stopped]);
      const { entries, opening } = await this.kernel.ask("run", request, { signal, told: tell });
      const first = request.draft ?? this.header.traces.length;
      this.header.traces.splice(first, entries.length, ...entries);
      this.kernel.ask("keep", { first }); // before whatever is asked of these traces
      return { trace: first + entries.length - 1, header: this.header, opening };
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    } finally {
      if (this.running === control) this.running = null;
    }
  }

  /** End the running text's job. */
  async cancel() {
    this.running?.abort();
  }
}

/** After the first picture: weights take the processor and the memory that it needs. @type {() => Promise<void>} */
const drawn = () =>
  new Promise((done) => {
    setTimeout(done, HIDDEN);
    requestAnimationFrame(() => setTimeout(done));
  });

/** Show the page. @type {(main: Main) => Promise<void>} */
export const start = async (main) => {
  const rooms = { createTyping, createEditing, createMatters, createSources };
  const model = await showText(main, rooms, (header, contents) => new LiveModel(header, contents));
  await drawn();
  model?.begin();
};
