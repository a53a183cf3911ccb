// The main thread's kernel, for what is read at once: a row, a short head.

import { Kernel } from "./kernel.js";
import { compiledModule } from "./module.js";

/** @type {Promise<Kernel> | null} */
let starting = null;

/** The kernel of this document's main thread. Fails where WebAssembly is forbidden. */
export const pageKernel = () => (starting ??= compiledModule().then((module) => Kernel.start(module)));
