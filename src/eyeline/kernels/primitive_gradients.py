"""The gradients of a loss in the primitives, as the backward pass takes them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels.forms import strided
from eyeline.kernels.launch import Params, tell_rectangle
from eyeline.kernels.primitives import key_factors

Array = NDArray[Any]


@dataclass(frozen=True)
class PrimitiveGradients:
    """The gradients of a loss in lse and in the primitives; None where the loss doesn't depend on one.

    Attributes:
        d_lse: (B, H, N).
        d_row_log_weights: (B, H, N), in Σ_j w_ij · ln w_ij, which is minus an entropy. If it is the only gradient but
            for d_lse, the values of these sums, `row_log_weights` (B, H, N), save a pass over the matrix.
        d_row_distances: (B, H, N), in Σ_j w_ij · |i + row_distances - j|.
        d_row_bins: (B, H, N, C), in the weight on each bin; `row_bins` is int (B or 1, M), a key's bin or -1,
            and `bin_times` (B or 1, H or 1, M) are factors of the keys' weights, if any.
        d_row_offsets: (B, H, N, R), in the weight on each range [edge, next edge) of j - i, of the edges `row_offsets`.
        d_selected: (B, H, N, K), in the weights of the keys `selected_keys`, int64 (B, H, N, K), -1 for none.
        d_column_sums: (B, H, M), in Σ_i w_ij.
        d_rectangle: (B, H, R, C), in the weights of the queries `rows` on the keys `columns`, in any order; repeated
            ones add up.
    """

    d_lse: Array | None = None
    d_row_log_weights: Array | None = None
    row_log_weights: Array | None = None
    d_row_distances: Array | None = None
    row_distances: int = 0
    d_row_bins: Array | None = None
    row_bins: Array | None = None
    bin_times: Array | None = None
    d_row_offsets: Array | None = None
    row_offsets: tuple[int, ...] | None = None
    d_selected: Array | None = None
    selected_keys: Array | None = None
    d_column_sums: Array | None = None
    d_rectangle: Array | None = None
    rows: Array | None = None
    columns: Array | None = None

    def of_weights(self) -> bool:
        """Whether there is a gradient in the weights, that is any but d_lse."""
        return self.d_row_log_weights is not None or self._others()

    def _others(self) -> bool:
        of_rows = (self.d_row_distances, self.d_row_bins, self.d_row_offsets, self.d_selected)
        given = (*of_rows, self.d_column_sums, self.d_rectangle)
        return any(x is not None for x in given)

    def known_delta(self, weight_sums: Array | float) -> Array | None:
        """Each row's Σ_j w_ij · (gradient in w_ij), given the sums of weights; None unless log-weights determine it."""
        if self.d_row_log_weights is None or self.row_log_weights is None or self._others():
            return None
        return np.asarray(self.d_row_log_weights * (self.row_log_weights + weight_sums))

    def tell(self, params: Params, sums: Array) -> None:
        """Set the addresses in the params; `sums` are the rows' l."""
        inside, keys = sums.dtype, params.shape[3]
        record = params.record["primitives"]

        def tell(name: str, array: Array | None, dtype: Any = inside) -> None:
            if array is not None:
                params.held.append(np.ascontiguousarray(array, dtype))
                record[name] = params.held[-1].ctypes.data  # type: ignore[attr-defined]

        record["given"] = 1
        if self.d_row_log_weights is not None:
            tell("d_row_log_weights", self.d_row_log_weights)
            with np.errstate(divide="ignore"):
                tell("log_l", np.log2(sums.astype(np.float64)))
        tell("d_column_sums", self.d_column_sums)
        tell("d_row_distances", self.d_row_distances)
        record["distance_offset"] = self.row_distances
        if self.d_row_bins is not None and self.row_bins is not None:
            tell("d_row_bins", self.d_row_bins)
            tell("labels", self.row_bins, np.int32)
            record["labels_batch"] = keys * 4 if self.row_bins.shape[0] > 1 else 0
            record["bins"] = self.d_row_bins.shape[3]
            times = key_factors(self.bin_times, params.shape, inside)
            if times is not None:
                params.held.append(times)
                record["bin_times"] = strided(times)
        if self.d_row_offsets is not None and self.row_offsets is not None:
            tell("d_row_offsets", self.d_row_offsets)
            tell("offset_edges", np.array(self.row_offsets), np.int64)
            record["offset_ranges"] = self.d_row_offsets.shape[3]
        if self.d_selected is not None:
            tell("d_selected", self.d_selected)
            tell("selected_keys", self.selected_keys, np.int64)
            record["select"] = self.d_selected.shape[3]
        if self.d_rectangle is not None and self.rows is not None and self.columns is not None:
            self._tell_rectangle(params, self.d_rectangle.astype(inside), self.rows, self.columns)

    def _tell_rectangle(self, params: Params, d_rectangle: Array, rows: Array, columns: Array) -> None:
        rows, at_row = np.unique(rows, return_inverse=True)
        columns, at_column = np.unique(columns, return_inverse=True)
        # Row by row, so that repeated rows and columns add up.
        by_row = np.zeros((len(rows), *d_rectangle.shape[:2], d_rectangle.shape[3]), d_rectangle.dtype)
        np.add.at(by_row, at_row, np.moveaxis(d_rectangle, 2, 0))
        summed = np.zeros((len(columns), *by_row.shape[:3]), d_rectangle.dtype)
        np.add.at(summed, at_column, np.moveaxis(by_row, 3, 0))
        tell_rectangle(params, params.record["primitives"]["d_rectangle"], summed.transpose(2, 3, 1, 0), rows, columns)


def weight_sums(maxima: Array, sums: Array, sinks: Array | None) -> Array | float:
    """The sum of each row's weights: 1, or less where a sink has a share."""
    if sinks is None:
        return 1.0
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        logits = np.asarray(sinks, np.float64)[:, None] * math.log2(math.e)
        return np.asarray(1 - np.exp2(logits - maxima) / sums)
