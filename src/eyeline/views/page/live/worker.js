// The worker of a live page: what the kernel's worker does, and a model that runs.

import { serve } from "../kernel/serving.js";
import { jobs } from "../kernel/worker_jobs.js";
import { liveJobs } from "./live_jobs.js";

serve({ ...jobs, ...liveJobs() });
