"""An additive bias given as an array."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import AttentionShape
from eyeline.scores.arrays import Parameter, array_of, beside, held
from eyeline.scores.lowered import Added
from eyeline.scores.score import ALL, Score
from eyeline.words import worded


@dataclass(frozen=True, repr=False, eq=False)
class Bias(Score):
    """Adds an array to the scores.

    An entry of -inf hides its key as a mask does, unless a later modifier makes the score finite again; a mask is
    cheaper where it will do. Entries aren't checked: NaN and inf reach the rows that they are added to.

    Args:
        array: broadcasts to (..., H, N, M): (N, M), (H, N, M), (B, 1, 1, M) and so on. It is not copied.

    Raises:
        ValueError: if it isn't of real numbers, has fewer than two axes, or doesn't broadcast.

    >>> Bias(np.zeros((8, 5, 5)))
    Bias(8 × 5 × 5)
    """

    array: Parameter

    def __post_init__(self) -> None:
        array = held("array", self.array)
        if len(array.shape) < 2:
            raise ValueError(
                worded(
                    "array must have axes for queries and keys, (..., N, M), got shape {shape}",
                    shape=tuple(array.shape),
                )
            )
        object.__setattr__(self, "array", array)

    def __repr__(self) -> str:
        return f"Bias({' × '.join(map(str, self.array.shape))})"

    def apply(self, s: Any, shape: AttentionShape, queries: slice = ALL, keys: slice = ALL) -> Any:
        here = replace(shape, queries=s.shape[2], keys=s.shape[3])
        return s + here.spread(beside(s, self.array), "array")

    def part(self, queries: slice, keys: slice) -> Bias:
        array = self.array
        array = array if array.shape[-2] == 1 else array[..., queries, :]
        return Bias(array if array.shape[-1] == 1 else array[..., keys])

    def check(self, shape: AttentionShape) -> None:
        shape.spread(np.broadcast_to(np.int8(0), tuple(self.array.shape)), "array")

    def lower(self, shape: AttentionShape) -> Added:
        return Added(shape.spread(array_of(self.array), "array"))

    def pull_back(self, gradient: NDArray[Any], shape: AttentionShape) -> dict[str, NDArray[np.float64]]:
        own = tuple(self.array.shape)
        found = np.asarray(gradient, np.float64)
        if found.size != np.prod(own, dtype=np.int64):
            # Lowering merged the leading axes. Split them again, and sum over those that were broadcast.
            found = found.reshape(*shape.lead, *found.shape[1:])
            full = (1,) * (found.ndim - len(own)) + own
            summed = tuple(axis for axis, size in enumerate(full) if size == 1 and found.shape[axis] != 1)
            found = found.sum(axis=summed)
        return {"array": found.reshape(own)}
