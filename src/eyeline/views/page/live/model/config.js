// A model's config.json, read: an encoder of the BERT family, or Eyeline's encoder-decoder.

/** The kernel's names by config.json's: Python's models/activations.py. @type {Record<string, ActivationName>} */
const ACTIVATIONS = {
  gelu: "gelu", gelu_new: "gelu_tanh", gelu_pytorch_tanh: "gelu_tanh", relu: "relu", silu: "silu",
};

/**
 * A model's configuration. The file's maker has checked it; what isn't there throws an error that names it.
 * @type {(settings: Record<string, unknown>) => LiveConfig}
 */
export const readConfig = (settings) => {
  const whole = wholeOf(settings);
  const kind = settings.model_type;
  if (kind !== "bert" && kind !== "eyeline-encoder-decoder") {
    throw new Error(`model_type must be bert or eyeline-encoder-decoder, got ${kind}; make the file again`);
  }
  const encoder = kind === "bert";
  const [width, heads] = [whole(encoder ? "hidden_size" : "d_model"), whole("num_attention_heads")];
  return {
    kind: encoder ? "encoder" : "encoder-decoder",
    layers: whole(encoder ? "num_hidden_layers" : "encoder_layers"),
    heads,
    headDim: width / heads,
    width,
    innerWidth: whole("intermediate_size"),
    activation: ACTIVATIONS[String(settings.hidden_act ?? (encoder ? "gelu" : "relu"))],
    epsilon: Number(settings.layer_norm_eps ?? (encoder ? 1e-12 : 1e-5)),
    vocabulary: whole("vocab_size"),
    positions: whole("max_position_embeddings"),
    decoderLayers: encoder ? 0 : whole("decoder_layers"),
    start: encoder ? 0 : whole("decoder_start_token_id"),
    end: encoder ? 0 : whole("eos_token_id"),
    mostWritten: encoder ? 0 : whole("max_length"),
  };
};

/** @param {Record<string, unknown>} settings */
const wholeOf = (settings) => (/** @type {string} */ name) => {
  const value = settings[name];
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  throw new Error(`${name} must be a whole number, got ${value}; make the file again`);
};
