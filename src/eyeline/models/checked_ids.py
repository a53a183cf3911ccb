"""Checks of a batch of token ids, and of the texts' lengths in it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.models.config import Config
from eyeline.models.errors import ModelError
from eyeline.words import worded


def real_lengths(ids: ArrayLike, lengths: ArrayLike | None) -> NDArray[np.int64] | None:
    """The real number of tokens of each text, checked; None if none are padded."""
    if lengths is None:
        return None
    real, B = np.asarray(lengths), len(np.asarray(ids))
    if real.shape != (B,):
        raise ValueError(
            worded("lengths must be {B} whole numbers, one per row of ids, got shape {shape}", B=B, shape=real.shape)
        )
    return real


def checked_ids(ids: ArrayLike, name: str, config: Config) -> NDArray[np.int64]:
    """The ids as an array (B, N), checked against a model's positions and vocabulary."""
    try:
        array = np.asarray(ids)
    except ValueError:
        raise ValueError(
            worded("ids must be rows of one length, got rows of several; pad them and give lengths=")
        ) from None
    if array.ndim != 2 or not array.size:
        raise ValueError(
            worded("ids must be (texts, tokens), at least one of each, got shape {shape}", shape=array.shape)
        )
    if array.shape[1] > config.positions:
        raise ModelError(
            worded(
                "{name} has {positions} positions, got {shape} tokens, special ones included; give it a "
                "shorter text, or take a model with more positions",
                name=name,
                positions=config.positions,
                shape=array.shape[1],
            )
        )
    return in_vocabulary(config, array)


def in_vocabulary(config: Config, array: NDArray[Any]) -> NDArray[np.int64]:
    """Ids as whole numbers, checked against a model's vocabulary."""
    if not np.issubdtype(array.dtype, np.integer):
        raise ValueError(worded("ids must be whole numbers, got {dtype}", dtype=array.dtype))
    size, low, high = config.vocabulary_size, int(array.min()), int(array.max())
    if low < 0 or high >= size:
        raise ValueError(
            worded(
                "ids must be from 0 to {size}, got {what}; use this model's own tokens()",
                size=size - 1,
                what=low if low < 0 else high,
            )
        )
    return array.astype(np.int64)
