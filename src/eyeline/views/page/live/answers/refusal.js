// The error of a request that can't be answered, and the checks of a request's keys; as Python's requests/request.py.

/** A request that can't be answered: the invalid key, and the rule for its value. */
export class RequestRefused extends Error {
  /**
   * @param {string} argument
   * @param {string} message
   */
  constructor(argument, message) {
    super(message);
    this.argument = argument;
  }
}

/**
 * The reply to a request, with its id and kind; or its error, if it can't be answered.
 * @type {(request: Record<string, any>, make: () => LiveAnswer | Promise<LiveAnswer>) => Promise<LiveAnswer>}
 */
export const replied = async ({ id, kind }, make) => {
  try {
    const { reply, buffers } = await make();
    return { reply: { id, kind, ...reply }, buffers };
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    return { reply: { id, error: { argument: error.argument, message: error.message } }, buffers: [] };
  }
};

/** A value as an error quotes it. @type {(value: unknown) => string} */
const quoted = (value) => (JSON.stringify(value) ?? "nothing").slice(0, 40);

/**
 * An integer of a request, checked.
 * @type {(request: Record<string, any>, name: string, least: number, most: number) => number}
 */
export const whole = (request, name, least, most) => {
  const value = request[name];
  if (Number.isInteger(value) && least <= value && value <= most) return value;
  throw new RequestRefused(name, `${name} must be a whole number from ${least} to ${most}, got ${quoted(value)}`);
};

/**
 * The indices [first, last) of a request, checked: within 0 to `count`, and not empty.
 * @type {(request: Record<string, any>, name: string, count: number) => [first: number, last: number]}
 */
export const span = (request, name, count) => {
  const value = request[name];
  if (Array.isArray(value) && value.length === 2 && value.every(Number.isInteger)) {
    const [first, last] = value;
    if (0 <= first && first < last && last <= count) return [first, last];
  }
  throw new RequestRefused(name, `${name} must be [first, last) within 0 to ${count}, got ${quoted(value)}`);
};

/**
 * The trace that a request names under `name`.
 * @type {(traces: (LiveTrace | null)[], request: Record<string, any>, name?: string) => LiveTrace}
 */
export const traceAt = (traces, request, name = "trace") => {
  const found = traces[whole(request, name, 0, traces.length - 1)];
  if (!found) throw new RequestRefused(name, `${name} must be one that was run here, got one without its run`);
  return found;
};

/** The layer and the head that a request names. @type {(trace: LiveTrace, request: Record<string, any>) => [layer: number, head: number]} */
export const placeAt = ({ entry: { model } }, request) =>
  [whole(request, "layer", 0, model.layers - 1), whole(request, "head", 0, model.heads - 1)];
