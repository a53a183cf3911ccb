"""Readouts as the kernels see them: the primitives that one is made of, forward and backward.

Kernels know these few sums, maxima and selections of the weights w_ij of query i on key j, and no readout. `attention`
asks them for what several readouts need in as few passes as will do, and hands what was found to each readout.
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
        row_distances: the key at which the first query of all stands, for Σ_j w_ij · |i + row_distances - j|.
        row_bins: int32 (B or 1, M), each key's bin or -1, for the weight on each of `bins` bins.
        select: the number of largest weights of each row, with their keys.
        column_sums, column_maxima: Σ_i w_ij and the largest w_ij of each key.
        grid: the number of rows and columns of cells, at most N and M, for `grid_sums` and `grid_maxima`.
        looking: which queries may look at any key.
        rectangle: the weights of these queries and keys, numbers among all, in any order.
    """

    row_log_weights: bool = False
    row_distances: int | None = None
    row_bins: NDArray[np.int32] | None = None
    bins: int = 0
    select: int = 0
    column_sums: bool = False
    column_maxima: bool = False
    grid: tuple[int, int] | None = None
    grid_sums: bool = False
    grid_maxima: bool = False
    looking: bool = False
    rectangle: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    @property
    def of_a_pass(self) -> bool:
        """Whether anything is to be read in a pass; a rectangle and which queries look are had otherwise."""
        sums = self.row_log_weights or self.row_distances is not None or self.row_bins is not None
        return sums or self.select > 0 or self.column_sums or self.column_maxima or self.grid is not None

    def joined(self, other: LoweredReadout) -> LoweredReadout | None:
        """What serves both in one pass; None if a pass can't: it has one set of bins, one grid and one rectangle."""
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
            elif name in ("row_bins", "rectangle") or mine != its:
                return None
            else:
                both.append(mine)
        return LoweredReadout(*both)


class FoundPrimitives(NamedTuple):
    """What a pass found: the primitives that were asked for, of weights in the type that they are computed in.

    Attributes:
        row_log_weights, row_distances: (B, H, N).
        row_bins: (B, H, N, bins).
        selected_keys, selected_weights: (B, H, N, select or more), from the largest weight down; key -1 where there are
            fewer.
        column_sums, column_maxima: (B, H, M).
        grid_sums, grid_maxima: (B, H, rows, columns).
        looking: bool (B, H, N).
        rectangle: (B, H, R, C), without the rows of queries that aren't here.
    """

    row_log_weights: Any = None
    row_distances: Any = None
    row_bins: Any = None
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
    """The gradients of a loss in primitives, for the kernels' backward pass.

    Attributes:
        d_row_log_weights: (B, H, N), with the values `row_log_weights`.
        d_row_distances: (B, H, N), with `row_distances` as in `LoweredReadout`.
        d_row_bins: (B, H, N, bins), with `row_bins` (B or 1, M).
        d_selected: (B, H, N, K), in the weights of `selected_keys`, int64 (B, H, N, K), -1 for none.
        d_column_sums: (B, H, M).
        d_rectangle: (B, H, R, C), of the queries `rows` and the keys `columns`, in any order.
    """

    d_row_log_weights: Array | None = None
    row_log_weights: Array | None = None
    d_row_distances: Array | None = None
    row_distances: int | None = None
    d_row_bins: Array | None = None
    row_bins: NDArray[Any] | None = None
    d_selected: Array | None = None
    selected_keys: NDArray[np.int64] | None = None
    d_column_sums: Array | None = None
    d_rectangle: Array | None = None
    rows: NDArray[np.int64] | None = None
    columns: NDArray[np.int64] | None = None

    def given(self) -> dict[str, Any]:
        """What there is, by name."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name)) is not None}

    def joined(self, other: LoweredGradient) -> LoweredGradient | None:
        """Both together; None if one backward pass can't take both, which only sums of columns always can."""
        mine, its = self.given(), other.given()
        if self.d_column_sums is not None and other.d_column_sums is not None:
            mine["d_column_sums"] = its["d_column_sums"] = self.d_column_sums + other.d_column_sums
        elif mine.keys() & its.keys():
            return None
        return LoweredGradient(**(mine | its))
