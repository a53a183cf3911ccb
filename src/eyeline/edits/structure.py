"""Edits as masks and score modifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.edits.call_edits import CallEdits
from eyeline.edits.cut_pairs import CutPairs
from eyeline.edits.lowered import Pairs, Weighting
from eyeline.masks import AttentionShape, Mask, namespace
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
        heads = np.zeros((shape.batch if any(one.batch is not None for one in edits.flat) else 1, shape.heads), bool)
        for flat in edits.flat:
            heads[slice(None) if flat.batch is None else flat.batch, list(flat.heads)] = True
        sinks = sinks_of(found)
        if sinks is not None:
            found[found.index(sinks)] = _without_sinks(sinks, heads)
        place = next((at for at, one in enumerate(found) if isinstance(one, (Sinks, WeightFactor))), len(found))
        found.insert(place, Flat(heads))
    factors = [Weighting(one.pairs, 0.0) for one in edits.frozen]
    return (*found, *(_factor(one, shape) for one in (*factors, *edits.weightings)))


def _without_sinks(sinks: Sinks, heads: NDArray[np.bool_]) -> Sinks:
    xp = namespace(sinks.logits)
    gone = heads.any(axis=0)
    return Sinks(xp.where(gone if xp is np else xp.as_tensor(gone), -np.inf, sinks.logits))


def _factor(one: Weighting, shape: AttentionShape) -> WeightFactor:
    """A factor's rows and columns, with an axis for heads."""
    pairs = one.pairs

    def spread(flags: NDArray[np.bool_], heads: bool) -> NDArray[np.float32]:
        B = shape.batch if pairs.batch is not None else len(flags)
        full = np.zeros((B, shape.heads if heads else 1, flags.shape[1]), np.float32)
        which: Any = slice(None) if pairs.batch is None else pairs.batch
        for head in pairs.heads if heads else (0,):
            full[which, head] = flags if pairs.batch is None else flags[0]
        return full

    by: Any = one.by
    if one.taken is not None:
        by = by[np.maximum(one.taken, 0)][:, None]
    return WeightFactor(by, spread(pairs.queries, True), spread(pairs.keys, False))


def pairs_of_heads(pairs: Pairs, heads: tuple[int, ...]) -> tuple[int, ...]:
    """The places in `heads` of the heads of these pairs."""
    return tuple(place for place, head in enumerate(heads) if head in pairs.heads)
