"""A user's own function of each score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eyeline.masks import AttentionShape, check_function, plain_function
from eyeline.scores.lowered import Called
from eyeline.scores.score import ALL, Score
from eyeline.words import worded

#: function(score, b, h, i, j) gives the changed score.
Function = Callable[[float, int, int, int, int], float]


@dataclass(frozen=True)
class ScoreFunction(Score):
    """A score modifier given as a Python function that Numba can compile.

    Args:
        function: `function(score, b, h, i, j)`, the scaled score of query i and key j (whole numbers from 0) in batch
            element b (the leading axes, flattened) and head h: returns the changed score; -inf hides the key. Variables
            and module attributes that it reads have their values at the time of the call.
        derivative: `derivative(score, b, h, i, j)`, the function's derivative in the score; a finite difference if not
            given.

    Raises:
        TypeError: if either isn't a Python function (a def or a lambda), or one that Numba has wrapped.

    >>> from eyeline.masks import AttentionShape
    >>> nearer = ScoreFunction(lambda score, b, h, i, j: score - 0.1 * abs(i - j))
    >>> nearer.apply(np.zeros((1, 1, 1, 3)), AttentionShape((1,), 1, 1, 3))
    array([[[[ 0. , -0.1, -0.2]]]])
    """

    function: Function
    derivative: Function | None = None

    def __post_init__(self) -> None:
        check_function("function", self.function, _takes)
        if self.derivative is not None:
            check_function("derivative", self.derivative, _takes)

    def __repr__(self) -> str:
        given = [self.function] + ([] if self.derivative is None else [self.derivative])
        return f"ScoreFunction({', '.join(getattr(one, '__name__', repr(one)) for one in given)})"

    def apply(self, s: Any, shape: AttentionShape, queries: slice = ALL, keys: slice = ALL) -> Any:
        """The function called in Python for each score: slow, but without compilation. For NumPy arrays only."""
        function = plain_function(self.function)
        first = queries.start or 0, keys.start or 0
        changed = (
            float(function(float(s[b, h, i, j]), b, h, first[0] + i, first[1] + j))
            for b, h, i, j in np.ndindex(s.shape)
        )
        return np.fromiter(changed, np.float64).reshape(s.shape)

    def lower(self, shape: AttentionShape) -> Called:
        derivative = None if self.derivative is None else plain_function(self.derivative)
        return Called(plain_function(self.function), derivative)


def _takes() -> str:
    return worded("(score, b, h, i, j) that gives a score")
