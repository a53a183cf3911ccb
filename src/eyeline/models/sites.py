"""What edits can change in one of Eyeline's models."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.edits import Kind, ModelEdits
from eyeline.edits.model_edits import Sites
from eyeline.models.config import Config
from eyeline.models.encoder_decoder_config import EncoderDecoderConfig


def sites(config: Config) -> Sites:
    """A model's layers, by their kind, and its heads."""
    if isinstance(config, EncoderDecoderConfig):
        written = config.decoder_layers
        kinds: dict[Kind, int] = {"encoder self": config.layers, "decoder self": written, "cross": written}
        return Sites(kinds, config.heads, config.heads)
    return Sites({"decoder self" if config.causal else "encoder self": config.layers}, config.heads, config.key_heads)


def model_edits(edits: Any, config: Config, lengths: NDArray[np.int64] | None = None) -> ModelEdits | None:
    """Edits, checked against a model; None if there are none.

    Args:
        edits: edits, or those of a model, which are returned as they are.
        config: the model's configuration.
        lengths: the real number of tokens of each text of a batch, (B,), if it is padded at the end.

    Raises:
        TypeError: if one of them isn't an edit.
        EditError: if the model hasn't such a layer or head.
    """
    found = edits if isinstance(edits, ModelEdits) else ModelEdits(edits, sites(config))
    if not found:
        return None
    return found if lengths is None else found.padded(lengths)
