"""The numbers that edits multiply by: one, or one per position."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.edits.errors import EditError
from eyeline.words import worded


def check_by(by: Any) -> Any:
    """A factor: a finite number, or an array or a tensor of one number or of one per position.

    A list becomes an array. A tensor is kept as it is, so that autograd can reach it.
    """
    if isinstance(by, (list, tuple)):
        by = np.asarray(by)
    if isinstance(by, np.ndarray):
        if by.dtype.kind not in "fiu" or by.ndim > 1 or not np.isfinite(by).all():
            raise EditError(
                worded(
                    "by must be finite real numbers, one or one per position, got {dtype} of shape {shape}",
                    dtype=by.dtype,
                    shape=by.shape,
                )
            )
        return by
    if hasattr(by, "detach"):
        if by.ndim > 1 or not by.is_floating_point():
            raise EditError(
                worded(
                    "by must be a floating-point tensor of one number or of one per position, got {dtype} of "
                    "shape {shape}",
                    dtype=by.dtype,
                    shape=tuple(by.shape),
                )
            )
        return by
    if isinstance(by, bool) or not isinstance(by, (int, float, np.number)) or not math.isfinite(by):
        raise EditError(worded("by must be a finite number, or one per position, got {by!r}", by=by))
    return float(by)


def taken_from(by: Any, positions: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Each row's place in `by`, -1 for padding; None if `by` is one number.

    Raises:
        EditError: if a position has none.
    """
    if not getattr(by, "ndim", 0):
        return None
    last = int(positions.max(initial=-1))
    if last >= len(by):
        raise EditError(
            worded("by must have a number for each position, up to {last}, got {count}", last=last, count=len(by))
        )
    return positions


def values_of(by: Any, positions: NDArray[np.int64]) -> NDArray[np.float64]:
    """The factor of each row, float64, (B or 1, N); 1 for padding. For definitions: gradients are lost."""
    array = np.asarray(by.detach().cpu().numpy() if hasattr(by, "detach") else by, np.float64)
    taken = taken_from(array, positions)
    found = np.broadcast_to(array, positions.shape) if taken is None else array[taken]
    return np.where(positions >= 0, found, 1.0)
