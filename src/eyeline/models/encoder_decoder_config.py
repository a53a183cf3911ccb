"""The configuration of an encoder-decoder."""

from __future__ import annotations

from dataclasses import dataclass

from eyeline.models.config import Config, ConfigSettings
from eyeline.words import worded

#: config.json's model_type.
ENCODER_DECODER = "eyeline-encoder-decoder"


@dataclass(frozen=True)
class EncoderDecoderConfig(Config):
    """The configuration of an encoder-decoder; its `layers` are the encoder's.

    Attributes:
        decoder_layers: the number of the decoder's layers.
        start, end: the tokens before the first that is written, and after the last.
        most_written: the most tokens that it writes, the end included.
    """

    decoder_layers: int
    start: int
    end: int
    most_written: int


def encoder_decoder_config(settings: ConfigSettings) -> EncoderDecoderConfig:
    """An encoder-decoder's configuration, from its settings."""
    width, heads = settings.whole("d_model"), settings.whole("num_attention_heads")
    if width % heads:
        settings.wrong("num_attention_heads", worded("a divisor of d_model, {width}", width=width))
    vocabulary, positions = settings.whole("vocab_size"), settings.whole("max_position_embeddings")
    most = settings.whole("max_length")
    if most > positions:
        settings.wrong("max_length", worded("at most max_position_embeddings, {positions}", positions=positions))
    start, end = (settings.whole(name, least=0) for name in ("decoder_start_token_id", "eos_token_id"))
    for name, token in (("decoder_start_token_id", start), ("eos_token_id", end)):
        if token >= vocabulary:
            settings.wrong(name, worded("below vocab_size, {vocabulary}", vocabulary=vocabulary))
    return EncoderDecoderConfig(
        ENCODER_DECODER,
        vocabulary,
        positions,
        settings.whole("encoder_layers"),
        heads,
        heads,
        width // heads,
        width,
        settings.whole("intermediate_size"),
        settings.activation("hidden_act", "relu"),
        settings.number("layer_norm_eps", 1e-5, 1),
        settings.whole("decoder_layers"),
        start,
        end,
        most,
    )
