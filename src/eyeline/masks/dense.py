"""A mask given as booleans."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eyeline.masks.lowered import Lowered, Problem, from_booleans
from eyeline.masks.mask import Mask


class Dense(Mask):
    """A mask given as booleans, True where query i may look at key j.

    Args:
        allowed: bool array that broadcasts to (B, H, N, M): (N, M), (H, N, M), (B, 1, 1, M) and so on. It is not
            copied.

    Raises:
        ValueError: if it isn't boolean (an additive mask of 0 and -inf, or one of 0 and 1 whose meaning libraries
            disagree on, has to be turned into booleans by its owner), or has fewer than two axes.

    >>> Dense(np.array([[True, False], [True, True]]))
    Dense(2 × 2, 75% allowed)
    """

    __slots__ = ("allowed",)

    def __init__(self, allowed: NDArray[np.bool_]) -> None:
        array = np.asarray(allowed)
        if array.dtype != np.bool_:
            raise ValueError(
                f"allowed must be an array of booleans, True where a query may look at a key, got {array.dtype}; "
                f"if 0 means allowed (an additive mask of 0 and -inf) pass allowed == 0, if 1 does pass allowed != 0"
            )
        if array.ndim < 2:
            raise ValueError(f"allowed must have axes for queries and keys, (..., N, M), got shape {array.shape}")
        self.allowed = array

    def __repr__(self) -> str:
        share = f"{self.allowed.mean():.0%} allowed" if self.allowed.size else "empty"
        return f"Dense({' × '.join(map(str, self.allowed.shape))}, {share})"

    def rule(self, problem: Problem) -> NDArray[np.bool_]:
        return problem.spread(self.allowed, "allowed")

    def lower(self, problem: Problem) -> Lowered:
        return from_booleans(self.rule(problem), problem.keys)
