"""The configuration of a decoder: the Llama family, whose members differ in a few settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from eyeline.models.config import Config, ConfigSettings
from eyeline.models.rotary import Rotary, read_rotary
from eyeline.words import worded

#: By config.json's model_type.
DECODERS = ("llama", "mistral", "qwen2", "qwen3")


@dataclass(frozen=True)
class DecoderConfig(Config):
    """The configuration of a decoder.

    Attributes:
        rotary: the rotary positions of queries and keys.
        windows: for each layer, the number of tokens that a token may look at, itself and earlier ones; None for all.
        tied: whether the word embeddings are also the output matrix.
        attention_bias: whether the projections to queries, keys and values have biases.
        attended_bias: whether attention's output projection has a bias.
        feed_forward_bias: whether the feed-forward layers have biases.
        head_norms: whether each head's queries and keys are normed.
        ends: the tokens that end a text.
    """

    rotary: Rotary
    windows: tuple[int | None, ...]
    tied: bool
    attention_bias: bool
    attended_bias: bool
    feed_forward_bias: bool
    head_norms: bool
    ends: frozenset[int]

    causal: ClassVar[bool] = True


def decoder_config(settings: ConfigSettings) -> DecoderConfig:
    """A decoder's configuration, from its settings; defaults are as in transformers."""
    kind = settings.get("model_type")
    heads, width = settings.whole("num_attention_heads"), settings.whole("hidden_size")
    layers = settings.whole("num_hidden_layers")
    key_heads = settings.whole("num_key_value_heads", heads if kind == "llama" else None)
    if heads % key_heads:
        settings.wrong("num_key_value_heads", worded("a divisor of num_attention_heads, {heads}", heads=heads))
    if settings.get("head_dim") is None and kind != "qwen3" and width % heads:
        settings.wrong("num_attention_heads", worded("a divisor of hidden_size, {width}", width=width))
    head_dim = settings.whole("head_dim", 128 if kind == "qwen3" else width // heads)
    if head_dim % 2:
        settings.wrong("head_dim", worded("even"))
    biased = settings.flag("attention_bias") if kind in ("llama", "qwen3") else False
    vocabulary_size = settings.whole("vocab_size")
    return DecoderConfig(
        kind,
        vocabulary_size,
        settings.whole("max_position_embeddings"),
        layers,
        heads,
        key_heads,
        head_dim,
        width,
        settings.whole("intermediate_size"),
        settings.activation("hidden_act", "silu"),
        settings.number("rms_norm_eps", 1e-6, 1),
        read_rotary(settings, head_dim),
        _windows(settings, kind, layers),
        tied=settings.flag("tie_word_embeddings"),
        attention_bias=biased or kind == "qwen2",
        attended_bias=biased,
        feed_forward_bias=kind == "llama" and settings.flag("mlp_bias"),
        head_norms=kind == "qwen3",
        ends=_ends(settings),
    )


def _windows(settings: ConfigSettings, kind: str, layers: int) -> tuple[int | None, ...]:
    """Each layer's window. Mistral's is for all layers; Qwen's for the layers that it lists, or from one layer on."""
    if kind == "llama" or settings.get("sliding_window") is None:
        return (None,) * layers
    window = settings.whole("sliding_window")
    if kind == "mistral":
        return (window,) * layers
    if not settings.flag("use_sliding_window"):
        return (None,) * layers
    named = settings.get("layer_types")
    if named is None:
        full = settings.whole("max_window_layers", 28, least=0)
        return tuple(window if layer >= full else None for layer in range(layers))
    kinds = {"full_attention": None, "sliding_attention": window}
    if not isinstance(named, list) or len(named) != layers or not all(isinstance(x, str) and x in kinds for x in named):
        names = f" {worded('and')} ".join(kinds)
        settings.wrong("layer_types", worded("{layers} of {kinds}", layers=layers, kinds=names))
    return tuple(kinds[name] for name in named)


def _ends(settings: ConfigSettings) -> frozenset[int]:
    given = settings.get("eos_token_id")
    several = given if isinstance(given, list) else [] if given is None else [given]
    if not all(isinstance(end, int) and not isinstance(end, bool) for end in several):
        settings.wrong("eos_token_id", worded("a token id, or several"))
    return frozenset(several)
