"""Edits as masks and score modifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.edits.arrays import chosen
from eyeline.edits.call_edits import CallEdits
from eyeline.edits.cut_pairs import CutPairs
from eyeline.edits.errors import EditError
from eyeline.edits.lowered import FlatHeads, Weighting
from eyeline.masks import AttentionShape, Mask
from eyeline.scores import Flat, Scores, Sinks, WeightFactor, sinks_of, stacked


def changed_mask(mask: Mask | None, edits: CallEdits) -> Mask | None:
    """The mask, without the pairs that are cut."""
    if not edits.cuts:
        return mask
    return CutPairs(edits.cuts) if mask is None else mask & CutPairs(edits.cuts)


def changed_scores(scores: Scores, edits: CallEdits, shape: AttentionShape) -> Scores:
    """The score modifiers, with those of flat heads and of weights' factors."""
    if not (edits.flat or edits.frozen or edits.weightings):
        return scores
    found = list(stacked(scores))
    if edits.flat:
        heads = _flat_heads(edits.flat, shape)
        sinks = sinks_of(found)
        if sinks is not None:
            found[found.index(sinks)] = _without_sinks(sinks, heads)
        place = next((at for at, one in enumerate(found) if isinstance(one, (Sinks, WeightFactor))), len(found))
        found.insert(place, Flat(heads))
    gone = [Weighting(one.pairs, 0.0) for one in edits.frozen]
    return (*found, *factors((*gone, *edits.weightings), shape, range(shape.heads)))


def _flat_heads(flat: Sequence[FlatHeads], shape: AttentionShape) -> NDArray[np.bool_]:
    """Which heads look everywhere alike, (B or 1, H)."""
    heads = np.zeros((shape.batch if any(one.batch is not None for one in flat) else 1, shape.heads), bool)
    for one in flat:
        heads[slice(None) if one.batch is None else one.batch, list(one.heads)] = True
    return heads


def _without_sinks(sinks: Sinks, heads: NDArray[np.bool_]) -> Sinks:
    gone: NDArray[np.bool_] = np.any(heads, axis=0)
    if (heads != gone).any():
        raise EditError("edits must make a head uniform in the whole batch where there are sinks, got some elements")
    return Sinks(chosen(gone, -np.inf, sinks.logits))


def factors(weightings: Sequence[Weighting], shape: AttentionShape, heads: Sequence[int]) -> list[WeightFactor]:
    """The factors of some heads' weights, in arrays for these heads alone."""
    return [_factor(one, shape, heads) for one in weightings if set(heads) & set(one.pairs.heads)]


def _factor(one: Weighting, shape: AttentionShape, heads: Sequence[int]) -> WeightFactor:
    pairs = one.pairs
    which: Any = slice(None) if pairs.batch is None else pairs.batch
    rows = np.zeros((len(pairs.queries) if pairs.batch is None else shape.batch, len(heads), shape.queries), np.float32)
    columns = np.zeros((len(pairs.keys) if pairs.batch is None else shape.batch, 1, shape.keys), np.float32)
    for place, head in enumerate(heads):
        if head in pairs.heads:
            rows[which, place] = pairs.queries if pairs.batch is None else pairs.queries[0]
    columns[which, 0] = pairs.keys if pairs.batch is None else pairs.keys[0]
    by: Any = one.by
    if one.taken is not None:
        by = by[np.maximum(one.taken, 0)][:, None]
    return WeightFactor(by, rows, columns)
