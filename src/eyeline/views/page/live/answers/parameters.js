// Where a model's weights have what the answers show of it: names of tensors, by the kind of model.

/** Whether a model is an encoder-decoder. @type {(model: LiveModel) => boolean} */
export const isEncoderDecoder = ({ config }) => config.kind === "encoder-decoder";

/** The name of the embedding matrix. @type {(model: LiveModel) => string} */
export const embeddingName = (model) =>
  isEncoderDecoder(model) ? "letters.weight" : "embeddings.word_embeddings.weight";

/**
 * The names of the linear layers of one layer's attention.
 * @type {(model: LiveModel, kind: TraceEntry["kind"], layer: number) => Record<"query" | "key" | "value" | "output", string>}
 */
export const attentionNames = (model, kind, layer) => {
  if (!isEncoderDecoder(model)) {
    const own = `encoder.layer.${layer}.attention`;
    return { query: `${own}.self.query`, key: `${own}.self.key`, value: `${own}.self.value`, output: `${own}.output.dense` };
  }
  const part = kind === "encoder" ? `encoder.${layer}.attention` : `decoder.${layer}.${kind === "cross" ? "cross" : "attention"}`;
  return { query: `${part}.query`, key: `${part}.key`, value: `${part}.value`, output: `${part}.output` };
};
