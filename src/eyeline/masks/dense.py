"""A mask given as a boolean array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks.lowered import LoweredMask, from_booleans
from eyeline.masks.mask import Mask
from eyeline.masks.shape import AttentionShape
from eyeline.words import worded


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class Dense(Mask):
    """A mask given as a boolean array, True where query i may look at key j.

    Args:
        allowed: bool array, or torch tensor of any device, that broadcasts to (B, H, N, M): (N, M), (H, N, M),
            (B, 1, 1, M) and so on. It is not copied.

    Raises:
        ValueError: if it isn't boolean, or has fewer than two axes. (Convert an additive mask of 0 and -inf first, or
            one of 0 and 1, on whose meaning libraries disagree.)

    >>> Dense(np.array([[True, False], [True, True]]))
    Dense(2 × 2, 75% allowed)
    """

    allowed: Any

    def __init__(self, allowed: Any) -> None:
        array = allowed if hasattr(allowed, "detach") else np.asarray(allowed)
        if str(array.dtype) not in ("bool", "torch.bool"):
            raise ValueError(
                worded(
                    "allowed must be an array of booleans, True where a query may look at a key, got {dtype}; if "
                    "0 means allowed (an additive mask of 0 and -inf) pass allowed == 0, if 1 does pass allowed "
                    "!= 0",
                    dtype=array.dtype,
                )
            )
        if array.ndim < 2:
            raise ValueError(
                worded(
                    "allowed must have axes for queries and keys, (..., N, M), got shape {shape}",
                    shape=tuple(array.shape),
                )
            )
        object.__setattr__(self, "allowed", array)

    def __repr__(self) -> str:
        array = self._array()
        share = f"{array.mean():.0%} allowed" if array.size else "empty"
        return f"Dense({' × '.join(map(str, self.allowed.shape))}, {share})"

    def rule(self, shape: AttentionShape) -> NDArray[np.bool_]:
        return shape.spread(self._array(), "allowed")

    def _array(self) -> NDArray[np.bool_]:
        return np.asarray(self.allowed.detach().cpu() if hasattr(self.allowed, "detach") else self.allowed)

    def lower(self, shape: AttentionShape) -> LoweredMask:
        return from_booleans(self.rule(shape), shape.keys)
