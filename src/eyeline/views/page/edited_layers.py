"""A layer with edits as the page computes it: from queries, keys, lse and a mask, and a factor where these don't do."""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from eyeline.edits.cut_pairs import CutPairs
from eyeline.edits.lowered import Pairs
from eyeline.masks import AttentionShape
from eyeline.masks.functions import booleans
from eyeline.readouts import Weights
from eyeline.traces import LayerTrace
from eyeline.traces.allowed import Allowed

_MADE: WeakKeyDictionary[LayerTrace, LayerTrace] = WeakKeyDictionary()


def as_sent(layer: LayerTrace) -> LayerTrace:
    """The layer without edits whose exp(scale·q·k - lse) are the edited weights, but for the `factors`: cut pairs are
    in its mask, and a head that looks everywhere alike has queries of zeros."""
    edits = layer.edits
    if edits is None or not (edits.cuts or edits.flat):
        return layer
    if layer not in _MADE:
        q = layer.q
        if edits.flat:
            q = q.copy()
            q[[head for one in edits.flat for head in one.heads]] = 0
        _MADE[layer] = replace(layer, q=q, allowed=_without(layer, edits.cuts) if edits.cuts else layer.allowed)
    return _MADE[layer]


def factors(layer: LayerTrace, head: int) -> NDArray[np.float32] | None:
    """The factor of each of a head's weights, (N, M), where some were multiplied after the softmax or are another
    run's; None for a head of which none were."""
    edits = layer.edits
    if edits is None or not any(head in one.pairs.heads for one in (*edits.weightings, *edits.frozen)):
        return None
    edited = layer.observe(Weights()).weights[head, 0]
    plain = replace(as_sent(layer), edits=None).observe(Weights()).weights[head, 0]
    return np.asarray(np.divide(edited, plain, out=np.zeros_like(edited), where=plain > 0), np.float32)


def _without(layer: LayerTrace, cuts: tuple[Pairs, ...]) -> Allowed:
    """The layer's mask without cut pairs."""
    H, N, _ = layer.q.shape
    # Heads are batch elements, since intervals can differ by batch element but not by head.
    pairs = [replace(one, heads=(0,), batch=head) for one in cuts for head in one.heads]
    mask = layer.allowed.over_heads()
    shape = AttentionShape((H,), 1, N, layer.k.shape[1])
    cut = CutPairs(tuple(pairs))
    lowered = (cut if mask is None else mask & cut).lower(shape)
    if lowered.allowed is None and not lowered.functions:
        return Allowed("bounds", np.ascontiguousarray(lowered.bounds[:, 0], np.int32))
    bits = booleans(lowered, shape)
    return Allowed("bits", np.ascontiguousarray(np.broadcast_to(bits[:, 0], (H, N, shape.keys)), np.uint8))
