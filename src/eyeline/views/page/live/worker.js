// The worker of a live page: an ordinary page's jobs, and those of its models.

import { JOBS } from "../kernel/jobs.js";
import { serve } from "../kernel/serving.js";
import { liveJobs } from "./live_jobs.js";

/** Begin to serve. */
export const start = () => serve({ ...JOBS, ...liveJobs() });
