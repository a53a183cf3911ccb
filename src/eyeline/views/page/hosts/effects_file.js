// The host of a file that holds effects: what happens when heads are cut.

import { createMatters } from "../matters/matters.js";
import { showText } from "./text_file.js";

/** Show the page in this file. @type {(main: Main) => Promise<void>} */
export const start = async (main) => {
  await showText(main, { createMatters });
};
