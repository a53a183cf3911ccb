"""The primitives that a pass can read of the weights: which are asked for, and what it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels.layout import KEY_BLOCK, Word
from eyeline.masks import edges

Array = NDArray[Any]


@dataclass(frozen=True)
class Primitives:
    """What a pass is to read of the weights w = 2^(score - maximum) / sum, where a score is in base 2.

    Readouts are made of these few, which is all that kernels know of them (`readouts`).

    Attributes:
        row_log_weights: whether to read Σ_j w_ij · (score_ij - maximum_i).
        row_distances: the key at which the first query stands, to read Σ_j w_ij · |i + row_distances - j|.
        row_bins: int32 (B or 1, M), each key's bin or -1, to read the weight on each of `bins` bins.
        select: how many keys of the largest weights to read, with these.
        column_sums: whether to read Σ_i w_ij; `column_maxima`: the largest w_ij of a key.
        grid: rows and columns of cells, at most N and M, over which `grid_sums` and `grid_maxima` are read.
        maxima, sums: (B, H, N), what weights are relative to, if not the pass's own.
        queries, first_query: how many queries the whole has, and the number of this pass's first, for the grid.
    """

    row_log_weights: bool = False
    row_distances: int | None = None
    row_bins: Array | None = None
    bins: int = 0
    select: int = 0
    column_sums: bool = False
    column_maxima: bool = False
    grid: tuple[int, int] | None = None
    grid_sums: bool = False
    grid_maxima: bool = False
    maxima: Array | None = None
    sums: Array | None = None
    queries: int | None = None
    first_query: int = 0


class PrimitiveResults:
    """What a pass read of the weights: an array for each primitive asked for, else None.

    Attributes:
        row_log_weights, row_distances: (B, H, N).
        row_bins: (B, H, N, bins).
        selected_keys, selected_weights: (B, H, N, select), from the largest weight down; key -1 where there are fewer.
        column_sums, column_maxima: (B, H, M).
        grid_sums, grid_maxima: (B, H, rows, columns).
    """

    def __init__(self, asked: Primitives, shape: tuple[int, int, int, int], dtype: np.dtype[Any]) -> None:
        B, H, N, M = shape
        self._asked = asked
        cells = (B, H, *(asked.grid or (0, 0)))
        queries = N if asked.queries is None else asked.queries
        # So many units make 1 that no sum over all queries overflows: each row's weights sum to 1 at most.
        self._units = 2.0 ** (61 - queries.bit_length())

        def made(wanted: object, shape: tuple[int, ...], kind: Any = dtype) -> Array | None:
            return np.zeros(shape, kind) if wanted else None

        self.row_log_weights = made(asked.row_log_weights, (B, H, N))
        self.row_distances = made(asked.row_distances is not None, (B, H, N))
        self.selected_keys = np.full((B, H, N, asked.select), -1, np.int64) if asked.select else None
        self.selected_weights = made(asked.select, (B, H, N, asked.select))
        self.row_bins = made(asked.row_bins is not None, (B, H, N, asked.bins))
        self._column_sums = made(asked.column_sums, (B, H, M), np.int64)
        self._columns_spoiled = made(asked.column_sums, (B, H, M), np.bool_)
        self.column_maxima = made(asked.column_maxima, (B, H, M))
        self._grid_sums = made(asked.grid_sums, cells, np.int64)
        self._grid_spoiled = made(asked.grid_sums, cells, np.bool_)
        self.grid_maxima = made(asked.grid_maxima, cells)
        rows, columns = cells[2:]
        self._places = [np.zeros(0, np.int32)] * 2
        if asked.grid:
            self._places = [_bins(n, count) for n, count in ((queries, rows), (M, columns))]
            self._places[0] = self._places[0][asked.first_query :]
        self._dtype = dtype

    def _floating(self, sums: Array | None, spoiled: Array | None) -> Array | None:
        if sums is None or spoiled is None:
            return None
        result = (sums / self._units).astype(self._dtype)
        result[spoiled] = np.nan
        return result

    @property
    def column_sums(self) -> Array | None:
        return self._floating(self._column_sums, self._columns_spoiled)

    @property
    def grid_sums(self) -> Array | None:
        return self._floating(self._grid_sums, self._grid_spoiled)

    def tell(self, words: list[int]) -> None:
        """Where all of it goes."""
        asked = self._asked
        words[Word.READ] = 1
        words[Word.TOP], words[Word.GROUPS], words[Word.OFFSET] = asked.select, asked.bins, asked.row_distances or 0
        words[Word.UNITS] = int(self._units)
        if asked.grid:
            words[Word.POOL_ROWS], words[Word.POOL_COLUMNS] = asked.grid
        if asked.row_bins is not None:
            words[Word.LABELS_BATCH] = asked.row_bins.strides[0] if asked.row_bins.shape[0] > 1 else 0
        held = {
            Word.READ_MAXIMA: asked.maxima,
            Word.READ_SUMS: asked.sums,
            Word.SURPRISE: self.row_log_weights,
            Word.DISTANCE: self.row_distances,
            Word.TOP_WEIGHTS: self.selected_weights,
            Word.TOP_KEYS: self.selected_keys,
            Word.LABELS: asked.row_bins,
            Word.ONTO: self.row_bins,
            Word.RECEIVED: self._column_sums,
            Word.RECEIVED_MAXIMA: self.column_maxima,
            Word.SPOILED: self._columns_spoiled,
            Word.POOLED: self._grid_sums,
            Word.POOLED_MAXIMA: self.grid_maxima,
            Word.POOL_SPOILED: self._grid_spoiled,
            Word.POOL_ROW_PLACES: self._places[0],
            Word.POOL_COLUMN_PLACES: self._places[1],
        }
        for place, array in held.items():
            words[place] = 0 if array is None else array.ctypes.data

    def scratch(self, words: list[int], line: int, rows: int, panels: int, keys: int) -> list[tuple[Word, int]]:
        """The parts of a thread's scratch that reading needs, with their lengths; those of a panel's own are told."""
        asked = self._asked
        size = self._dtype.itemsize
        words[Word.S_KEPT_SIZE] = (keys + KEY_BLOCK + rows) * line
        blocks = -(-max(keys, 1) // KEY_BLOCK)
        words[Word.S_VISITS_SIZE] = (1 + 2 * blocks) * 8
        words[Word.S_PEAKS_SIZE] = blocks * line if asked.select else 0
        columns = words[Word.POOL_COLUMNS]
        return [
            (Word.S_KEPT, panels * words[Word.S_KEPT_SIZE]),
            (Word.S_VISITS, panels * words[Word.S_VISITS_SIZE]),
            (Word.S_PEAKS, panels * words[Word.S_PEAKS_SIZE]),
            (Word.S_BOUNDS_BELOW, line),
            (Word.S_SURPRISE, line),
            (Word.S_DISTANCE, line),
            (Word.S_BEST, asked.select * line),
            (Word.S_BEST_KEYS, asked.select * line // size * 8),
            (Word.S_ONTO, asked.bins * line),
            (Word.S_POOL, columns * line if asked.grid_sums else 0),
            (Word.S_POOL_MAXIMA, columns * line if asked.grid_maxima else 0),
            (Word.S_RECEIVED, keys * 8 if asked.column_sums else 0),
            (Word.S_RECEIVED_MAXIMA, keys * size if asked.column_maxima else 0),
        ]


def _bins(tokens: int, count: int) -> NDArray[np.int32]:
    """The bin of each token, of `count` at most as many."""
    return np.repeat(np.arange(count, dtype=np.int32), np.diff(edges(tokens, count)))
