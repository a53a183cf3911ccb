"""Heads that look everywhere alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from eyeline.edits.call_edits import CallEdits
from eyeline.edits.dense import Dense64
from eyeline.edits.edit import Edit, EditStage
from eyeline.edits.lowered import FlatHeads
from eyeline.edits.places import CallPlace


@dataclass(frozen=True, eq=False, repr=False)
class Uniform(Edit):
    """The head looks everywhere alike, as the mask allows: each weight is 1 / (the number of keys that may be seen).

    Hidden keys, padding among them, and sinks get nothing; lse is the log of that number.

    >>> Uniform(layer=5, head=3)
    Uniform(layer=5, head=3)
    """

    stage: ClassVar[EditStage] = EditStage.WEIGHTS

    def define(self, now: Dense64, place: CallPlace) -> None:
        assert now.hidden is not None
        assert now.lse is not None
        for head in self.heads_in(place):
            seen = ~now.hidden[:, head]
            now.w[:, head] = seen / np.maximum(seen.sum(axis=-1, keepdims=True), 1)
            with np.errstate(divide="ignore"):
                now.lse[:, head] = np.log(seen.sum(axis=-1))
            if now.sink is not None:
                now.sink[:, head] = 0

    def lower(self, place: CallPlace) -> CallEdits:
        return CallEdits(flat=(FlatHeads(self.heads_in(place)),))
