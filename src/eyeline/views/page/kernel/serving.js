// The worker's side: jobs by their names. Several may be under way: each works while another takes breath.

import { HostError, messageOf } from "../host_error.js";
import { Kernel } from "./kernel.js";

/** Thrown where nobody wants a job's answer any more. */
export class Cancelled extends Error {
  constructor() {
    super("cancelled");
    this.name = "Cancelled";
  }
}

/** An error as it crosses from a worker. @type {(error: unknown) => CrossingError} */
export const crossing = (error) => ({
  argument: error instanceof HostError ? error.argument : null,
  message: messageOf(error),
  values: error instanceof HostError ? error.values : undefined,
  cancelled: error instanceof Cancelled,
});

/** Let messages come in. @type {() => Promise<void>} */
const pause = () =>
  new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      done();
    };
    port2.postMessage(null);
  });

/**
 * The jobs of a kernel, on the thread that this runs on.
 * @param {Kernel} kernel
 * @param {Jobs} jobs
 */
export const runner = (kernel, jobs) => {
  /** @type {Map<number, boolean>} Whether each unfinished job is cancelled. */
  const open = new Map();

  /**
   * @param {number} id
   * @param {string} job
   * @param {any} request
   * @param {(progress: any) => void} told
   */
  const done = async (id, job, request, told) => {
    const cancelled = () => open.get(id) === true;
    const check = () => {
      if (cancelled()) throw new Cancelled();
    };
    check();
    if (!jobs[job]) throw new Error(`job must be one of ${Object.keys(jobs).join(", ")}, got ${job}`);
    /** @type {Turn} */
    const turn = {
      cancelled,
      told,
      breathe: async () => {
        await pause();
        check();
      },
    };
    return jobs[job](kernel, request, turn);
  };

  return {
    /** @type {(id: number, job: string, request: any, told: (progress: any) => void) => Promise<any>} */
    ask: (id, job, request, told) => {
      open.set(id, false);
      return done(id, job, request, told).finally(() => open.delete(id));
    },
    /** @type {(id: number) => void} */
    cancel: (id) => {
      if (open.has(id)) open.set(id, true);
    },
  };
};

/** Serve jobs in a worker: the first message brings the module. @param {Jobs} jobs */
export const serve = (jobs) => {
  const scope = /** @type {any} */ (globalThis);
  /** @type {Promise<ReturnType<typeof runner>> | null} */
  let started = null;
  scope.onmessage = async (/** @type {MessageEvent} */ { data }) => {
    const { id, module, job, request, cancel } = data;
    if (module) {
      started = Kernel.start(module).then((kernel) => runner(kernel, jobs));
      await started.then(
        () => scope.postMessage({ started: true }),
        (error) => scope.postMessage({ started: false, error: crossing(error) }),
      );
      return;
    }
    const jobRunner = await started;
    if (cancel) {
      jobRunner?.cancel(cancel);
      return;
    }
    try {
      const answer = await jobRunner?.ask(id, job, request, (progress) => scope.postMessage({ id, progress }));
      const { transfer = [], ...reply } = answer ?? {};
      scope.postMessage({ id, reply }, transfer);
    } catch (error) {
      scope.postMessage({ id, error: crossing(error) });
    }
  };
};
