"""Tiny models for the tests of `el.edit`, what each is given, and where its attention is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from hugging import SIZES, VOCABULARY, bert, llama, made, padded, t5, text
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    ViTConfig,
    ViTModel,
    WhisperConfig,
    WhisperForConditionalGeneration,
)

SEQ2SEQ: dict[str, Any] = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "vocab_size": VOCABULARY,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 3,
}


def gpt2() -> Any:
    return made(GPT2LMHeadModel, GPT2Config(n_embd=32, n_layer=2, n_head=4, vocab_size=VOCABULARY, eos_token_id=None))


def bart(**changes: Any) -> Any:
    config = BartConfig(**{**SEQ2SEQ, **changes}, forced_eos_token_id=None, max_position_embeddings=64)
    return made(BartForConditionalGeneration, config)


def whisper() -> Any:
    config = WhisperConfig(**SEQ2SEQ, num_mel_bins=8, max_source_positions=10, max_target_positions=20)
    return made(WhisperForConditionalGeneration, config)


def vit() -> Any:
    sizes = {name: size for name, size in SIZES.items() if name != "vocab_size"}
    return made(ViTModel, ViTConfig(**sizes, image_size=16, patch_size=4))


class Case(NamedTuple):
    """A model, and one layer of one kind of its attention.

    Attributes:
        make: makes the model.
        kind, layer: the layer, for an edit.
        path: its module.
        pads: on which sides the texts can be padded.
        trace: the kind of a trace of it.
    """

    make: Callable[[], Any]
    kind: Any
    layer: int
    path: str
    pads: tuple[str | None, ...] = (None,)
    trace: str = "encoder"


CASES = {
    "bert": Case(bert, None, 1, "encoder.layer.1.attention.self", (None, "right", "left")),
    "llama": Case(llama, None, 0, "model.layers.0.self_attn", (None, "left", "right"), "decoder"),
    "gpt2": Case(gpt2, None, 1, "transformer.h.1.attn", (None, "left"), "decoder"),
    "t5 encoder": Case(t5, "encoder self", 0, "encoder.block.0.layer.0.SelfAttention", (None, "right")),
    "t5 decoder": Case(t5, "decoder self", 1, "decoder.block.1.layer.0.SelfAttention", (None, "right"), "decoder"),
    "t5 cross": Case(t5, "cross", 0, "decoder.block.0.layer.1.EncDecAttention", (None, "right", "left"), "cross"),
    "bart encoder": Case(bart, "encoder self", 1, "model.encoder.layers.1.self_attn", ("right",)),
    "bart decoder": Case(bart, "decoder self", 2, "model.decoder.layers.2.self_attn", ("right",), "decoder"),
    "bart cross": Case(bart, "cross", 2, "model.decoder.layers.2.encoder_attn", ("right",), "cross"),
    "whisper encoder": Case(whisper, "encoder self", 1, "model.encoder.layers.1.self_attn"),
    "whisper decoder": Case(whisper, "decoder self", 0, "model.decoder.layers.0.self_attn", trace="decoder"),
    "whisper cross": Case(whisper, "cross", 1, "model.decoder.layers.1.encoder_attn", trace="cross"),
    "vit": Case(vit, None, 1, "layers.1.attention"),
}
EVERY = [(name, pad) for name, case in CASES.items() for pad in case.pads]


def inputs_of(model: Any, pad: str | None) -> dict[str, Any]:
    """Two texts, or pictures; three tokens of the second are padding."""
    if model.config.model_type == "vit":
        return {"pixel_values": torch.randn(2, 3, 16, 16, generator=torch.Generator().manual_seed(1))}
    target = text(7, seed=1)
    if model.config.model_type == "whisper":
        sound = torch.randn(2, 8, 20, generator=torch.Generator().manual_seed(1))
        return {"input_features": sound, "decoder_input_ids": target}
    ids = text()
    given = {"input_ids": ids, "attention_mask": torch.ones_like(ids) if pad is None else padded(ids, 3, pad)}
    if not model.config.is_encoder_decoder:
        return given
    mask = torch.ones_like(target) if pad is None else padded(target, 3, "right")
    return {**given, "decoder_input_ids": target, "decoder_attention_mask": mask}


def with_sharp_heads(model: Any) -> Any:
    """The model with larger weights: as most are drawn, heads look almost everywhere alike."""
    if model.config.model_type == "t5":
        return model
    with torch.no_grad():
        for weights in model.parameters():
            if weights.ndim > 1:
                weights *= 6
    return model


def places(case: Case, given: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """The positions of queries and keys, (B, N) and (B, M), as the texts' masks say; -1 for padding."""
    source, target = given.get("attention_mask"), given.get("decoder_attention_mask")
    if "pixel_values" in given:
        source = torch.ones(2, 17)
    if "input_features" in given:
        source, target = torch.ones(2, 10), torch.ones(2, 7)
    encoder, decoder = (
        None if x is None else torch.where(x == 1, x.cumsum(1) - 1, -1).long() for x in (source, target)
    )
    if case.kind == "cross":
        return decoder, encoder
    own = decoder if case.kind == "decoder self" else encoder
    return own, own


def real_outputs(case: Case, model: Any, given: dict[str, Any]) -> torch.Tensor:
    """The model's first output, and 0 where the text is padding."""
    output = model(**given)[0]
    mask = given.get("decoder_attention_mask", given.get("attention_mask"))
    return output if mask is None else output * mask[..., None]
