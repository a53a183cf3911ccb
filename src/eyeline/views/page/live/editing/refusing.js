// Why an edit can't be made: keys of the page's texts, and their values.

import { HostError } from "../../host_error.js";

/** The error of edits that can't be made. @type {(reason: string, values: Values, argument?: string) => HostError} */
export const refused = (reason, values, argument = "edits") =>
  new HostError({ argument, message: `live.edit.${reason}`, values });
