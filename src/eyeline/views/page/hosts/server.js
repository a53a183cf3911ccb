// The host of a page of texts on the local server: it runs texts and opens files.

import { createEditing } from "../editing/editing.js";
import { createMatters } from "../matters/matters.js";
import { createSources } from "../sources/sources.js";
import { createPrompt } from "./prompt.js";
import { found, ServerModel, show } from "./server_model.js";

/** The model object. A host that has `run` takes new texts. */
class TextServer extends ServerModel {
  /** @param {Header} header */
  constructor(header) {
    super(header);
    this.createPrompt = createPrompt;
  }

  /**
   * Run a text, {text, model, mask, scale}, or open a file, {file, …}. `told` is called with its progress. Returns the
   * index of its trace and the current header, which includes other windows' traces; null if it was cancelled.
   * @param {RunRequest} request
   * @param {(report: RunReport) => void} told
   */
  async run(request, told) {
    const report = await this.follow("api/texts", request, told);
    return report && { trace: report.trace, header: await found("api/header") };
  }
}

/** Show the page. @type {(main: Main) => Promise<void>} */
export const start = (main) => show(main, (header) => new TextServer(header), { createEditing, createMatters, createSources });
