"""The weights of another run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.edits.call_edits import CallEdits
from eyeline.edits.dense import Dense64
from eyeline.edits.edit import Edit, EditStage, spread
from eyeline.edits.lowered import FrozenWeights, Pairs
from eyeline.edits.places import CallPlace
from eyeline.edits.runs import check_reach, layer_of
from eyeline.edits.selection import Tokens, selected


@dataclass(frozen=True, eq=False, repr=False)
class Pattern(Edit):
    """The head looks as in another run: that run's weights, on this run's values.

    The weights are exp(q·k · scale - lse) from the other run's q, k and lse, at the same positions, and aren't
    renormalised: what the other run gave to tokens that this one hasn't is lost. For readouts, a query may look where
    it may in either run.

    Args:
        other: the trace of the other run; of an encoder-decoder, the list of its traces.
        queries, keys: the tokens whose weights are taken; all if not given. The others keep their own weights.

    Source: Vig et al., "Investigating Gender Bias in Language Models Using Causal Mediation Analysis" (2020).
    """

    other: Any
    queries: Tokens = None
    keys: Tokens = None
    stage: ClassVar[EditStage] = EditStage.WEIGHTS
    tokens: ClassVar[dict[str, Literal["queries", "keys"]]] = {"queries": "queries", "keys": "keys"}

    def _rows(self, place: CallPlace) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Each query's and each key's row in the other run, -1 where it isn't selected."""
        rows = np.where(selected("queries", self.queries, place.queries), place.queries, -1)
        return rows, np.where(selected("keys", self.keys, place.keys), place.keys, -1)

    def define(self, now: Dense64, place: CallPlace) -> None:
        heads, (rows, columns) = self.heads_in(place), self._rows(place)
        theirs = layer_of(self.other, place).of_heads(heads)
        check_reach("queries", theirs.q.shape[1], rows)
        check_reach("keys", theirs.k.shape[1], columns)
        rows, columns = spread(rows, now), spread(columns, now)
        assert now.hidden is not None
        for b in range(len(now.q)):
            for head, w, visible in zip(heads, theirs.weights(), theirs.visible(), strict=True):
                taken = (rows[b] >= 0)[:, None] & (columns[b] >= 0)
                now.w[b, head] = np.where(taken, w[rows[b]][:, columns[b]], now.w[b, head])
                now.hidden[b, head] &= ~(taken & visible[rows[b]][:, columns[b]])

    def lower(self, place: CallPlace) -> CallEdits:
        heads, (rows, columns) = self.heads_in(place), self._rows(place)
        other, frozen = layer_of(self.other, place), []
        for head in heads:
            theirs = other.of_heads([head])
            check_reach("queries", theirs.q.shape[1], rows)
            check_reach("keys", theirs.k.shape[1], columns)
            pairs = Pairs((head,), rows >= 0, columns >= 0)
            parts = (theirs.q, theirs.k, theirs.lse, theirs.scale, theirs.scores, theirs.mask)
            frozen.append(FrozenWeights(pairs, *parts, rows, columns))
        return CallEdits(frozen=tuple(frozen))
