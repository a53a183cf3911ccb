"""A factor of some weights, after the softmax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import AttentionShape
from eyeline.scores.arrays import Parameter, array_of, beside
from eyeline.scores.lowered import Weighted
from eyeline.scores.score import ALL, Score
from eyeline.words import worded


@dataclass(frozen=True, repr=False, eq=False)
class WeightFactor(Score):
    """Multiplies weights after the softmax by 1 + (by - 1) · row · column; rows aren't renormalised.

    It stands after all that changes scores, sinks too. Readouts are of the multiplied weights; lse is the row's own.

    Args:
        by: one number, or (B or 1, H or 1, N): of each row.
        rows: booleans, (B or 1, H or 1, N): the rows that are multiplied.
        columns: booleans, (B or 1, H or 1, M): the columns.
    """

    by: Parameter
    rows: NDArray[np.bool_]
    columns: NDArray[np.bool_]
    constants = ("rows", "columns")

    def __repr__(self) -> str:
        return f"WeightFactor({int(self.rows.sum())} rows, {int(self.columns.sum())} columns)"

    def apply(self, s: Any, shape: AttentionShape, queries: slice = ALL, keys: slice = ALL) -> Any:
        """The scores unchanged."""
        return s

    def factors(self, w: Any) -> Any:
        """The definition: the factors of weights w, (B, H, n, m), to which `part` has cut the arrays."""
        by = beside(w, self.by)
        by = by[..., None] if by.ndim else by
        rows, columns = (beside(w, x.view(np.int8)) for x in (self.rows, self.columns))
        return 1 + (by - 1) * rows[..., None] * columns[..., None, :]

    def part(self, queries: slice, keys: slice) -> WeightFactor:
        by = self.by
        if getattr(by, "ndim", 0) and by.shape[-1] != 1:
            by = by[..., queries]
        return WeightFactor(by, self.rows[..., queries], self.columns[..., keys])

    def check(self, shape: AttentionShape) -> None:
        B, H, N, M = shape.shape
        for name, array, count in (("rows", self.rows, N), ("columns", self.columns, M)):
            if (
                array.ndim != 3
                or array.shape[0] not in (1, B)
                or array.shape[1] not in (1, H)
                or array.shape[2] != count
            ):
                raise ValueError(
                    worded(
                        "{name} must be (B or 1, H or 1, {count}), got {shape}",
                        name=name,
                        count=count,
                        shape=array.shape,
                    )
                )

    def lower(self, shape: AttentionShape) -> Weighted:
        self.check(shape)
        by = np.where(self.rows, array_of(self.by).astype(np.float64), 1.0)
        return Weighted(by, self.columns.view(np.int8))

    def pull_back(self, gradient: NDArray[Any], shape: AttentionShape) -> dict[str, NDArray[np.float64]]:
        """From the gradient in each row's number, (B, H, N)."""
        found, sizes = np.where(self.rows, gradient, 0).astype(np.float64), tuple(getattr(self.by, "shape", ()))
        apart = (1,) * (3 - len(sizes)) + sizes
        axes = tuple(axis for axis in range(3) if apart[axis] == 1)
        return {"by": found.sum(axis=axes, keepdims=True).reshape(sizes)}
