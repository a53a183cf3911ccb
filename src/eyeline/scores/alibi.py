"""ALiBi: a penalty that grows with the distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import Align, AttentionShape, check_align
from eyeline.scores.arrays import Parameter, beside, check_heads, finite, held
from eyeline.scores.distances import distances, table_distances
from eyeline.scores.lowered import Relative
from eyeline.scores.score import ALL, Score

Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False, eq=False)
class Alibi(Score):
    """Attention with linear biases: subtracts the head's slope times the distance |i - j| from each score.

    Args:
        slopes: one per head, (H,); if not given, the paper's: 2^(-8/H), 2^(-16/H), ..., 2^-8. For a number of heads
            that is no power of two: the slopes of the next lower power, then every other slope of the next higher.
        align: as in `Causal`, needed where queries and keys differ in number.

    Raises:
        ValueError: if slopes aren't (H,) or not finite.

    Source: Press, Smith and Lewis, "Train Short, Test Long" (2022).

    >>> from eyeline.masks import AttentionShape
    >>> Alibi([0.5]).apply(np.zeros((1, 1, 2, 2)), AttentionShape((1,), 1, 2, 2))[0, 0]
    array([[ 0. , -0.5],
           [-0.5,  0. ]])
    """

    slopes: Parameter = None
    align: Align | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "align", check_align(self.align))
        if self.slopes is not None:
            object.__setattr__(self, "slopes", held("slopes", self.slopes, ("H",)))

    def __repr__(self) -> str:
        given = [] if self.slopes is None else [f"slopes of {len(self.slopes)} heads"]
        given += [f"align={self.align!r}"] if self.align is not None else []
        return f"Alibi({', '.join(given)})"

    def _slopes(self, shape: AttentionShape) -> Array:
        if self.slopes is None:
            return default_slopes(shape.heads)
        check_heads("slopes", len(self.slopes), shape)
        return finite("slopes", self.slopes)

    def apply(self, s: Any, shape: AttentionShape, queries: slice = ALL, keys: slice = ALL) -> Any:
        slopes = default_slopes(shape.heads) if self.slopes is None else self.slopes
        distance = np.abs(distances(shape, self.align, repr(self), queries, keys))
        return s - beside(s, slopes)[:, None, None] * beside(s, distance)

    def lower(self, shape: AttentionShape) -> Relative:
        distance = np.abs(table_distances(shape, self.align, repr(self)))
        return Relative(-self._slopes(shape)[:, None] * distance)

    def pull_back(self, gradient: NDArray[Any], shape: AttentionShape) -> dict[str, Array]:
        if self.slopes is None:
            return {}
        distance = np.abs(table_distances(shape, self.align, repr(self)))
        return {"slopes": -np.asarray(gradient, np.float64) @ distance}


def default_slopes(heads: int) -> Array:
    """The paper's slopes for any number of heads, (H,)."""
    if not heads:
        return np.zeros(0)
    power = 1 << (heads.bit_length() - 1)
    own, between = (2.0 ** (-8 / n * np.arange(1, n + 1)) for n in (power, 2 * power))
    return np.concatenate([own, between[::2][: heads - power]])
