"""The gate of a head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eyeline.edits.call_edits import CallEdits
from eyeline.edits.dense import Dense64
from eyeline.edits.edit import Edit, EditStage
from eyeline.edits.factors import check_by, taken_from, values_of
from eyeline.edits.lowered import OutputFactor
from eyeline.edits.places import CallPlace


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Edit):
    """Multiplies a head's output, before W_o: 0 switches the head off.

    That equals the model with this head's part of W_o set to zero; slices of the vector after W_o are no heads.

    Args:
        by: a number; or one per position, (P,): an array, or a tensor, through which gradients go.

    Source: Michel et al., "Are Sixteen Heads Really Better than One?" (2019), section 2.2.

    >>> Gate(layer=5, head=3, by=0.0)
    Gate(layer=5, head=3, by=0.0)
    """

    by: Any = 0.0
    stage: ClassVar[EditStage] = EditStage.GATING

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "by", check_by(self.by))

    def define(self, now: Dense64, place: CallPlace) -> None:
        by = np.broadcast_to(values_of(self.by, place.queries), (len(now.q), place.queries.shape[1]))
        for head in self.heads_in(place):
            now.output[:, head] *= by[..., None]

    def lower(self, place: CallPlace) -> CallEdits:
        return CallEdits(gates=(OutputFactor(self.heads_in(place), self.by, taken_from(self.by, place.queries)),))
