"""The vectors of words in a trace, and the pairs of words that its masks hide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.unit_weights import Array, by_unit
from eyeline.models.units import Unit
from eyeline.traces import LayerTrace, Trace


def mean_vectors(trace: Trace, tokens: Sequence[int]) -> Array | None:
    """The mean of some tokens' vectors, for the embedding and after each layer, (L + 1, width); None if none were
    kept."""
    if trace.vectors is None:
        return None
    places = [trace.vector_tokens.index(token) for token in tokens]
    total: Array = np.asarray(trace.vectors[:, places], np.float64).sum(axis=1)
    return total / max(len(places), 1)


def hidden_units(layer: LayerTrace, units: Sequence[Unit]) -> NDArray[np.bool_] | None:
    """Which pairs (query unit, key unit) the mask of every head hides, (U, U); None if there are none."""
    if layer.allowed.kind == "all":
        return None
    allowed = np.any(layer.allowed.dense(layer.q.shape[1], layer.k.shape[1]), axis=0, keepdims=True)[0]
    return np.asarray(by_unit(allowed, units) == 0)
