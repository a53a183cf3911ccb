"""The BERT family: one encoder under several names. What each kind of checkpoint calls its settings and its weights."""

from __future__ import annotations

from dataclasses import dataclass, field

# The parts of one layer, as BERT names them.
_LAYER = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attended": "attention.output.dense",
    "attended_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "output": "output.dense",
    "output_norm": "output.LayerNorm",
}
_SETTINGS = {
    "vocabulary_size": "vocab_size",
    "positions": "max_position_embeddings",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "width": "hidden_size",
    "feed_forward_width": "intermediate_size",
    "activation": "hidden_act",
    "token_types": "type_vocab_size",
}
# DistilBERT's, which has no token types.
_DISTILBERT_SETTINGS = {
    "vocabulary_size": "vocab_size",
    "positions": "max_position_embeddings",
    "layers": "n_layers",
    "heads": "n_heads",
    "width": "dim",
    "feed_forward_width": "hidden_dim",
    "activation": "activation",
}


@dataclass(frozen=True)
class Family:
    """How one kind of checkpoint differs from BERT.

    Attributes:
        prefix: what may stand before every name in a file that has a task head beside the encoder.
        stack: what stands before the parts of layer {}.
        parts: the name of each part of a layer.
        settings: the name in config.json of each setting.
        positions_after_padding: whether positions count from the padding token's id + 1, as RoBERTa's, and not from 0.
        norm_epsilon: the layer norms' epsilon, where config.json doesn't say it.
    """

    prefix: str
    stack: str = "encoder.layer.{}."
    parts: dict[str, str] = field(default_factory=lambda: _LAYER)
    settings: dict[str, str] = field(default_factory=lambda: _SETTINGS)
    positions_after_padding: bool = False
    norm_epsilon: float = 1e-12


_ROBERTA = Family("roberta.", positions_after_padding=True)
_DISTILBERT = Family(
    "distilbert.",
    stack="transformer.layer.{}.",
    parts={
        "query": "attention.q_lin",
        "key": "attention.k_lin",
        "value": "attention.v_lin",
        "attended": "attention.out_lin",
        "attended_norm": "sa_layer_norm",
        "inner": "ffn.lin1",
        "output": "ffn.lin2",
        "output_norm": "output_layer_norm",
    },
    settings=_DISTILBERT_SETTINGS,
)

# By config.json's model_type.
FAMILIES = {
    "bert": Family("bert."),
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
    "camembert": _ROBERTA,
    "electra": Family("electra."),
    "distilbert": _DISTILBERT,
}
