"""Edits as masks and score modifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.edits.arrays import chosen
from eyeline.edits.call_edits import CallEdits
from eyeline.edits.cut_pairs import CutPairs, hidden_pairs
from eyeline.edits.errors import EditError
from eyeline.edits.lowered import FlatHeads, Weighting
from eyeline.masks import AttentionShape, Mask
from eyeline.scores import Flat, Scores, Sinks, WeightFactor, sinks_of, stacked
from eyeline.words import worded


def changed_mask(mask: Mask | None, edits: CallEdits) -> Mask | None:
    """The mask, without the pairs that are cut."""
    if not edits.cuts:
        return mask
    return CutPairs(edits.cuts) if mask is None else mask & CutPairs(edits.cuts)


def changed_scores(scores: Scores, edits: CallEdits, shape: AttentionShape) -> Scores:
    """The score modifiers, with those that hide pairs, make heads flat, and multiply weights."""
    if not (edits.cuts or edits.flat or edits.frozen or edits.weightings):
        return scores
    found = list(stacked(scores))
    place = next((at for at, one in enumerate(found) if isinstance(one, (Sinks, WeightFactor))), len(found))
    if edits.flat:
        heads = _flat_heads(edits.flat, shape)
        sinks = sinks_of(found)
        if sinks is not None:
            found[found.index(sinks)] = _without_sinks(sinks, heads)
        found.insert(place, Flat(heads))
    if edits.cuts:
        found.insert(place, hidden_pairs(edits.cuts, shape))
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
        raise EditError(
            worded("edits must make a head uniform in the whole batch where there are sinks, got some elements")
        )
    return Sinks(chosen(gone, -np.inf, sinks.logits))


def factors(weightings: Sequence[Weighting], shape: AttentionShape, heads: Sequence[int]) -> list[WeightFactor]:
    """The factors of some heads' weights, in arrays for these heads alone: as few as may be, since each row can have
    one in each. Those of tensors, which may have gradients, stay apart."""
    layers: list[_Layer] = []
    own = [one for one in weightings if set(heads) & set(one.pairs.heads)]
    B = max((shape.batch if one.pairs.batch is not None else len(one.pairs.queries) for one in own), default=1)
    B = max(B, *(len(one.pairs.keys) for one in own), 1)
    for one in own:
        places = np.flatnonzero([head in one.pairs.heads for head in heads])
        batch = np.arange(B) if one.pairs.batch is None else np.array([one.pairs.batch])
        free = (layer for layer in layers if layer.apart is None and not layer.taken[np.ix_(batch, places)].any())
        layer = None if hasattr(one.by, "detach") else next(free, None)
        if layer is None:
            layer = _Layer((B, len(heads)), shape, one if hasattr(one.by, "detach") else None)
            layers.append(layer)
        layer.add(one, batch, places)
    return [layer.factor() for layer in layers]


class _Layer:
    """Factors of different heads or elements of the batch, as one; or one factor `apart`."""

    def __init__(self, heads: tuple[int, int], shape: AttentionShape, apart: Weighting | None) -> None:
        self.apart = apart
        self.taken = np.zeros(heads, bool)
        self.by = np.ones((*heads, shape.queries))
        self.rows, self.columns = np.zeros((*heads, shape.queries), bool), np.zeros((*heads, shape.keys), bool)

    def add(self, one: Weighting, batch: NDArray[np.int64], places: NDArray[np.int64]) -> None:
        where = np.ix_(batch, places)
        self.taken[where] = True
        self.rows[where] = _of_elements(one.pairs.queries, batch)
        self.columns[where] = _of_elements(one.pairs.keys, batch)
        if self.apart is None:
            by = one.by if one.taken is None else np.asarray(one.by)[np.maximum(_of_elements(one.taken, batch), 0)]
            self.by[where] = by

    def factor(self) -> WeightFactor:
        by: Any = self.by
        if self.apart is not None:
            by, taken = self.apart.by, self.apart.taken
            by = by if taken is None else by[np.maximum(taken, 0)][:, None]
        return WeightFactor(by, self.rows, self.columns)


def _of_elements(rows: NDArray[Any], batch: NDArray[np.int64]) -> NDArray[Any]:
    """The rows, (B or 1, N), of these elements of the batch, with an axis for heads."""
    return rows[np.minimum(batch, len(rows) - 1)][:, None]
