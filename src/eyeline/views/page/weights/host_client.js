// The client of a host: sends requests.

import { HostError } from "../host_error.js";

/** Sends requests to the host. */
export class HostClient {
  /** @param {HostModel} model */
  constructor(model) {
    this.model = model;
    /** @type {Map<number, { done: (answer: HostAnswer) => void, fail: (error: HostError) => void }>} */
    this.waiting = new Map();
    this.number = Math.floor(Math.random() * 2 ** 40); // two views of one widget hear each other's replies
    model.on("msg:custom", (reply, buffers) => {
      const waiting = this.waiting.get(reply.id);
      this.waiting.delete(reply.id);
      if (!waiting) return;
      if (reply.error) waiting.fail(new HostError(reply.error));
      else waiting.done({ reply, buffers: buffers ?? [] });
    });
  }

  /**
   * The answer to a request.
   * @param {HostRequest} request
   * @returns {Promise<HostAnswer>}
   */
  ask(request) {
    const id = ++this.number;
    return new Promise((done, fail) => {
      this.waiting.set(id, { done, fail });
      this.model.send({ id, ...request });
    });
  }
}
