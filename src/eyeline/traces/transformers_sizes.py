"""The sizes of a model of transformers, by its configuration."""

from __future__ import annotations

from typing import Any

from eyeline.traces.errors import TraceError
from eyeline.words import worded

#: Tokenizers without a limit report a number larger than this.
_NO_LIMIT = 10**9


def layers_and_heads(config: Any, text: Any, kind: str | None) -> tuple[int, int]:
    """The numbers of layers and heads in the recorded part, by the configuration; a trace's own counts are final."""
    if kind is None:
        return size(text, "num_hidden_layers"), size(text, "num_attention_heads")
    layers = [f"{kind}_layers", *(["num_decoder_layers"] if kind == "decoder" else []), "num_hidden_layers"]
    found = (config, text)[not any(isinstance(getattr(config, name, None), int) for name in layers)]
    return size(found, *layers), size(found, f"{kind}_attention_heads", "num_attention_heads")


def size(config: Any, *names: str) -> int:
    """The first of these sizes that the configuration has."""
    for name in names:
        value = getattr(config, name, None)
        if isinstance(value, int):
            return value
    raise TraceError(
        worded("model.config must say {name}, got none; read its weights with eyeline.watch", name=names[-1])
    )


def positions(config: Any, tokenizer: Any) -> int | None:
    """The model's maximum number of tokens: RoBERTa's configuration has two positions too many."""
    room = getattr(config, "max_position_embeddings", None)
    if not isinstance(room, int) or room < 1:
        return None
    known = getattr(tokenizer, "model_max_length", None)
    return min(room, known) if isinstance(known, int) and known < _NO_LIMIT else room
