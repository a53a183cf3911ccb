// The host of a survey's page on the local server: it opens documents in the page of texts beside it.

import { ServerModel, show } from "./server_model.js";

/** The model object. */
class SurveyServer extends ServerModel {
  /**
   * Record the window of an example's document. `told` is called with its progress. Returns the address of the page that
   * shows it at the example's head and token; null if it was cancelled.
   * @type {Required<DocumentOpener>["open"]}
   */
  async open(request, told) {
    const report = await this.follow("api/documents", request, told);
    const { layer, head } = request;
    return report && `text/#view=sentence&trace=${report.trace}&layer=${layer}&head=${head}&token=${report.token}`;
  }
}

/** Show the page. @type {(main: Main) => Promise<void>} */
export const start = (main) => show(main, (header) => new SurveyServer(header));
