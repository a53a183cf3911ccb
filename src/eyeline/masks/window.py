"""The sliding-window mask."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyeline.masks.align import Align, check_align, standing
from eyeline.masks.lowered import LoweredMask, one_interval
from eyeline.masks.mask import Mask
from eyeline.masks.shape import AttentionShape
from eyeline.words import worded


@dataclass(frozen=True, slots=True)
class Window(Mask):
    """Query i may look at `before` keys before its own position, at its own, and at `after` keys after it.

    Args:
        before: the number of keys before, 0 or more.
        after: the number of keys after, 0 or more; as many as before if not given.
        align: as in `Causal`.

    >>> Window(before=1, after=0).dense(3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 1, 1]])
    """

    before: int
    after: int | None = None
    align: Align | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "align", check_align(self.align))
        if self.after is None:
            object.__setattr__(self, "after", self.before)
        for name in ("before", "after"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
                raise ValueError(
                    worded("{name} must be a whole number, 0 or more, got {value!r}", name=name, value=value)
                )
            object.__setattr__(self, name, int(value))

    def __repr__(self) -> str:
        return f"Window(before={self.before}, after={self.after}" + (
            f", align={self.align!r})" if self.align is not None else ")"
        )

    def rule(self, shape: AttentionShape) -> NDArray[np.bool_]:
        distance = np.arange(shape.keys) - standing(shape, self.align, self)
        assert self.after is not None
        result: NDArray[np.bool_] = (-self.before <= distance) & (distance <= self.after)
        return result

    def lower(self, shape: AttentionShape) -> LoweredMask:
        i = standing(shape, self.align, self)[:, 0]
        # From any query's position, `far` keys reach all keys; larger counts might overflow.
        far = shape.keys + int(np.abs(i).max(initial=0)) + 1
        assert self.after is not None
        return one_interval(i - min(self.before, far), i + min(self.after, far) + 1, shape.keys)
