// The requests of a page about the runs that were made in it, and what is made of a run.

import { answerHead } from "./head.js";
import { answerNearest } from "./nearest.js";
import { answerOverview, answerPicture } from "./pictures.js";
import { answerPositions } from "./positions.js";
import { answerProducts } from "./products.js";
import { answerProjections } from "./projections.js";
import { RequestRefused } from "./refusal.js";

/** @type {Record<string, (kernel: Kernel, traces: (LiveTrace | null)[], request: Record<string, any>) => LiveAnswer>} */
const KINDS = {
  head: answerHead,
  nearest: answerNearest,
  overview: answerOverview,
  picture: answerPicture,
  positions: answerPositions,
  products: answerProducts,
  projections: answerProjections,
};

/** Whether a request of this kind can be answered here. @type {(kind: string) => boolean} */
export const answers = (kind) => Object.hasOwn(KINDS, kind);

/**
 * Answer a request about runs, as docs/page-format.md describes: the reply, and the bytes of its arrays, which the
 * caller may transfer. A request that can't be answered is replied to with its error.
 * @type {(kernel: Kernel, traces: (LiveTrace | null)[], request: Record<string, any>) => LiveAnswer}
 */
export const answer = (kernel, traces, request) => {
  const { id, kind } = request;
  try {
    if (!answers(kind)) {
      throw new RequestRefused("kind", `kind must be one of ${Object.keys(KINDS).join(", ")}, got ${String(kind).slice(0, 40)}`);
    }
    const { reply, buffers } = KINDS[kind](kernel, traces, request);
    return { reply: { id, kind, ...reply }, buffers };
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    return { reply: { id, error: { argument: error.argument, message: error.message } }, buffers: [] };
  }
};
