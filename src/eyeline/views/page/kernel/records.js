// What a call of the module looks like: eyeline/kernels/wasm/records.json, inserted where modules are joined.

/** @type {KernelRecords} */
export const RECORDS = /** @type {any} */ ({});
