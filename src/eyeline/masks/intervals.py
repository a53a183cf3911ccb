"""A mask given as intervals of keys per query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.masks.lowered import LoweredMask, ordered
from eyeline.masks.mask import Mask
from eyeline.masks.shape import AttentionShape
from eyeline.words import worded


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class Intervals(Mask):
    """A mask given as intervals of keys per query: smaller than N × M booleans where each row has few intervals.

    Args:
        bounds: whole numbers, (N or 1, K, 2) or (B or 1, N or 1, K, 2): query i may look at key j where `bounds[..., i,
            k, 0] <= j < bounds[..., i, k, 1]` for some k. Intervals may overlap, stand in any order, and reach beyond
            the keys; an interval that ends where it begins, or before, is empty. The array is not copied.

    Raises:
        ValueError: if they aren't whole numbers of such a shape.

    >>> Intervals([[[0, 1]], [[0, 2]], [[1, 3]]]).dense(3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 1, 1]])
    """

    bounds: NDArray[np.integer]

    def __init__(self, bounds: ArrayLike) -> None:
        array = np.asarray(bounds)
        if not np.issubdtype(array.dtype, np.integer) or array.ndim not in (3, 4) or array.shape[-1] != 2:
            raise ValueError(
                worded(
                    "bounds must be whole numbers, (N, K, 2) or (B, N, K, 2), got {dtype} array of shape {shape}",
                    dtype=array.dtype,
                    shape=array.shape,
                )
            )
        object.__setattr__(self, "bounds", array if array.ndim == 4 else array[None])

    def __repr__(self) -> str:
        B, N, K, _ = self.bounds.shape
        return f"Intervals({B} × {N} rows of at most {K})"

    def _fitting(self, shape: AttentionShape) -> NDArray[np.int64]:
        """The bounds, clipped to the keys, (B or 1, 1, N or 1, K, 2)."""
        B, N, *_ = self.bounds.shape
        if B not in (1, shape.batch) or N not in (1, shape.queries):
            raise ValueError(
                worded(
                    "bounds must have one row per query ({queries}), for each batch element ({batch}) or for "
                    "all, got shape {shape}",
                    queries=shape.queries,
                    batch=shape.batch,
                    shape=self.bounds.shape,
                )
            )
        fitting: NDArray[np.int64] = np.clip(self.bounds.astype(np.int64, copy=False), 0, shape.keys)[:, None]
        return fitting

    def rule(self, shape: AttentionShape) -> NDArray[np.bool_]:
        bounds, j = self._fitting(shape)[..., None, :, :], np.arange(shape.keys)[:, None]
        return np.asarray(((bounds[..., 0] <= j) & (j < bounds[..., 1])).any(axis=-1))

    def lower(self, shape: AttentionShape) -> LoweredMask:
        bounds = self._fitting(shape)
        if not bounds.shape[3]:  # no query may look at anything
            bounds = np.zeros((1, 1, 1, 1, 2), np.int64)
        return LoweredMask(ordered(bounds, shape.keys))
