"""Changes of each score by itself: a cap, and a function of the user's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eyeline.masks import AttentionShape
from eyeline.scores.lowered import Called, Capped
from eyeline.scores.score import Array, Score

#: function(score, b, h, i, j) gives the changed score.
Function = Callable[[float, int, int, int, int], float]


@dataclass(frozen=True)
class Softcap(Score):
    """Keeps scores between -cap and cap, smoothly: s becomes cap · tanh(s / cap).

    Args:
        cap: a positive number; Gemma 2 has 50.

    Raises:
        ValueError: if it isn't.

    >>> Softcap(50.0)
    Softcap(cap=50.0)
    """

    cap: float

    def __post_init__(self) -> None:
        number = isinstance(self.cap, (int, float, np.integer, np.floating)) and not isinstance(self.cap, bool)
        if not number or not math.isfinite(self.cap) or self.cap <= 0:
            raise ValueError(f"cap must be a positive number, got {self.cap!r}")
        object.__setattr__(self, "cap", float(self.cap))

    def apply(self, s: Array, problem: AttentionShape) -> Array:
        return self.cap * np.tanh(s / self.cap)

    def lower(self, problem: AttentionShape) -> Capped:
        return Capped(self.cap)


@dataclass(frozen=True)
class ScoreFunction(Score):
    """A function of the user's own: any Python that Numba can compile.

    Args:
        function: `function(score, b, h, i, j)`, the scaled score of query i and key j (whole numbers from 0) in batch
            element b (the leading axes, flattened) and head h: gives the changed score. It should depend on nothing
            else that changes.
        derivative: `derivative(score, b, h, i, j)`, that of the function in its score; by differences if not given.

    Raises:
        TypeError: if either can't be called.

    >>> from eyeline.masks import AttentionShape
    >>> nearer = ScoreFunction(lambda score, b, h, i, j: score - 0.1 * abs(i - j))
    >>> nearer.apply(np.zeros((1, 1, 1, 3)), AttentionShape((1,), 1, 1, 3))
    array([[[[ 0. , -0.1, -0.2]]]])
    """

    function: Function
    derivative: Function | None = None

    def __post_init__(self) -> None:
        for name in ("function", "derivative"):
            given = getattr(self, name)
            if not callable(given) and (name == "function" or given is not None):
                raise TypeError(f"{name} must be a function (score, b, h, i, j) that gives a score, got {given!r}")

    def __repr__(self) -> str:
        given = [self.function] + ([] if self.derivative is None else [self.derivative])
        return f"ScoreFunction({', '.join(getattr(one, '__name__', repr(one)) for one in given)})"

    def apply(self, s: Array, problem: AttentionShape) -> Array:
        """The function asked about each score in turn, as Python runs it: slowly, and surely."""
        function = _python(self.function)
        changed = (float(function(float(s[at]), *at)) for at in np.ndindex(problem.shape))
        return np.fromiter(changed, np.float64).reshape(problem.shape)

    def lower(self, problem: AttentionShape) -> Called:
        return Called(_python(self.function), None if self.derivative is None else _python(self.derivative))


def _python(function: Function) -> Function:
    """The function as it was before Numba wrapped it, if it did: how it is compiled is the kernels' business."""
    plain: Function = getattr(function, "py_func", function)
    return plain
