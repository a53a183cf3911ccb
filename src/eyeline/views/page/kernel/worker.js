// The worker of an ordinary page.

import { JOBS } from "./jobs.js";
import { serve } from "./serving.js";

/** Begin to serve. */
export const start = () => serve(JOBS);
