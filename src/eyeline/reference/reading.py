"""Each readout, defined once: a short function of the whole matrix of weights.

Weights w are (..., N, M), 0 where a query may not look at a key; `seen` says where it may.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import edges
from eyeline.readouts.observation import TopKeys

Array = NDArray[np.float64]


def top_k(w: Array, seen: NDArray[np.bool_], k: int) -> TopKeys:
    """Each row's k largest weights and their keys, ties by the lower key; key -1 and weight 0 where there are fewer."""
    M = w.shape[-1]
    order = np.argsort(np.where(seen, -w, np.inf), axis=-1, kind="stable")[..., :k]
    keys = np.where(np.take_along_axis(seen, order, axis=-1), order, -1)
    missing = [(0, 0)] * (w.ndim - 1) + [(0, max(k - M, 0))]
    return TopKeys(
        np.pad(keys, missing, constant_values=-1).astype(np.int64),
        np.pad(np.take_along_axis(w, order, axis=-1), missing),
    )


def entropy(w: Array) -> Array:
    """-Σ w ln w of each row, in nats."""
    return np.asarray(-(w * np.log(np.where(w == 0, 1.0, w))).sum(axis=-1)) + 0.0


def received(w: Array, seen: NDArray[np.bool_], reduce: str) -> Array:
    """Each column's sum, or largest, or mean over the rows that may look at anything."""
    if reduce == "max":
        return np.asarray(w.max(axis=-2, initial=0.0))
    if reduce == "sum":
        return np.asarray(w.sum(axis=-2))
    looking = seen.any(axis=-1).sum(axis=-1)
    return np.asarray(w.sum(axis=-2) / np.maximum(looking, 1)[..., None])


def distance(w: Array, positions: NDArray[np.int64]) -> Array:
    """Σ w·|i' - j| of each row, whose query stands at key position i'."""
    return np.asarray((w * np.abs(positions[:, None] - np.arange(w.shape[-1]))).sum(axis=-1))


def onto(w: Array, labels: NDArray[np.int64], count: int) -> Array:
    """Each row's sum over the keys of each label; labels are (..., M)."""
    member = labels[..., None] == np.arange(count)
    return np.asarray(w @ member.astype(np.float64))


def pooled(w: Array, rows: int, columns: int, reduce: str) -> Array:
    """The matrix as a picture of rows × columns: the mean or the largest of each bin, or each several times."""
    return _binned(_binned(w, columns, -1, reduce), rows, -2, reduce)


def _binned(w: Array, pixels: int, axis: int, reduce: str) -> Array:
    n = w.shape[axis]
    if not n:
        return np.zeros([pixels if axis % w.ndim == at else size for at, size in enumerate(w.shape)])
    bounds = edges(n, pixels)
    if reduce == "max":
        bins: Any = np.maximum.reduceat(w, bounds[:-1], axis=axis)
    else:
        sizes = np.diff(bounds)
        bins = np.add.reduceat(w, bounds[:-1], axis=axis) / (sizes if axis == -1 else sizes[:, None])
    # A picture larger than the matrix shows each row or column several times.
    return np.take(bins, np.arange(pixels) * len(bounds[:-1]) // pixels, axis=axis)
