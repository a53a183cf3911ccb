"""Weights multiplied after the softmax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from eyeline.edits.call_edits import CallEdits
from eyeline.edits.dense import Dense64
from eyeline.edits.edit import Edit, EditStage, spread
from eyeline.edits.factors import check_by, taken_from, values_of
from eyeline.edits.lowered import Pairs, Weighting
from eyeline.edits.places import CallPlace
from eyeline.edits.selection import Tokens, selected


@dataclass(frozen=True, eq=False, repr=False)
class Reweight(Edit):
    """Multiplies weights after the softmax; the rest of the row isn't renormalised. 0 knocks the edges out.

    Args:
        queries, keys: the tokens, by position from 0, word, list or slice; all if not given.
        by: a number; or one per query's position, (P,): an array, or a tensor, through which gradients go.

    Source: Geva et al., "Dissecting Recall of Factual Associations in Auto-Regressive Language Models" (2023), section
    5, knocks edges out before the softmax, as `Cut` does; this is the same after it.

    >>> Reweight(layer=5, head=3, queries=2, keys=[0], by=0.5)
    Reweight(layer=5, head=3, queries=2, keys=(0,), by=0.5)
    """

    queries: Tokens = None
    keys: Tokens = None
    by: Any = 0.0
    stage: ClassVar[EditStage] = EditStage.WEIGHING
    tokens: ClassVar[dict[str, Literal["queries", "keys"]]] = {"queries": "queries", "keys": "keys"}

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "by", check_by(self.by))

    def define(self, now: Dense64, place: CallPlace) -> None:
        rows = spread(selected("queries", self.queries, place.queries), now)
        columns = spread(selected("keys", self.keys, place.keys), now)
        by = spread(values_of(self.by, place.queries), now)
        for head in self.heads_in(place):
            now.w[:, head] *= np.where(rows[:, :, None] & columns[:, None, :], by[..., None], 1.0)

    def lower(self, place: CallPlace) -> CallEdits:
        rows = selected("queries", self.queries, place.queries)
        pairs = Pairs(self.heads_in(place), rows, selected("keys", self.keys, place.keys))
        return CallEdits(weightings=(Weighting(pairs, self.by, taken_from(self.by, place.queries)),))
