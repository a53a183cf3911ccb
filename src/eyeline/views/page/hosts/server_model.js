// The model object over a local server: requests, and jobs that take a while.

import { unframed } from "./framing.js";
import { HostError, messageOf } from "../host_error.js";

const SLOWEST = 500; // the longest time between two progress requests, in milliseconds

/** A request to the server. @type {(path: string, method?: string, sent?: object) => Promise<Response>} */
const asked = async (path, method = "GET", sent = undefined) => {
  /** @type {Record<string, string>} */
  const headers = method === "GET" ? {} : { "Content-Type": "application/json" };
  let response;
  try {
    const keepalive = method === "DELETE"; // so that a cancellation is sent even while the page is closing
    response = await fetch(path, { method, headers, keepalive, body: sent && JSON.stringify(sent) });
  } catch {
    throw new HostError({ argument: "server", message: "the server doesn't answer; run eyeline view again" });
  }
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  const { job = null, error = { argument: null, message: `${response.status} ${response.statusText}` } } = said;
  throw new HostError({ ...error, job });
};

/** The JSON that the server replies. @type {(path: string, method?: string, sent?: object) => Promise<any>} */
export const found = async (path, method, sent) => (await asked(path, method, sent)).json();

/** The model object. */
export class ServerModel {
  /** @param {Header} header */
  constructor(header) {
    this.header = header;
    /** @type {Set<(reply: Reply, buffers: Bytes[]) => void>} */
    this.listeners = new Set();
    /** @type {number | null} The number of this page's job; 0 while it has none yet. */
    this.job = null;
    this.stopping = false;
    // Nobody would see the result.
    addEventListener("pagehide", () => this.job && this.cancel());
  }

  /**
   * The value of "header"; or of "address", whether the page may keep its state in the address.
   * @param {string} name
   * @returns {any}
   */
  get(name) {
    if (name === "header") return this.header;
    return name === "address" ? true : undefined;
  }

  /**
   * @param {string} event
   * @param {(reply: Reply, buffers: Bytes[]) => void} listener
   */
  on(event, listener) {
    if (event === "msg:custom") this.listeners.add(listener);
  }

  /** @param {HostRequest & { id: number }} request */
  async send(request) {
    let answer;
    try {
      answer = unframed(await (await asked("api/answer", "POST", request)).arrayBuffer());
    } catch (error) {
      const argument = error instanceof HostError ? error.argument : null;
      const refusal = { id: request.id, error: { argument, message: messageOf(error) } };
      answer = { reply: /** @type {Reply} */ (refusal), buffers: [] };
    }
    for (const listener of this.listeners) listener(answer.reply, answer.buffers);
  }

  /**
   * Start a job by a request, and follow it until it is over. `told` is called with its progress. Returns its last
   * report; null if it was cancelled.
   * @param {string} path
   * @param {object} request
   * @param {(report: RunReport) => void} told
   */
  async follow(path, request, told) {
    this.job = 0;
    this.stopping = false;
    try {
      this.job = (await found(path, "POST", request)).job;
      if (this.stopping) await this.cancel();
      for (let pause = 30; ; pause = Math.min(1.5 * pause, SLOWEST)) {
        const report = await found(`api/jobs/${this.job}`);
        if (report.state === "failed") throw new HostError(report.error);
        if (report.state === "cancelled") return null;
        if (report.state === "done") return report;
        told(report);
        await new Promise((done) => void setTimeout(done, pause));
      }
    } finally {
      this.job = null;
    }
  }

  /** Cancel this page's job, or another window's job by its number. @param {number | null} job */
  async cancel(job = this.job) {
    if (job) await asked(`api/jobs/${job}`, "DELETE");
    else this.stopping = true;
  }
}

/**
 * Show a page of the server: `modelOf` makes the model object from the header; `rooms` are what it has beside the views.
 * @type {(main: Main, modelOf: (header: Header) => HostModel, rooms?: Rooms) => Promise<void>}
 */
export const show = async (main, modelOf, rooms) => {
  const el = document.getElementById("page") ?? document.body;
  try {
    const header = await found("api/header");
    document.title = header.title;
    main.render({ model: modelOf(header), el, rooms });
  } catch (error) {
    el.textContent = messageOf(error);
  }
};
