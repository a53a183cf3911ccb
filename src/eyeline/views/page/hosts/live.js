// The host of a live page: its first traces are in the file, and everything else a model makes of the weights there.

import { createEditing } from "../editing/editing.js";
import { KernelClient } from "../kernel/client.js";
import { createMatters } from "../matters/matters.js";
import { createSources } from "../sources/sources.js";
import { HostError, messageOf } from "../weights/host_client.js";
import { FileModel, show, textOfBlock } from "./file.js";
import { createPrompt } from "./prompt.js";
import { damaged, piecesOf } from "./weights_source.js";

const FIRST = 400; // milliseconds after which weights are read though nothing has been drawn, as in a hidden window

/** What the worker answers to a text that it ran. @typedef {{ first: number, count: number, entries: TraceEntry[], trace: number, opening: Opening | null }} Ran */

/** The model object: stored replies first, else the worker. */
class LiveModel extends FileModel {
  /**
   * @param {Header} header
   * @param {Contents & { live: LiveContents }} contents
   */
  constructor(header, contents) {
    super(header, contents);
    this.live = contents.live;
    this.stored = new Set(contents.live.stored);
    this.held = header.traces.length; // the first traces, which the file holds
    this.createPrompt = createPrompt;
    this.client = new KernelClient();
    /** @type {Map<string, Promise<void>>} Each model, once it can run. */
    this.ready = new Map();
    /** @type {(read: WeightsRead) => void} */
    this.reading = () => {};
    /** @type {AbortController | null} */
    this.running = null;
  }
}
