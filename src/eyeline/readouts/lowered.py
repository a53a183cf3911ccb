"""Lowered readouts, in the kernels' form: the primitives that a readout needs, forward and backward.

Kernels know no readouts, only these few sums, maxima and selections of the weights w_ij of query i on key j.
`attention` requests the primitives of several readouts in as few passes as possible, and hands each readout its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class LoweredReadout(NamedTuple):
    """The primitives that a readout needs.

    Attributes:
        row_log_weights: Σ_j w_ij · ln w_ij.
        row_distances: the key position of query 0, for Σ_j w_ij · |i + row_distances - j|.
        row_bins: int32 (B or 1, M), each key's bin or -1, for the weight on each of `bins` bins.
        bin_times: (B or 1, H or 1, M), factors of the keys' weights in their bins; None for 1.
        row_offsets: ascending edges, for the weight on each range [edge, next edge) of j - i.
        select: k, for the k largest weights of each row, with their keys.
        select_times: (B or 1, H or 1, M), factors of the keys, for the largest products in place of weights.
        column_sums, column_maxima: Σ_i w_ij and the largest w_ij of each key.
        grid: the numbers of rows and columns of cells, at most N and M, for `grid_sums` and `grid_maxima`.
        looking: whether each query may look at any key.
        rectangle: the positions of queries and of keys, in any order, for their weights.
    """

    row_log_weights: bool = False
    row_distances: int | None = None
    row_bins: NDArray[np.int32] | None = None
    bins: int = 0
    bin_times: Array | None = None
    row_offsets: tuple[int, ...] | None = None
    select: int = 0
    select_times: Array | None = None
    column_sums: bool = False
    column_maxima: bool = False
    grid: tuple[int, int] | None = None
    grid_sums: bool = False
    grid_maxima: bool = False
    looking: bool = False
    rectangle: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    @property
    def of_a_pass(self) -> bool:
        """Whether any primitive is read during a pass; `rectangle` and `looking` are computed separately."""
        sums = self.row_log_weights or self.row_distances is not None or self.row_bins is not None
        sums = sums or self.row_offsets is not None
        return sums or self.select > 0 or self.column_sums or self.column_maxima or self.grid is not None

    def joined(self, other: LoweredReadout) -> LoweredReadout | None:
        """The primitives of both, for one pass; None if they clash: a pass has one set of bins, grid and rectangle."""
        if self.select and other.select and not (self.select_times is other.select_times is None):
            return None
        both: list[Any] = []
        asked: Iterable[tuple[str, Any, Any]] = zip(self._fields, self, other, strict=True)
        for name, mine, its in asked:
            if its is None or its is False:
                both.append(mine)
            elif mine is None or mine is False:
                both.append(its)
            elif name == "select":
                both.append(max(mine, its))
            elif name == "bins":
                both.append(mine + its)  # one of the two is 0
            elif name in ("row_bins", "bin_times", "select_times", "rectangle") or mine != its:
                return None
            else:
                both.append(mine)
        return LoweredReadout(*both)


class FoundPrimitives(NamedTuple):
    """The primitives that were requested, computed from the weights, in the type of the computation; None for others.

    Attributes:
        row_log_weights, row_distances: (B, H, N).
        row_bins: (B, H, N, bins).
        row_offsets: (B, H, N, ranges).
        selected_keys, selected_weights: (B, H, N, select or more), in descending order of weight; key -1 where a query
            has fewer keys.
        column_sums, column_maxima: (B, H, M).
        grid_sums, grid_maxima: (B, H, rows, columns).
        looking: bool (B, H, N).
        rectangle: (B, H, R, C), without rows of queries outside the shard.
    """

    row_log_weights: Any = None
    row_distances: Any = None
    row_bins: Any = None
    row_offsets: Any = None
    selected_keys: Any = None
    selected_weights: Any = None
    column_sums: Any = None
    column_maxima: Any = None
    grid_sums: Any = None
    grid_maxima: Any = None
    looking: Any = None
    rectangle: Any = None


@dataclass(frozen=True, eq=False)
class LoweredGradient:
    """The gradients of a loss in the primitives, for the kernels' backward pass.

    Attributes:
        d_row_log_weights: (B, H, N); `row_log_weights` are the forward pass's values.
        d_row_distances: (B, H, N); `row_distances` as in `LoweredReadout`.
        d_row_bins: (B, H, N, bins); `row_bins` (B or 1, M); `bin_times` as in `LoweredReadout`.
        d_row_offsets: (B, H, N, ranges); `row_offsets` as in `LoweredReadout`.
        d_selected: (B, H, N, K), for the weights of `selected_keys`, int64 (B, H, N, K), -1 for none.
        d_column_sums: (B, H, M).
        d_rectangle: (B, H, R, C), for the weights of the queries `rows` on the keys `columns`, in any order.
    """

    d_row_log_weights: Array | None = None
    row_log_weights: Array | None = None
    d_row_distances: Array | None = None
    row_distances: int | None = None
    d_row_bins: Array | None = None
    row_bins: NDArray[Any] | None = None
    bin_times: Array | None = None
    d_row_offsets: Array | None = None
    row_offsets: tuple[int, ...] | None = None
    d_selected: Array | None = None
    selected_keys: NDArray[np.int64] | None = None
    d_column_sums: Array | None = None
    d_rectangle: Array | None = None
    rows: NDArray[np.int64] | None = None
    columns: NDArray[np.int64] | None = None

    def given(self) -> dict[str, Any]:
        """The fields that aren't None, by name."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name)) is not None}

    def joined(self, other: LoweredGradient) -> LoweredGradient | None:
        """Both gradients, for one backward pass; None if they clash: only gradients of column sums can be added."""
        mine, its = self.given(), other.given()
        if self.d_column_sums is not None and other.d_column_sums is not None:
            mine["d_column_sums"] = its["d_column_sums"] = self.d_column_sums + other.d_column_sums
        elif mine.keys() & its.keys():
            return None
        return LoweredGradient(**(mine | its))
