// Loading a model into a kernel: an encoder, or an encoder-decoder.

import { readConfig } from "./config.js";
import { Encoder } from "./encoder.js";
import { EncoderDecoder } from "./encoder_decoder.js";
import { following } from "./running.js";
import { Tensors } from "./tensors.js";

/**
 * A model of a file's weights, whose matrices are widened into the kernel's memory, layer by layer.
 * @param {Kernel} kernel
 * @param {LiveWeights} files
 * @param {Followed & { told?: (layers: [done: number, count: number]) => void }} options
 * @returns {Promise<Encoder | EncoderDecoder>}
 */
export const loadModel = async (kernel, files, options = {}) => {
  const config = readConfig(files.config);
  const weights = new Tensors(files.tensors);
  const count = config.layers + config.decoderLayers;
  const next = following(options);
  const Kind = config.kind === "encoder" ? Encoder : EncoderDecoder;
  const model = new Kind(kernel, files.name, config, weights);
  for (let left = count; left > 0; ) {
    await next();
    left = model.readLayer();
    options.told?.([count - left, count]);
  }
  return model;
};
