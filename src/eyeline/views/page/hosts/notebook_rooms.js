// What a notebook's page has beside the views: edits, and what matters. The kernel runs texts for it.

import { createEditing } from "../editing/editing.js";
import { createMatters } from "../matters/matters.js";
import { createSources } from "../sources/sources.js";

/** The page with these rooms. @type {(main: Main) => Main} */
export const start = (main) => ({
  render: (shown) => main.render({ ...shown, rooms: { createEditing, createMatters, createSources } }),
});
