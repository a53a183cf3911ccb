"""The gradients of a loss in what was read of the weights."""

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
class ReadGradients:
    """The gradients of a loss in readouts, each None if the loss doesn't depend on it.

    Attributes:
        lse: (B, H, N).
        entropy: (B, H, N), in nats; with `entropy_values` (B, H, N), what the entropies were, a pass over the matrix is
            saved where entropy is the only readout here beside lse.
        received: (B, H, M), in Σ_i w_ij.
        distance: (B, H, N), in Σ_j w_ij · |i + offset - j|.
        onto: (B, H, N, C), in the sums of each label's weights; `labels` is int (B or 1, M), -1 for none.
        weights: (B, H, R, C), in the weights of the queries `rows` on the keys `columns`, in any order, and as often as
            they are named.
        top: (B, H, N, K), in the weights of the keys `top_keys`, int64 (B, H, N, K), -1 for none.
    """

    lse: Array | None = None
    entropy: Array | None = None
    entropy_values: Array | None = None
    received: Array | None = None
    distance: Array | None = None
    offset: int = 0
    onto: Array | None = None
    labels: Array | None = None
    weights: Array | None = None
    rows: Array | None = None
    columns: Array | None = None
    top: Array | None = None
    top_keys: Array | None = None

    def of_weights(self) -> bool:
        """Whether any is a gradient in weights: all but lse are."""
        given = (self.entropy, self.received, self.distance, self.onto, self.weights, self.top)
        return any(x is not None for x in given)

    def entropy_totals(self, kept: Array | float) -> Array | None:
        """Each row's Σ_j w_ij · (gradient in w_ij), if entropies alone say so; `kept` is the sum of its weights."""
        others = (self.received, self.distance, self.onto, self.weights, self.top)
        if self.entropy is None or self.entropy_values is None or any(x is not None for x in others):
            return None
        return np.asarray(self.entropy * (self.entropy_values - kept))

    def tell(self, words: list[int], sums: Array, keys: int) -> list[Array]:
        """Where all of it lies, for rows with these sums; returns what has to be kept alive."""
        inside = sums.dtype
        held: list[Array] = []

        def tell(word: int, array: Array | None, dtype: Any = inside) -> None:
            if array is not None:
                held.append(np.ascontiguousarray(array, dtype))
                words[word] = held[-1].ctypes.data

        words[Gradient.D_READ] = 1
        tell(Gradient.D_ENTROPY, self.entropy)
        if self.entropy is not None:
            with np.errstate(divide="ignore"):
                tell(Gradient.LOG_SUMS, np.log2(sums.astype(np.float64)))
        tell(Gradient.D_RECEIVED, self.received)
        tell(Gradient.D_DISTANCE, self.distance)
        words[Word.OFFSET] = self.offset
        if self.onto is not None and self.labels is not None:
            tell(Gradient.D_ONTO, self.onto)
            tell(Word.LABELS, self.labels, np.int32)
            words[Word.LABELS_BATCH] = keys * 4 if self.labels.shape[0] > 1 else 0
            words[Word.GROUPS] = self.onto.shape[3]
        if self.weights is not None and self.rows is not None and self.columns is not None:
            rows, at_row = np.unique(self.rows, return_inverse=True)
            columns, at_column = np.unique(self.columns, return_inverse=True)
            # One row after the other, so that what is named twice counts twice.
            by_row = np.zeros((len(rows), *self.weights.shape[:2], self.weights.shape[3]), inside)
            np.add.at(by_row, at_row, np.moveaxis(self.weights, 2, 0))
            rectangle = np.zeros((len(columns), *by_row.shape[:3]), inside)
            np.add.at(rectangle, at_column, np.moveaxis(by_row, 3, 0))
            rectangle = rectangle.transpose(2, 3, 1, 0)
            tell(Gradient.D_WEIGHTS, rectangle)
            words[Word.WEIGHTS_ROWS], words[Word.WEIGHTS_COLUMNS] = len(rows), len(columns)
            for word, chosen, count in ((Word.ROW_PLACES, rows, sums.shape[2]), (Word.COLUMN_PLACES, columns, keys)):
                places = np.full(count, -1, np.int32)
                places[chosen] = np.arange(len(chosen))
                tell(word, places, np.int32)
        if self.top is not None:
            tell(Gradient.D_TOP, self.top)
            tell(Word.TOP_KEYS, self.top_keys, np.int64)
            words[Word.TOP] = self.top.shape[3]
        return held


def kept(maxima: Array, sums: Array, sinks: Array | None) -> Array | float:
    """What each row's weights sum to: 1, or less where a sink took some."""
    if sinks is None:
        return 1.0
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        logits = np.asarray(sinks, np.float64)[:, None] * math.log2(math.e)
        return np.asarray(1 - np.exp2(logits - maxima) / sums)
