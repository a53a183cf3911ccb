"""The primitives that a pass can compute from the weights: the request, and the results."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels.compiled.programs import KEY_BLOCK
from eyeline.kernels.forms import address_of, strided
from eyeline.kernels.launch import Params
from eyeline.masks import edges

Array = NDArray[Any]


class Primitives(NamedTuple):
    """The primitives requested of a pass, for the weights w = 2^(score - maximum) / sum, with scores in base 2.

    Readouts are built on these few, which is all that kernels know of them (`readouts`).

    Attributes:
        row_log_weights: whether to compute Σ_j w_ij · (score_ij - maximum_i).
        row_weights: whether to compute Σ_j w_ij of the rows that have factors.
        row_distances: the key position of the pass's first query, to compute Σ_j w_ij · |i + row_distances - j|.
        row_bins: int32 (B or 1, M), each key's bin or -1, to compute the weight on each of `bins` bins.
        bin_times: (B or 1, H or 1, M), factors of the keys' weights in their bins, if any.
        row_offsets: ascending edges, to compute the weight on each range [edge, next edge) of j - i.
        select: k, to find the keys of the k largest weights, and these weights.
        select_times: (B or 1, H or 1, M), factors of the keys, to find the largest products in place of weights.
        column_sums: whether to compute Σ_i w_ij; `column_maxima`: the largest w_ij of each key.
        grid: the numbers of rows and columns of cells, at most N and M, for `grid_sums` and `grid_maxima`.
        maxima, sums: (B, H, N), the totals that normalise the weights, if not the pass's own.
        queries, first_query: the number of queries in the whole, and the position of this pass's first, for the grid.
        row_total: an upper bound on the sum of a row's weights' sizes, from 1 to 2^40: one number, or (B, H).
        counted: bool, (B, N), contiguous: False for queries that are read as if they might look at no key; all count if
            None.
    """

    row_log_weights: bool = False
    row_weights: bool = False
    row_distances: int | None = None
    row_bins: Array | None = None
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
    maxima: Array | None = None
    sums: Array | None = None
    queries: int | None = None
    first_query: int = 0
    row_total: float | Array = 1.0
    counted: NDArray[np.bool_] | None = None


class PrimitiveResults:
    """The primitives that a pass computed: an array for each requested one, else None.

    Attributes:
        row_log_weights, row_weights, row_distances: (B, H, N); `row_weights` of rows without factors mean nothing.
        row_bins: (B, H, N, bins).
        row_offsets: (B, H, N, ranges).
        selected_keys, selected_weights: (B, H, N, select), in descending order of weight; key -1 where there are fewer.
        column_sums, column_maxima: (B, H, M).
        grid_sums, grid_maxima: (B, H, rows, columns).
    """

    def __init__(self, asked: Primitives, shape: tuple[int, int, int, int], dtype: np.dtype[Any]) -> None:
        B, H, N, M = shape
        self._asked = asked
        cells = (B, H, *(asked.grid or (0, 0)))
        queries = N if asked.queries is None else asked.queries
        # Fixed point: 1 is this many units, so that no sum over all queries overflows.
        bits = 61 - queries.bit_length()
        if isinstance(asked.row_total, float):  # quicker, and nearly always so
            self._units = np.full((B, H), 1 << (bits - math.ceil(math.log2(asked.row_total))), np.int64)
        else:
            total = np.broadcast_to(np.ceil(np.log2(asked.row_total)), (B, H)).astype(np.int64)
            self._units = np.ascontiguousarray(np.int64(1) << (bits - total))

        def written(wanted: object, shape: tuple[int, ...], kind: Any = dtype) -> Array | None:
            return np.empty(shape, kind) if wanted else None

        def made(wanted: object, shape: tuple[int, ...], kind: Any = dtype) -> Array | None:
            return np.zeros(shape, kind) if wanted else None

        self.row_log_weights = written(asked.row_log_weights, (B, H, N))
        self.row_weights = written(asked.row_weights, (B, H, N))
        self.row_distances = written(asked.row_distances is not None, (B, H, N))
        self.selected_keys = written(asked.select, (B, H, N, asked.select), np.int64)
        self.selected_weights = written(asked.select, (B, H, N, asked.select))
        self._row_bins = written(asked.row_bins is not None, (B, H, asked.bins, N))
        self._binned_keys = None if asked.row_bins is None else _binned_keys(asked.row_bins)
        self._times = {name: key_factors(getattr(asked, name), shape, dtype) for name in ("bin_times", "select_times")}
        self._edges = None if asked.row_offsets is None else np.array(asked.row_offsets, np.int64)
        self._row_offsets = written(self._edges is not None, (B, H, count_of_ranges(asked.row_offsets), N))
        self._column_sums = made(asked.column_sums, (B, H, M), np.int64)
        self._columns_spoiled = made(asked.column_sums, (B, H, M), np.bool_)
        self.column_maxima = made(asked.column_maxima, (B, H, M))
        self._grid_sums = made(asked.grid_sums, cells, np.int64)
        self._grid_spoiled = made(asked.grid_sums, cells, np.bool_)
        self.grid_maxima = made(asked.grid_maxima, cells)
        rows, columns = cells[2:]
        self._row_places = _bins(queries, rows)[asked.first_query :] if asked.grid else None
        self._column_places = _bins(M, columns) if asked.grid else None
        self._dtype = dtype

    def _floating(self, sums: Array | None, spoiled: Array | None) -> Array | None:
        if sums is None or spoiled is None:
            return None
        result = (sums / self._units.reshape(*self._units.shape, *(1,) * (sums.ndim - 2))).astype(self._dtype)
        result[spoiled] = np.nan
        return result

    @property
    def row_bins(self) -> Array | None:
        return None if self._row_bins is None else self._row_bins.swapaxes(2, 3)

    @property
    def row_offsets(self) -> Array | None:
        return None if self._row_offsets is None else self._row_offsets.swapaxes(2, 3)

    @property
    def column_sums(self) -> Array | None:
        return self._floating(self._column_sums, self._columns_spoiled)

    @property
    def grid_sums(self) -> Array | None:
        return self._floating(self._grid_sums, self._grid_spoiled)

    def tell(self, params: Params) -> None:
        """Set the results' addresses in the params."""
        asked = self._asked
        record = params.record["primitives"]
        record["asked"], record["select"], record["bins"] = 1, asked.select, asked.bins
        record["distance_offset"], record["by_weight"] = asked.row_distances or 0, asked.select_times is not None
        for name, times in self._times.items():
            if times is not None:
                record[name] = strided(times)
        if asked.grid:
            record["grid_rows"], record["grid_columns"] = asked.grid
        if self._binned_keys is not None:
            record["binned_keys_batch"] = self._binned_keys.strides[0] if len(self._binned_keys) > 1 else 0
        record["offset_ranges"] = count_of_ranges(asked.row_offsets)
        if asked.maxima is not None and asked.sums is not None:
            record["m"], record["l"] = asked.maxima.ctypes.data, asked.sums.ctypes.data
        if asked.counted is not None:
            record["counted"] = asked.counted.ctypes.data
        for name, array in (
            ("row_log_weights", self.row_log_weights),
            ("row_weights", self.row_weights),
            ("row_distances", self.row_distances),
            ("units", self._units),
            ("selected_weights", self.selected_weights),
            ("selected_keys", self.selected_keys),
            ("binned_keys", self._binned_keys),
            ("row_bins", self._row_bins),
            ("offset_edges", self._edges),
            ("row_offsets", self._row_offsets),
            ("column_sums", self._column_sums),
            ("column_spoiled", self._columns_spoiled),
            ("column_maxima", self.column_maxima),
            ("grid_row_places", self._row_places),
            ("grid_column_places", self._column_places),
            ("grid_sums", self._grid_sums),
            ("grid_spoiled", self._grid_spoiled),
            ("grid_maxima", self.grid_maxima),
        ):
            if array is not None:
                record[name] = address_of(array)
        params.held.append(self)


