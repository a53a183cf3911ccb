"""Pairs hidden by a score of -inf: what cut edges are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import AttentionShape
from eyeline.scores.arrays import beside
from eyeline.scores.lowered import HiddenColumns
from eyeline.scores.score import ALL, Score
from eyeline.words import worded


@dataclass(frozen=True, repr=False, eq=False)
class HiddenPairs(Score):
    """Scores of rows on the columns of their kind become -inf.

    A mask of intervals would need as many for each row as there are gaps between its columns.

    Args:
        kinds: int32, (B or 1, H or 1, N): the kind of each row, from 0.
        columns: booleans, (kinds, M): what is hidden from rows of each kind; kind 0 hides nothing.
    """

    kinds: NDArray[np.int32]
    columns: NDArray[np.bool_]
    constants = ("kinds", "columns")

    def __repr__(self) -> str:
        return f"HiddenPairs({np.count_nonzero(self.kinds)} rows)"

    def apply(self, s: Any, shape: AttentionShape, queries: slice = ALL, keys: slice = ALL) -> Any:
        pairs = beside(s, self.columns[self.kinds].astype(np.int8)) != 0
        return np.where(pairs, -np.inf, s) if isinstance(s, np.ndarray) else s.masked_fill(pairs, -np.inf)

    def part(self, queries: slice, keys: slice) -> HiddenPairs:
        return HiddenPairs(self.kinds[..., queries], self.columns[:, keys])

    def check(self, shape: AttentionShape) -> None:
        B, H, N, M = shape.shape
        sizes = self.kinds.shape
        if len(sizes) != 3 or sizes[0] not in (1, B) or sizes[1] not in (1, H) or sizes[2] != N:
            raise ValueError(
                worded("kinds must be (B or 1, H or 1, N) = ({B}, {H}, {N}), got {sizes}", B=B, H=H, N=N, sizes=sizes)
            )
        if self.columns.ndim != 2 or self.columns.shape[1] != M:
            raise ValueError(worded("columns must be (kinds, {M}), got {shape}", M=M, shape=self.columns.shape))
        if self.columns[:1].any():
            raise ValueError(worded("columns must hide nothing from rows of kind 0, got True in row 0"))

    def lower(self, shape: AttentionShape) -> HiddenColumns:
        self.check(shape)
        return HiddenColumns(self.kinds, np.ascontiguousarray(self.columns).view(np.int8))
