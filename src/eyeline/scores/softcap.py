"""A smooth cap on the scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from eyeline.masks import AttentionShape, namespace
from eyeline.scores.lowered import Capped
from eyeline.scores.score import ALL, Score
from eyeline.words import worded


@dataclass(frozen=True)
class Softcap(Score):
    """Keeps scores between -cap and cap, smoothly: s becomes cap · tanh(s / cap).

    Args:
        cap: a positive number; 50 in Gemma 2.

    Raises:
        ValueError: if cap isn't a positive number.

    >>> Softcap(50.0)
    Softcap(cap=50.0)
    """

    cap: float

    def __post_init__(self) -> None:
        number = isinstance(self.cap, (int, float, np.integer, np.floating)) and not isinstance(self.cap, bool)
        if not number or not math.isfinite(self.cap) or self.cap <= 0:
            raise ValueError(worded("cap must be a positive number, got {cap!r}", cap=self.cap))
        object.__setattr__(self, "cap", float(self.cap))

    def apply(self, s: Any, shape: AttentionShape, queries: slice = ALL, keys: slice = ALL) -> Any:
        return self.cap * namespace(s).tanh(s / self.cap)

    def lower(self, shape: AttentionShape) -> Capped:
        return Capped(self.cap)
