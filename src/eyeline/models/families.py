"""The BERT family: one encoder, whose settings and weights have different names in each kind of checkpoint."""

from __future__ import annotations

from dataclasses import dataclass, field

from eyeline.models.config import Config, ConfigSettings
from eyeline.models.errors import ModelError
from eyeline.words import worded

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
        prefix: the prefix of all names in a file that also has a task head.
        stack: the prefix of the parts of layer {}.
        parts: the name of each part of a layer.
        settings: the name in config.json of each setting.
        positions_after_padding: whether positions count from the padding token's id + 1, as RoBERTa's, and not from 0.
        norm_epsilon: the layer norms' epsilon, if config.json doesn't have it.
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


@dataclass(frozen=True)
class EncoderConfig(Config):
    """The configuration of an encoder.

    Attributes:
        first_position: the first token's row of the position embeddings.
        token_types: the number of token types; 0 if it has none.
    """

    first_position: int
    token_types: int = 0

    @property
    def family(self) -> Family:
        """The names in its checkpoints."""
        return FAMILIES[self.model_type]


def encoder_config(settings: ConfigSettings) -> EncoderConfig:
    """An encoder's configuration, from its settings."""
    kind = settings.get("model_type")
    family = FAMILIES[kind]
    if settings.get("is_decoder") or settings.get("add_cross_attention"):
        raise ModelError(
            worded(
                "{path}: a model of type {kind} must be an encoder, got a decoder (is_decoder or add_cross_attention)",
                path=settings.path,
                kind=kind,
            )
        )
    if settings.get("position_embedding_type") not in (None, "absolute"):
        settings.wrong("position_embedding_type", "absolute")
    defaults = {"type_vocab_size": 2}  # as in transformers; config.json always has the other sizes
    value = {
        ours: settings.whole(theirs, defaults.get(theirs))
        for ours, theirs in family.settings.items()
        if ours != "activation"
    }
    if value["width"] % value["heads"]:
        heads, width = family.settings["heads"], family.settings["width"]
        settings.wrong(heads, f"a divisor of {width}, {value['width']}")
    first = 0
    if family.positions_after_padding:
        first = 1 + settings.whole("pad_token_id", 1, least=0)
        if first >= value["positions"]:
            settings.wrong("max_position_embeddings", f"more than {first}")
    value["positions"] -= first
    return EncoderConfig(
        kind,
        activation=settings.activation(family.settings["activation"], "gelu"),
        norm_epsilon=settings.number("layer_norm_eps", family.norm_epsilon, 1),
        first_position=first,
        key_heads=value["heads"],
        head_dim=value["width"] // value["heads"],
        **value,
    )
