"""Pairs hidden by a score of -inf: what cut edges are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import AttentionShape
from eyeline.scores.arrays import beside
from eyeline.scores.lowered import Hidden
from eyeline.scores.score import ALL, Score


@dataclass(frozen=True, repr=False, eq=False)
class HiddenPairs(Score):
    """Scores of some rows on some columns become -inf.

    As a mask it would be intervals between the columns, as many for each row as there are gaps; so it is no more than
    its rows and its columns.

    Args:
        rows: booleans, (B or 1, H or 1, N).
        columns: booleans, (B or 1, H or 1, M).
    """

    rows: NDArray[np.bool_]
    columns: NDArray[np.bool_]

    def __repr__(self) -> str:
        return f"HiddenPairs({int(self.rows.sum())} rows, {int(self.columns.sum())} columns)"

    def apply(self, s: Any, shape: AttentionShape, queries: slice = ALL, keys: slice = ALL) -> Any:
        rows, columns = (beside(s, x.astype(np.int64)) != 0 for x in (self.rows, self.columns))
        pairs = rows[..., None] & columns[..., None, :]
        return np.where(pairs, -np.inf, s) if isinstance(s, np.ndarray) else s.masked_fill(pairs, -np.inf)

    def part(self, queries: slice, keys: slice) -> HiddenPairs:
        return HiddenPairs(self.rows[..., queries], self.columns[..., keys])

    def check(self, shape: AttentionShape) -> None:
        B, H, N, M = shape.shape
        for name, array, count in (("rows", self.rows, N), ("columns", self.columns, M)):
            fits = array.ndim == 3 and array.shape[0] in (1, B) and array.shape[1] in (1, H) and array.shape[2] == count
            if not fits:
                raise ValueError(f"{name} must be (B or 1, H or 1, {count}), got {array.shape}")

    def parameters(self) -> dict[str, Any]:
        return {}

    def lower(self, shape: AttentionShape) -> Hidden:
        self.check(shape)
        return Hidden(self.rows.view(np.int8), self.columns.view(np.int8))
