"""Cut edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from eyeline.edits.call_edits import CallEdits
from eyeline.edits.dense import Dense64
from eyeline.edits.edit import Edit, EditStage, spread
from eyeline.edits.lowered import Pairs
from eyeline.edits.places import CallPlace
from eyeline.edits.selection import Tokens, selected


@dataclass(frozen=True, eq=False, repr=False)
class Cut(Edit):
    """Hides keys from queries before the softmax, as a mask does: the rest of the row is renormalised.

    A query that may then look at nothing gets a row of zeros.

    Args:
        queries, keys: the tokens, by position from 0, word, list or slice; all if not given.

    >>> Cut(layer=5, head=3, queries=["flies"], keys=["time"])
    Cut(layer=5, head=3, queries=('flies',), keys=('time',))
    """

    queries: Tokens = None
    keys: Tokens = None
    stage: ClassVar[EditStage] = EditStage.HIDING
    tokens: ClassVar[dict[str, Literal["queries", "keys"]]] = {"queries": "queries", "keys": "keys"}

    def define(self, now: Dense64, place: CallPlace) -> None:
        rows = spread(selected("queries", self.queries, place.queries), now)
        columns = spread(selected("keys", self.keys, place.keys), now)
        assert now.hidden is not None
        for head in self.heads_in(place):
            now.hidden[:, head] |= rows[:, :, None] & columns[:, None, :]

    def lower(self, place: CallPlace) -> CallEdits:
        return CallEdits(cuts=(self.pairs(place),))

    def pairs(self, place: CallPlace) -> Pairs:
        """The pairs that are hidden."""
        rows = np.asarray(selected("queries", self.queries, place.queries))
        return Pairs(self.heads_in(place), rows, selected("keys", self.keys, place.keys))
