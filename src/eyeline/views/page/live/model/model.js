// Loading a model into a kernel: an encoder, or an encoder-decoder.

import { readConfig } from "./config.js";
import { Encoder } from "./encoder.js";
import { EncoderDecoder } from "./encoder_decoder.js";
import { Partner } from "./partner.js";
import { following } from "./running.js";
import { Tensors } from "./tensors.js";

/**
 * A model of a file's weights, whose matrices are widened into the kernel's memory, layer by layer.
 * @param {Kernel} kernel
 * @param {LiveWeights} files
 * @param {Followed & { told?: (layers: [done: number, count: number]) => void, partner?: MessagePort }} options with a
 *   partner, a port to another worker that serves as one (`servePartner`), an encoder's work is shared with it
 * @returns {Promise<Encoder | EncoderDecoder>}
 */
export const loadModel = async (kernel, files, options = {}) => {
  const config = readConfig(files.config);
  const weights = new Tensors(files.tensors);
  const count = config.layers + config.decoderLayers;
  const next = following(options);
  const shared = options.partner && config.kind === "encoder" && config.heads > 1;
  const partner = shared ? new Partner(/** @type {MessagePort} */ (options.partner), config) : null;
  const ready = partner?.load(files);
  const model = config.kind === "encoder"
    ? new Encoder(kernel, files.name, config, weights, partner)
    : new EncoderDecoder(kernel, files.name, config, weights);
  for (let left = count; left > 0; ) {
    await next();
    left = model.readLayer();
    options.told?.([count - left, count]);
  }
  await ready;
  return model;
};
