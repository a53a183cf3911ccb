"""The gradients of a loss in the primitives that were read of the weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels.backward_layout import Gradient
from eyeline.kernels.layout import Word

Array = NDArray[Any]


@dataclass(frozen=True)
class PrimitiveGradients:
    """The gradients of a loss in lse and in primitives, each None if the loss doesn't depend on it.

    Attributes:
        d_lse: (B, H, N).
        d_row_log_weights: (B, H, N), in Σ_j w_ij · ln w_ij, which is minus an entropy; with `row_log_weights`
            (B, H, N), the values of these sums, a pass over the matrix is saved if this is the only gradient beside
            that in lse.
        d_row_distances: (B, H, N), in Σ_j w_ij · |i + row_distances - j|.
        d_row_bins: (B, H, N, C), in the weight on each bin; `row_bins` is int (B or 1, M), a key's bin or -1.
        d_selected: (B, H, N, K), in the weights of the keys `selected_keys`, int64 (B, H, N, K), -1 for none.
        d_column_sums: (B, H, M), in Σ_i w_ij.
        d_rectangle: (B, H, R, C), in the weights of the queries `rows` on the keys `columns`, in any order, and as
            often as they are named.
    """

    d_lse: Array | None = None
    d_row_log_weights: Array | None = None
    row_log_weights: Array | None = None
    d_row_distances: Array | None = None
    row_distances: int = 0
    d_row_bins: Array | None = None
    row_bins: Array | None = None
    d_selected: Array | None = None
    selected_keys: Array | None = None
    d_column_sums: Array | None = None
    d_rectangle: Array | None = None
    rows: Array | None = None
    columns: Array | None = None

    def of_weights(self) -> bool:
        """Whether any is a gradient in weights: all but that in lse are."""
        return self.d_row_log_weights is not None or self._others()

    def _others(self) -> bool:
        given = (self.d_row_distances, self.d_row_bins, self.d_selected, self.d_column_sums, self.d_rectangle)
        return any(x is not None for x in given)

    def known_totals(self, kept: Array | float) -> Array | None:
        """Each row's Σ_j w_ij · (gradient in w_ij), if log-weights alone say so; `kept` is the sum of its weights."""
        if self.d_row_log_weights is None or self.row_log_weights is None or self._others():
            return None
        return np.asarray(self.d_row_log_weights * (self.row_log_weights + kept))

    def tell(self, words: list[int], sums: Array, keys: int) -> list[Array]:
        """Where all of it lies, for rows with these sums; returns what has to be kept alive."""
        inside = sums.dtype
        held: list[Array] = []

        def tell(word: int, array: Array | None, dtype: Any = inside) -> None:
            if array is not None:
                held.append(np.ascontiguousarray(array, dtype))
                words[word] = held[-1].ctypes.data

        words[Gradient.D_READ] = 1
        if self.d_row_log_weights is not None:
            tell(Gradient.D_ENTROPY, -self.d_row_log_weights)
            with np.errstate(divide="ignore"):
                tell(Gradient.LOG_SUMS, np.log2(sums.astype(np.float64)))
        tell(Gradient.D_RECEIVED, self.d_column_sums)
        tell(Gradient.D_DISTANCE, self.d_row_distances)
        words[Word.OFFSET] = self.row_distances
        if self.d_row_bins is not None and self.row_bins is not None:
            tell(Gradient.D_ONTO, self.d_row_bins)
            tell(Word.LABELS, self.row_bins, np.int32)
            words[Word.LABELS_BATCH] = keys * 4 if self.row_bins.shape[0] > 1 else 0
            words[Word.GROUPS] = self.d_row_bins.shape[3]
        if self.d_rectangle is not None and self.rows is not None and self.columns is not None:
            rows, at_row = np.unique(self.rows, return_inverse=True)
            columns, at_column = np.unique(self.columns, return_inverse=True)
            # One row after the other, so that what is named twice counts twice.
            by_row = np.zeros((len(rows), *self.d_rectangle.shape[:2], self.d_rectangle.shape[3]), inside)
            np.add.at(by_row, at_row, np.moveaxis(self.d_rectangle, 2, 0))
            rectangle = np.zeros((len(columns), *by_row.shape[:3]), inside)
            np.add.at(rectangle, at_column, np.moveaxis(by_row, 3, 0))
            rectangle = rectangle.transpose(2, 3, 1, 0)
            tell(Gradient.D_WEIGHTS, rectangle)
            words[Word.WEIGHTS_ROWS], words[Word.WEIGHTS_COLUMNS] = len(rows), len(columns)
            for word, chosen, count in ((Word.ROW_PLACES, rows, sums.shape[2]), (Word.COLUMN_PLACES, columns, keys)):
                places = np.full(count, -1, np.int32)
                places[chosen] = np.arange(len(chosen))
                tell(word, places, np.int32)
        if self.d_selected is not None:
            tell(Gradient.D_TOP, self.d_selected)
            tell(Word.TOP_KEYS, self.selected_keys, np.int64)
            words[Word.TOP] = self.d_selected.shape[3]
        return held


def kept(maxima: Array, sums: Array, sinks: Array | None) -> Array | float:
    """What each row's weights sum to: 1, or less where a sink took some."""
    if sinks is None:
        return 1.0
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        logits = np.asarray(sinks, np.float64)[:, None] * math.log2(math.e)
        return np.asarray(1 - np.exp2(logits - maxima) / sums)
