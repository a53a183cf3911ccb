// The module's bytes, and their compilation.

import { HostError } from "../host_error.js";
import { unpacked } from "../hosts/unpacking.js";

/** eyeline/kernels/wasm/kernels.wasm, deflated, in base64: inserted where modules are joined. */
export const MODULE = "";

/** @type {Promise<WebAssembly.Module> | null} */
let compiling = null;

/** @type {() => Promise<WebAssembly.Module>} */
const compile = async () => {
  const bytes = await unpacked(MODULE);
  try {
    return await WebAssembly.compile(bytes);
  } catch (error) {
    // Forbidden by a policy, switched off, or too old for vectors: in any case this page can't compute here.
    throw new HostError({ argument: "webassembly", message: String(error) });
  }
};

/** The compiled module: compiled once, for this thread and the worker. Fails where WebAssembly is forbidden. */
export const compiledModule = () => (compiling ??= compile());
