// The host of a file that holds effects: what happens when heads are cut.

import { createMatters } from "../matters/matters.js";
import { show } from "./file.js";

/** Show the page in this file. @type {(main: Main) => Promise<void>} */
export const start = async (main) => {
  await show(main, { createMatters });
};
