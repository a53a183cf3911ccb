// The worker's modules, bundled: inserted where modules are joined.

export const WORKER = "";
