"""Each query's mean distance to the keys, by weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import Align, AttentionShape, check_align, first_standing, standing
from eyeline.readouts.lowered import FoundPrimitives, LoweredGradient, LoweredReadout
from eyeline.readouts.readout import Array, PartialResult, Readout, ResultArray, Rows


@dataclass(frozen=True)
class MeanDistance(Readout[Array]):
    """How far each query looks, in tokens: Σ w·|i' - j|, where i' is the key position at which query i stands.

    Result `mean_distance`, (..., H, N); 0 for a query that may look at nothing.

    Args:
        align: as in `Causal`, needed where queries and keys differ in number.

    Raises:
        ValueError: if `align` is needed and not given, or isn't an alignment.

    Source: Vig and Belinkov, "Analyzing the Structure of Attention in a Transformer Language Model" (2019), section 4.

    >>> MeanDistance(align="end")
    MeanDistance(align='end')
    """

    name = "mean_distance"
    column = "distance"
    align: Align | None = None

    def __post_init__(self) -> None:
        check_align(self.align)

    def positions(self, shape: AttentionShape) -> NDArray[np.int64]:
        """The key position at which each query stands, (N,)."""
        return standing(shape, self.align, self)[:, 0]

    def check(self, shape: AttentionShape) -> None:
        first_standing(shape, self.align, self)

    def results(self, shape: AttentionShape) -> tuple[ResultArray, ...]:
        return (ResultArray("mean_distance", ("queries",), (shape.queries,)),)

    def _distances(self, rows: Rows) -> Any:
        """|i' - j|, (n, M)."""
        positions = self.positions(rows.shape)[rows.first : rows.last]
        return rows.constant(np.abs(positions[:, None] - np.arange(rows.shape.keys)))

    def read(self, rows: Rows) -> PartialResult:
        return PartialResult(((rows.w * self._distances(rows)).sum(axis=-1),), *rows.place)

    def coefficients(self, d: Any, found: PartialResult, rows: Rows) -> Any:
        return d[..., rows.first : rows.last, None] * self._distances(rows)

    def lower(self, shape: AttentionShape) -> LoweredReadout:
        return LoweredReadout(row_distances=self._stands(shape))

    def _stands(self, shape: AttentionShape) -> int:
        """The key position of query 0."""
        return int(first_standing(shape, self.align, self)) if shape.queries else 0

    def result(self, found: FoundPrimitives, shape: AttentionShape) -> tuple[Any, ...]:
        return (found.row_distances,)

    def lower_gradient(self, d: Any, arrays: tuple[Any, ...], shape: AttentionShape) -> LoweredGradient | None:
        return LoweredGradient(d_row_distances=d, row_distances=self._stands(shape))
