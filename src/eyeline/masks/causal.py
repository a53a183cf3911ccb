"""The causal mask."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyeline.masks.align import Align, check_align, standing
from eyeline.masks.lowered import LoweredMask, one_interval
from eyeline.masks.mask import Mask
from eyeline.masks.shape import AttentionShape


@dataclass(frozen=True, slots=True)
class Causal(Mask):
    """Query i may look at keys up to its own position, not at the future.

    Args:
        align: how queries are aligned with keys, required where their numbers differ, since libraries disagree: "end"
            (the last query stands at the last key, as in decoding with a cache), "start" (the first at the first), or
            the key, counted from 0, at which the first query stands (a chunk of queries in a cache that isn't full).

    >>> Causal(align="end").dense(2, 4).astype(int)
    array([[1, 1, 1, 0],
           [1, 1, 1, 1]])
    """

    align: Align | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "align", check_align(self.align))

    def __repr__(self) -> str:
        return f"Causal(align={self.align!r})" if self.align is not None else "Causal()"

    def rule(self, shape: AttentionShape) -> NDArray[np.bool_]:
        result: NDArray[np.bool_] = np.arange(shape.keys) <= standing(shape, self.align, self)
        return result

    def lower(self, shape: AttentionShape) -> LoweredMask:
        i = standing(shape, self.align, self)[:, 0]
        return one_interval(np.zeros_like(i), i + 1, shape.keys)
