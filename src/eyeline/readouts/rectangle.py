"""A rectangle of the weights themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import AttentionShape

Which = int | slice | Sequence[int] | NDArray[np.integer] | None


@dataclass(frozen=True)
class Weights:
    """A rectangle of the weight matrix: these queries by these keys.

    Args:
        queries: which rows: a slice, a position (negative counts from the end), or several in any order; all if not
            given.
        keys: which columns, likewise.

    Reads `weights` of an observation, (..., H, rows, columns); one position keeps its axis, with length 1.

    >>> Weights(queries=-1, keys=slice(0, 10))
    Weights(queries=-1, keys=slice(0, 10, None))
    """

    name: ClassVar[str] = "weights"
    queries: Which = None
    keys: Which = None

    def rows(self, count: int) -> NDArray[np.int64]:
        """The positions of the queries, of `count` in all."""
        return _positions("queries", self.queries, count)

    def columns(self, count: int) -> NDArray[np.int64]:
        """The positions of the keys, of `count` in all."""
        return _positions("keys", self.keys, count)

    def check(self, problem: AttentionShape) -> None:
        self.rows(problem.queries)
        self.columns(problem.keys)


def _positions(name: str, which: Which, count: int) -> NDArray[np.int64]:
    if which is None or isinstance(which, slice):
        return np.arange(count)[which or slice(None)]
    chosen = np.atleast_1d(np.asarray(which))
    if chosen.ndim != 1 or not (np.issubdtype(chosen.dtype, np.integer) or chosen.size == 0):
        raise ValueError(f"{name} must be a position, a slice or a list of positions, got {which!r}")
    chosen = chosen.astype(np.int64)
    wrong = chosen[(chosen < -count) | (chosen >= count)]
    if wrong.size:
        raise ValueError(f"{name} must be positions from {-count} to {count - 1}, got {int(wrong[0])}")
    return np.where(chosen < 0, chosen + count, chosen)
