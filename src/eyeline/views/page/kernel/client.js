// The page's side of the worker: jobs that are asked for, cancelled and answered. Where no worker can be had, the same
// jobs run on the main thread, in slices.

import { HostError } from "../host_error.js";
import { Kernel } from "./kernel.js";
import { compiledModule } from "./module.js";
import { Cancelled, crossing, runner } from "./serving.js";
import { WORKER } from "./worker_text.js";

/** @typedef {{ done: (reply: any) => void, fail: (error: Error) => void, told: (progress: any) => void }} Waiting */
/** @typedef {{ post: (message: { id?: number, job?: string, request?: any, cancel?: number }, transfer?: Transferable[]) => void, end: () => void }} Channel */

/** An error that crossed from a worker. @type {(error: CrossingError) => Error} */
const restored = ({ argument, message, values, cancelled }) => {
  if (cancelled) return new Cancelled();
  return argument === null ? new Error(message) : new HostError({ argument, message, values });
};

/** Asks a worker's kernel for jobs. */
export class KernelClient {
  /** @param {Jobs} jobs those of the worker, for where none can be had */
  constructor(jobs) {
    this.jobs = jobs;
    this.number = 0;
    /** @type {Map<number, Waiting>} */
    this.waiting = new Map();
    /** @type {Promise<Channel> | null} */
    this.channel = null;
    /** Whether jobs run in a worker; null until that is known. @type {boolean | null} */
    this.apart = null;
  }

  /**
   * The answer to a job. Rejected with `Cancelled` once the signal is aborted.
   * @param {string} job
   * @param {any} request copied to the worker, except for buffers to transfer
   * @param {{ signal?: AbortSignal, told?: (progress: any) => void, transfer?: Transferable[] }} [options]
   * @returns {Promise<any>}
   */
  async ask(job, request, { signal, told = () => {}, transfer } = {}) {
    const channel = await this.open();
    if (signal?.aborted) throw new Cancelled();
    const id = ++this.number;
    return new Promise((done, fail) => {
      const cancel = () => {
        this.waiting.delete(id);
        channel.post({ cancel: id });
        fail(new Cancelled());
      };
      const over = () => signal?.removeEventListener("abort", cancel);
      this.waiting.set(id, {
        done: (reply) => {
          over();
          done(reply);
        },
        fail: (error) => {
          over();
          fail(error);
        },
        told,
      });
      signal?.addEventListener("abort", cancel);
      channel.post({ id, job, request }, transfer);
    });
  }

  /** Start the worker, if it isn't started. */
  open() {
    return (this.channel ??= this._opened());
  }

  /** End the worker and all its jobs. */
  async end() {
    (await this.channel)?.end();
  }

  async _opened() {
    const module = await compiledModule();
    const worker = await this._worker(module).catch(() => null);
    this.apart = worker !== null;
    return worker ?? this._local(module);
  }

  /** @param {any} message */
  _heard({ id, reply, error, progress }) {
    const waiting = this.waiting.get(id);
    if (!waiting) return;
    if (progress !== undefined) {
      waiting.told(progress);
      return;
    }
    this.waiting.delete(id);
    if (error) waiting.fail(restored(error));
    else waiting.done(reply);
  }

  /**
   * @param {WebAssembly.Module} module
   * @returns {Promise<Channel>}
   */
  _worker(module) {
    return new Promise((done, fail) => {
      const url = URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
      const worker = new Worker(url);
      let begun = false;
      worker.onerror = (event) => {
        event.preventDefault();
        worker.terminate();
        const error = new Error(event.message);
        fail(error);
        if (!begun) return;
        // It ended later, such as without memory: nobody would answer. The next job gets a worker of its own.
        for (const waiting of this.waiting.values()) waiting.fail(error);
        this.waiting.clear();
        this.channel = null;
      };
      worker.onmessage = ({ data }) => {
        if (data.started === undefined) {
          this._heard(data);
          return;
        }
        URL.revokeObjectURL(url);
        if (data.started) {
          begun = true;
          done({ post: (message, transfer = []) => worker.postMessage(message, transfer), end: () => worker.terminate() });
        } else {
          worker.terminate();
          fail(restored(data.error));
        }
      };
      worker.postMessage({ module });
    });
  }

  /**
   * @param {WebAssembly.Module} module
   * @returns {Promise<Channel>}
   */
  async _local(module) {
    const jobs = runner(await Kernel.start(module), this.jobs);
    return {
      post: ({ id = 0, job = "", request, cancel }) => {
        if (cancel) {
          jobs.cancel(cancel);
          return;
        }
        jobs.ask(id, job, request, (progress) => this._heard({ id, progress })).then(
          ({ transfer: _, ...reply } = {}) => this._heard({ id, reply }),
          (error) => this._heard({ id, error: crossing(error) }),
        );
      },
      end: () => {},
    };
  }
}
