"""Lowered score modifiers, the kernels' input: a list of steps, in order, on scaled scores in natural units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Relative:
    """Adds `table[h, i - j + M - 1]`: a bias by distance. `table` is (H or 1, N + M - 1)."""

    table: NDArray[Any]


@dataclass(frozen=True)
class Added:
    """Adds `bias[b, h, i, j]`. `bias` is (B or 1, H or 1, N or 1, M or 1), of any strides."""

    bias: NDArray[Any]


@dataclass(frozen=True)
class Capped:
    """s becomes `cap` · tanh(s / `cap`)."""

    cap: float


@dataclass(frozen=True)
class Called:
    """s becomes `function(s, b, h, i, j)`, a user's function that Numba can compile. Its derivative in s is
    `derivative(s, b, h, i, j)`, or a finite difference if not given."""

    function: Callable[..., Any]
    derivative: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Flattened:
    """s becomes 0 unless it is -inf, in the heads where `heads`, int8 (B or 1, H), isn't 0."""

    heads: NDArray[Any]


Step = Relative | Added | Capped | Called | Flattened


@dataclass(frozen=True)
class Weighted:
    """After the softmax, weights on the columns that aren't 0, int8 (B or 1, H or 1, M), are multiplied by their row's
    number in `by`, (B or 1, H or 1, N), finite; both of any strides."""

    by: NDArray[Any]
    columns: NDArray[np.int8]

    @property
    def heads(self) -> NDArray[np.bool_]:
        """Where it changes any weight, (B or 1, H or 1)."""
        return np.asarray((self.by != 1).any(axis=2) & self.columns.any(axis=2))


@dataclass(frozen=True)
class HiddenColumns:
    """Scores become -inf on the columns of their row's kind: `kinds` is int32, (B or 1, H or 1, N), of any strides;
    `columns` int8, (kinds, M), contiguous, those of kind 0 all 0. It doesn't matter when, so it is no step."""

    kinds: NDArray[np.int32]
    columns: NDArray[np.int8]


@dataclass(frozen=True)
class LoweredScores:
    """All score modifiers: the steps in order; the sinks' logits, (H,), which join the softmax's denominator and have
    no value; the factors of the weights after the softmax; and pairs that are hidden."""

    steps: tuple[Step, ...] = ()
    sinks: NDArray[Any] | None = None
    factors: tuple[Weighted, ...] = ()
    hidden: HiddenColumns | None = None

    @property
    def weighs(self) -> bool:
        """Whether any weight is multiplied."""
        return any(bool(factor.heads.any()) for factor in self.factors)

    @property
    def hides(self) -> bool:
        """Whether `hidden` may hide any pair."""
        return self.hidden is not None and bool(self.hidden.kinds.any())
