// The page on the local server: the model object over fetch, and the texts and files that are run there.

import { createPrompt } from "./prompt.js";
import { HostError } from "../weights/host_client.js";

const STEP = 8; // bytes, at whose multiples the parts of a reply begin
const SLOWEST = 500; // milliseconds between two looks at how far a text is

const whole = (length) => Math.ceil(length / STEP) * STEP;

/** A reply and its buffers, of the bytes that `serving/framing.py` writes. */
const unframed = (bytes) => {
  const length = new DataView(bytes).getUint32(0, true);
  const reply = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  let at = whole(4 + length);
  const buffers = reply.lengths.map((size) => {
    const buffer = new DataView(bytes, at, size);
    at += whole(size);
    return buffer;
  });
  return { reply, buffers };
};

const asked = async (path, method = "GET", sent = undefined) => {
  const headers = method === "GET" ? {} : { "Content-Type": "application/json" };
  let response;
  try {
    const keepalive = method === "DELETE"; // what is cancelled when the page is left goes out all the same
    response = await fetch(path, { method, headers, keepalive, body: sent && JSON.stringify(sent) });
  } catch {
    throw new HostError({ argument: "server", message: "the server doesn't answer; run eyeline view again" });
  }
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  const { job = null, error = { argument: null, message: `${response.status} ${response.statusText}` } } = said;
  throw Object.assign(new HostError(error), { job });
};

const found = async (...request) => (await asked(...request)).json();

/** The model object. A host that has `run` takes new texts. */
class ServerModel {
  constructor(header) {
    this.values = { header, address: true };
    this.createPrompt = createPrompt;
    this.listeners = new Set();
    this.job = null; // the number of what runs for this page; 0 while it has none yet
    this.stopping = false;
    // Nobody would see what comes of it.
    addEventListener("pagehide", () => this.job && this.cancel());
  }

  get(name) {
    return this.values[name];
  }

  on(event, listener) {
    if (event === "msg:custom") this.listeners.add(listener);
  }

  async send(request) {
    let answer;
    try {
      answer = unframed(await (await asked("api/answer", "POST", request)).arrayBuffer());
    } catch ({ argument = null, message }) {
      answer = { reply: { id: request.id, error: { argument, message } }, buffers: [] };
    }
    for (const listener of this.listeners) listener(answer.reply, answer.buffers);
  }

  /**
   * Run a text, {text, model, mask, scale}, or open a file, {file, …}. `told` is called with how far it is. Gives the
   * place of its trace and the header of by then, with other windows' traces too; null if it was cancelled.
   */
  async run(request, told) {
    this.job = 0;
    this.stopping = false;
    try {
      this.job = (await found("api/texts", "POST", request)).job;
      if (this.stopping) await this.cancel();
      for (let pause = 30; ; pause = Math.min(1.5 * pause, SLOWEST)) {
        const report = await found(`api/jobs/${this.job}`);
        if (report.state === "failed") throw new HostError(report.error);
        if (report.state === "cancelled") return null;
        if (report.state === "done") return { trace: report.trace, header: await found("api/header") };
        told(report);
        await new Promise((done) => setTimeout(done, pause));
      }
    } finally {
      this.job = null;
    }
  }

  /** Cancel what runs for this page, or another window's job by its number. */
  async cancel(job = this.job) {
    if (job) await asked(`api/jobs/${job}`, "DELETE");
    else this.stopping = true;
  }
}

/** Show the page. */
export const start = async (main) => {
  const el = document.getElementById("page");
  try {
    const header = await found("api/header");
    document.title = header.title;
    main.render({ model: new ServerModel(header), el });
  } catch (error) {
    el.textContent = error.message;
  }
};
