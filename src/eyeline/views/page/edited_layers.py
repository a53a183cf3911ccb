"""A layer with edits as the page computes it: from queries, keys, lse and a mask, and a factor where these don't do."""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from eyeline.readouts import Weights
from eyeline.traces import LayerTrace

_MADE: WeakKeyDictionary[LayerTrace, LayerTrace] = WeakKeyDictionary()


def as_sent(layer: LayerTrace) -> LayerTrace:
    """The layer whose exp(scale·q·k - lse) are the edited weights, but for the `factors`: a head that looks everywhere
    alike has queries of zeros."""
    edits = layer.edits
    if edits is None or not edits.flat:
        return layer
    if layer not in _MADE:
        q = layer.q.copy()
        q[[head for one in edits.flat for head in one.heads]] = 0
        _MADE[layer] = replace(layer, q=q)
    return _MADE[layer]


def factors(layer: LayerTrace, head: int) -> NDArray[np.float32] | None:
    """The factor of each of a head's weights, (N, M), where some were multiplied after the softmax or are another
    run's; None for a head of which none were."""
    edits = layer.edits
    if edits is None:
        return None
    pairs = [*edits.cuts, *(one.pairs for one in edits.weightings), *(one.pairs for one in edits.frozen)]
    if not any(head in one.heads for one in pairs):
        return None
    edited = layer.observe(Weights()).weights[head, 0]
    # What the page computes without the factor: with the row's own lse.
    plain = replace(as_sent(layer), edits=None).observe(Weights(), factor=np.ones(layer.q.shape[1])).weights[head, 0]
    return np.asarray(np.divide(edited, plain, out=np.zeros_like(edited), where=plain > 0), np.float32)
