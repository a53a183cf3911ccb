// The runs of typed texts: one at a time, the newest first. A draft that is typed on gives its place to the next one.

import { asTrained } from "../weights/traces.js";

/** Runs the texts that are typed in a page's fields. */
export class TypedRuns {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.given = page.traces.length; // the traces that the page opened with
    /** @type {Promise<void> | null} The run that is under way. */
    this.running = null;
    this.turn = 0;
    this.following = false; // while a text that is typed on is shown: no step of the browser's Back
    /** @type {TypedRun[]} */
    this.all = [];
    /** @type {WeakMap<Trace, Opening | null>} The most telling weight of each typed text. */
    this.openings = new WeakMap();
  }

  /** The run that a trace belongs to; undefined for a trace that the page opened with, and for one with edits. @param {Trace} trace */
  of({ index, edits }) {
    return edits.length ? undefined : this.all.find(({ first, count }) => index >= first && index < first + count);
  }

  /** The trace of a text that needs no run, as it is here already. @type {(text: string, model: string) => Trace | undefined} */
  known(text, model) {
    const { traces } = this.page;
    const shown = (/** @type {Trace} */ trace) => this.of(trace)?.trace === trace.index || trace.index < this.given;
    return traces.findLast((one) => // of an encoder-decoder the last is the one to show
      one.model.name === model && one.name !== "encoder" && one.name !== "decoder" && !one.edits.length && shown(one) &&
      (one.crossing ? one.keys : one.queries).text === text);
  }

  /** A trace that is here as a run. @type {(trace: Trace, text: string) => TypedRun} */
  asRun(trace, text) {
    const { index, model } = trace;
    return this.of(trace) ?? { text, model: model.name, trace: index, first: index, count: 1, follows: false };
  }

  /** Whether nothing else was made of a draft, so that it may give its place. @param {TypedRun} draft */
  isFree({ trace }) {
    const { traces } = this.page;
    return !traces.some((one) => one.edits.length && asTrained(traces, one) === traces[trace]);
  }

  /**
   * Run a text in place of a draft, or of none. An earlier run is cancelled. Returns null if this one was cancelled.
   * @param {string} text
   * @param {string} model
   * @param {TypedRun | null} draft
   * @param {(report: RunReport) => void} told
   * @returns {Promise<TypedRun | null>}
   */
  async run(text, model, draft, told) {
    const { page } = this;
    const turn = (this.turn += 1);
    await this.stop();
    if (turn !== this.turn || !page.model.run) return null; // overtaken while it waited
    const place = draft && draft.model === model && this.isFree(draft) ? draft : null;
    const asked = page.model.run({ text, model, mask: null, scale: null, ...(place ? { draft: place.first } : {}) }, told);
    const mine = asked.then(() => {}, () => {});
    this.running = mine;
    try {
      const made = await asked;
      if (!made) return null;
      const first = place?.first ?? page.traces.length;
      page.header.can.edit = made.header.can.edit;
      page.take(made.header.traces, first, place?.count ?? 0);
      const count = place?.count ?? page.traces.length - first;
      const run = { text, model, trace: made.trace, first, count, follows: place !== null };
      this.all = [...this.all.filter((one) => one.first !== first), run];
      this.openings.set(page.traces[made.trace], made.opening ?? null);
      return run;
    } finally {
      if (this.running === mine) this.running = null;
    }
  }

  /** Cancel the run that is under way, and wait until it has ended. */
  async stop() {
    if (!this.running) return;
    await this.page.model.cancel?.();
    await this.running;
  }
}
