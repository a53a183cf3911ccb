"""What a pass is asked to read of the weights, and what it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels.layout import KEY_BLOCK, Word
from eyeline.masks import edges

Array = NDArray[Any]


@dataclass(frozen=True)
class Reads:
    """What to read; all of it of the weights 2^(score - maximum) / sum.

    Attributes:
        surprise: whether to read Σ w · (score - maximum), in base 2, from which the entropy comes.
        distance: where the first query stands, to read Σ w · |i + distance - j|.
        top: how many keys of most weight.
        labels: int32 (B or 1, M), each key's group or -1, to read the weight on each of `groups` groups.
        received: whether to read Σ w over the queries; `received_maxima`: the largest w.
        pool: rows and columns of a picture, at most N and M, and whether of sums, of maxima.
        maxima, sums: (B, H, N), what weights are relative to, if not the pass's own.
        queries, first_query: how many queries the whole has, and the number of this pass's first, for the picture.
    """

    surprise: bool = False
    distance: int | None = None
    top: int = 0
    labels: Array | None = None
    groups: int = 0
    received: bool = False
    received_maxima: bool = False
    pool: tuple[int, int] | None = None
    pooled_sums: bool = False
    pooled_maxima: bool = False
    maxima: Array | None = None
    sums: Array | None = None
    queries: int | None = None
    first_query: int = 0


class Found:
    """What was read: an array for each thing asked for, else None.

    Attributes:
        surprise, distance: (B, H, N).
        top_keys, top_weights: (B, H, N, top); key -1 where there are fewer.
        onto: (B, H, N, groups).
        received, received_maxima: (B, H, M).
        pooled, pooled_maxima: (B, H, rows, columns).
    """

    def __init__(self, reads: Reads, shape: tuple[int, int, int, int], dtype: np.dtype[Any]) -> None:
        B, H, N, M = shape
        self._reads = reads
        picture = (B, H, *(reads.pool or (0, 0)))
        queries = N if reads.queries is None else reads.queries
        # So many units make 1 that no sum over all queries overflows: each row's weights sum to 1 at most.
        self._units = 2.0 ** (61 - queries.bit_length())

        def made(wanted: object, shape: tuple[int, ...], kind: Any = dtype) -> Array | None:
            return np.zeros(shape, kind) if wanted else None

        self.surprise = made(reads.surprise, (B, H, N))
        self.distance = made(reads.distance is not None, (B, H, N))
        self.top_keys = np.full((B, H, N, reads.top), -1, np.int64) if reads.top else None
        self.top_weights = made(reads.top, (B, H, N, reads.top))
        self.onto = made(reads.labels is not None, (B, H, N, reads.groups))
        self._received = made(reads.received, (B, H, M), np.int64)
        self._spoiled = made(reads.received, (B, H, M), np.bool_)
        self.received_maxima = made(reads.received_maxima, (B, H, M))
        self._pooled = made(reads.pooled_sums, picture, np.int64)
        self._pool_spoiled = made(reads.pooled_sums, picture, np.bool_)
        self.pooled_maxima = made(reads.pooled_maxima, picture)
        rows, columns = picture[2:]
        self._places = [np.zeros(0, np.int32)] * 2
        if reads.pool:
            self._places = [_bins(n, count) for n, count in ((queries, rows), (M, columns))]
            self._places[0] = self._places[0][reads.first_query :]
        self._dtype = dtype

    def _floating(self, sums: Array | None, spoiled: Array | None) -> Array | None:
        if sums is None or spoiled is None:
            return None
        result = (sums / self._units).astype(self._dtype)
        result[spoiled] = np.nan
        return result

    @property
    def received(self) -> Array | None:
        return self._floating(self._received, self._spoiled)

    @property
    def pooled(self) -> Array | None:
        return self._floating(self._pooled, self._pool_spoiled)

    def tell(self, words: list[int]) -> None:
        """Where all of it goes."""
        reads = self._reads
        words[Word.READ] = 1
        words[Word.TOP], words[Word.GROUPS], words[Word.OFFSET] = reads.top, reads.groups, reads.distance or 0
        words[Word.UNITS] = int(self._units)
        if reads.pool:
            words[Word.POOL_ROWS], words[Word.POOL_COLUMNS] = reads.pool
        if reads.labels is not None:
            words[Word.LABELS_BATCH] = reads.labels.strides[0] if reads.labels.shape[0] > 1 else 0
        held = {
            Word.READ_MAXIMA: reads.maxima,
            Word.READ_SUMS: reads.sums,
            Word.SURPRISE: self.surprise,
            Word.DISTANCE: self.distance,
            Word.TOP_WEIGHTS: self.top_weights,
            Word.TOP_KEYS: self.top_keys,
            Word.LABELS: reads.labels,
            Word.ONTO: self.onto,
            Word.RECEIVED: self._received,
            Word.RECEIVED_MAXIMA: self.received_maxima,
            Word.SPOILED: self._spoiled,
            Word.POOLED: self._pooled,
            Word.POOLED_MAXIMA: self.pooled_maxima,
            Word.POOL_SPOILED: self._pool_spoiled,
            Word.POOL_ROW_PLACES: self._places[0],
            Word.POOL_COLUMN_PLACES: self._places[1],
        }
        for place, array in held.items():
            words[place] = 0 if array is None else array.ctypes.data

    def scratch(self, words: list[int], line: int, rows: int, panels: int, keys: int) -> list[tuple[Word, int]]:
        """The parts of a thread's scratch that reading needs, with their lengths; those of a panel's own are told."""
        reads = self._reads
        size = self._dtype.itemsize
        words[Word.S_KEPT_SIZE] = (keys + KEY_BLOCK + rows) * line
        blocks = -(-max(keys, 1) // KEY_BLOCK)
        words[Word.S_VISITS_SIZE] = (1 + 2 * blocks) * 8
        words[Word.S_PEAKS_SIZE] = blocks * line if reads.top else 0
        columns = words[Word.POOL_COLUMNS]
        return [
            (Word.S_KEPT, panels * words[Word.S_KEPT_SIZE]),
            (Word.S_VISITS, panels * words[Word.S_VISITS_SIZE]),
            (Word.S_PEAKS, panels * words[Word.S_PEAKS_SIZE]),
            (Word.S_BOUNDS_BELOW, line),
            (Word.S_SURPRISE, line),
            (Word.S_DISTANCE, line),
            (Word.S_BEST, reads.top * line),
            (Word.S_BEST_KEYS, reads.top * line // size * 8),
            (Word.S_ONTO, reads.groups * line),
            (Word.S_POOL, columns * line if reads.pooled_sums else 0),
            (Word.S_POOL_MAXIMA, columns * line if reads.pooled_maxima else 0),
            (Word.S_RECEIVED, keys * 8 if reads.received else 0),
            (Word.S_RECEIVED_MAXIMA, keys * size if reads.received_maxima else 0),
        ]


def _bins(tokens: int, count: int) -> NDArray[np.int32]:
    """The bin of each token, of `count` at most as many."""
    return np.repeat(np.arange(count, dtype=np.int32), np.diff(edges(tokens, count)))
