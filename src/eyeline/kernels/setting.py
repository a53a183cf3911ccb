"""What a pass over the matrix is told beside its arrays."""

from __future__ import annotations

from dataclasses import dataclass, field

from eyeline import scores
from eyeline.masks import Lowered


@dataclass(frozen=True)
class Setting:
    """How scores become weights.

    Attributes:
        scale: what q·k is multiplied by.
        mask: where a query may look at a key; everywhere if None.
        scores: the steps that change the scaled scores before the mask, and the sinks.
        dropout: the share of weights that is dropped, those left being divided by what is left of 1.
        seed: which ones.
    """

    scale: float
    mask: Lowered | None = None
    scores: scores.Lowered = field(default_factory=scores.Lowered)
    dropout: float = 0.0
    seed: int = 0
