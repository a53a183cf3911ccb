"""The mask of a prefix language model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.masks.align import Align, check_align, standing
from eyeline.masks.counts import short, whole
from eyeline.masks.lowered import LoweredMask, one_interval
from eyeline.masks.mask import Mask
from eyeline.masks.shape import AttentionShape
from eyeline.words import worded


@dataclass(frozen=True, slots=True, init=False)
class PrefixLM(Mask):
    """Query i may look at the first `n` keys, and beyond them at keys up to its own position (a prefix LM).

    Args:
        n: the length of the prefix, one whole number, or one per batch element; if longer than the keys, all of them.
        align: as in `Causal`.

    >>> PrefixLM(2).dense(4).astype(int)
    array([[1, 1, 0, 0],
           [1, 1, 0, 0],
           [1, 1, 1, 0],
           [1, 1, 1, 1]])
    """

    n: tuple[int, ...]
    align: Align | None

    def __init__(self, n: ArrayLike, align: Align | None = None) -> None:
        object.__setattr__(self, "n", whole("n", np.atleast_1d(np.asarray(n))))
        object.__setattr__(self, "align", check_align(align))

    def __repr__(self) -> str:
        n = str(self.n[0]) if len(self.n) == 1 else short(self.n)
        return f"PrefixLM({n}" + (f", align={self.align!r})" if self.align is not None else ")")

    def _ends(self, shape: AttentionShape) -> NDArray[np.int64]:
        """The first key that each query may not look at, (B or 1, 1, N)."""
        if len(self.n) not in (1, shape.batch):
            raise ValueError(
                worded(
                    "n must be one number per batch element ({batch}), got {count}: {value!r}",
                    batch=shape.batch,
                    count=len(self.n),
                    value=self,
                )
            )
        i = standing(shape, self.align, self)[:, 0]
        most = [min(n, shape.keys) for n in self.n]
        return np.maximum(np.array(most, np.int64)[:, None, None], i + 1)

    def rule(self, shape: AttentionShape) -> NDArray[np.bool_]:
        result: NDArray[np.bool_] = np.arange(shape.keys) < self._ends(shape)[..., None]
        return result

    def lower(self, shape: AttentionShape) -> LoweredMask:
        ends = self._ends(shape)
        return one_interval(np.zeros_like(ends), ends, shape.keys)
