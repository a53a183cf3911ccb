"""Lowered score modifiers, the kernels' input: a list of steps, in order, on scaled scores in natural units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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
    """Weights are multiplied by 1 + row · column after the softmax: `rows` is (B or 1, H or 1, N), `columns` (B or 1, H
    or 1, M), of any strides."""

    rows: NDArray[Any]
    columns: NDArray[Any]


@dataclass(frozen=True)
class LoweredScores:
    """All score modifiers: the steps in order; the sinks' logits, (H,), which join the softmax's denominator and have
    no value; and the factors of the weights after the softmax."""

    steps: tuple[Step, ...] = ()
    sinks: NDArray[Any] | None = None
    factors: tuple[Weighted, ...] = ()
