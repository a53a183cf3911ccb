"""A bias given as an array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import AttentionShape
from eyeline.scores.lowered import Added
from eyeline.scores.score import Array, Parameter, Score, array_of, held


@dataclass(frozen=True, repr=False, eq=False)
class Bias(Score):
    """Adds an array to the scores.

    An entry of -inf hides its key as a mask does, unless a change after it makes the score finite again. What a mask
    can say is cheaper as a mask. The entries aren't looked at: NaN and inf reach the rows that see them.

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
            raise ValueError(f"array must have axes for queries and keys, (..., N, M), got shape {tuple(array.shape)}")
        object.__setattr__(self, "array", array)

    def __repr__(self) -> str:
        return f"Bias({' × '.join(map(str, self.array.shape))})"

    def apply(self, s: Array, problem: AttentionShape) -> Array:
        return s + self.lower(problem).bias.astype(np.float64)

    def lower(self, problem: AttentionShape) -> Added:
        return Added(problem.spread(array_of(self.array), "array"))

    def parameters(self) -> dict[str, Parameter]:
        return {"array": self.array}

    def pull_back(self, gradient: NDArray[Any], problem: AttentionShape) -> dict[str, Array]:
        shape = tuple(self.array.shape)
        found = np.asarray(gradient, np.float64)
        if found.size != np.prod(shape, dtype=np.int64):
            # The leading axes were made one: taken apart again, those that were broadcast are summed.
            found = found.reshape(*problem.lead, *found.shape[1:])
            full = (1,) * (found.ndim - len(shape)) + shape
            summed = tuple(axis for axis, size in enumerate(full) if size == 1 and found.shape[axis] != 1)
            found = found.sum(axis=summed)
        return {"array": found.reshape(shape)}
