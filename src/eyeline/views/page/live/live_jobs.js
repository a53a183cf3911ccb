// The jobs of a live page's worker: its weights arrive, a model is made of them, texts run, requests are answered.

import { HostError } from "../weights/host_client.js";
import { bytesOf, StoredWeights } from "./stored_weights.js";