class PrimitiveRoom(NamedTuple):
    """The numbers that determine the size of the primitives' parts of a workspace; names as in `Primitives`."""

    keys: int
    select: int
    bins: int
    ranges: int
    grid_columns: int
    grid_sums: bool
    grid_maxima: bool
    column_sums: bool
    column_maxima: bool

    @classmethod
    def of(cls, asked: Primitives, keys: int) -> PrimitiveRoom:
        """The room that these primitives need over so many keys."""
        columns = asked.grid[1] if asked.grid else 0
        return cls(
            keys,
            asked.select,
            asked.bins,
            count_of_ranges(asked.row_offsets),
            columns,
            asked.grid_sums,
            asked.grid_maxima,
            asked.column_sums,
            asked.column_maxima,
        )


def count_of_ranges(edges: tuple[int, ...] | None) -> int:
    """The number of ranges between edges."""
    return len(edges) - 1 if edges else 0


def key_factors(times: Array | None, shape: tuple[int, int, int, int], dtype: np.dtype[Any]) -> Array | None:
    """Factors of the keys, (B or 1, H or 1, M), as the kernels read them: (B, H, M), of this type."""
    B, H, _, M = shape
    return None if times is None else np.broadcast_to(np.ascontiguousarray(times, dtype), (B, H, M))


def _binned_keys(bins: NDArray[np.int32]) -> NDArray[np.int32]:
    """The keys of each block of `KEY_BLOCK` in the order of their bins, (B, M), and these bins: (B, M, 2).

    Their sums then stay in registers, one bin after the other; each is still of the same numbers in the same order.
    """
    M = bins.shape[1]
    keys = np.argsort(bins + np.arange(M) // KEY_BLOCK * (bins.max(initial=0) + 2), axis=1, kind="stable")
    return np.stack([keys, np.take_along_axis(bins, keys, axis=1)], axis=2, dtype=np.int32, casting="same_kind")


def _bins(tokens: int, count: int) -> NDArray[np.int32]:
    """The bin of each token, for `count` bins, at most as many as tokens."""
    return np.repeat(np.arange(count, dtype=np.int32), np.diff(edges(tokens, count)))
