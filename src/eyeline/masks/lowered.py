"""Lowered masks, the kernels' input: intervals of keys per query, with booleans or functions where those don't do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: A user's rule on scalars: whether, in batch element b and head h, query i may look at key j.
Rule = Callable[[int, int, int, int], bool]


@dataclass(frozen=True)
class LoweredMask:
    """A mask in the kernels' form.

    `bounds` is int32, (B or 1, H or 1, N or 1, K, 2): query i may look at key j where `bounds[..., k, 0] <= j <
    bounds[..., k, 1]` for some k; the K intervals of a row are in order and disjoint, empty ones ([M, M)) last. Where
    `allowed` is given (bool, (B or 1, H or 1, N or 1, M or 1)), `allowed[..., i, j]` must hold too, and so must
    `function(b, h, i, j)` for each of the `functions`, Python functions of four whole numbers that Numba can compile.
    The same mask always lowers to the same functions, so that their compiled code can be reused.
    """

    bounds: NDArray[np.int32]
    allowed: NDArray[np.bool_] | None = None
    functions: tuple[Rule, ...] = ()


def everywhere(keys: int) -> NDArray[np.int32]:
    """Bounds that let every query look at every key."""
    return np.array([0, keys] if keys else [keys, keys], np.int32).reshape(1, 1, 1, 1, 2)


def one_interval(first: NDArray[Any], last: NDArray[Any], keys: int) -> LoweredMask:
    """Lower one interval [first, last) per row, clipped to [0, M); first and last are (B or 1, H or 1, N) or (N,)."""
    bounds = np.stack(np.broadcast_arrays(first, last), axis=-1)
    bounds = bounds.reshape((1,) * (4 - bounds.ndim) + bounds.shape)[..., None, :]
    return LoweredMask(ordered(np.clip(bounds, 0, keys), keys))


def ordered(bounds: NDArray[Any], keys: int) -> NDArray[np.int32]:
    """Sort and merge intervals: ordered and disjoint, empty ones last, and no column K that is empty in all rows."""
    empty = bounds[..., 0] >= bounds[..., 1]
    bounds = np.where(empty[..., None], keys, bounds).astype(np.int32)
    if bounds.shape[-2] == 1:
        return np.ascontiguousarray(bounds)
    bounds = _by_start(bounds)
    for k in range(1, bounds.shape[-2]):
        before, this = bounds[..., k - 1, :], bounds[..., k, :]
        touches = ((this[..., 0] <= before[..., 1]) & (this[..., 0] < keys))[..., None]
        joined = np.stack([before[..., 0], np.maximum(before[..., 1], this[..., 1])], axis=-1)
        this[...], before[...] = np.where(touches, joined, this), np.where(touches, keys, before)
    used = int((bounds[..., 0] < keys).sum(axis=-1).max(initial=1))
    return np.ascontiguousarray(_by_start(bounds)[..., :used, :])


def _by_start(bounds: NDArray[np.int32]) -> NDArray[np.int32]:
    order = np.argsort(bounds[..., 0], axis=-1, kind="stable")
    return np.take_along_axis(bounds, order[..., None], axis=-2)


def from_booleans(allowed: NDArray[np.bool_], keys: int) -> LoweredMask:
    """Lower booleans: each row's interval from its first True to its last, and the booleans too if a row has holes."""
    if not allowed.size:
        return LoweredMask(np.full((1, 1, max(allowed.shape[2], 1), 1, 2), keys, np.int32))
    if allowed.shape[3] != keys:
        # One boolean for all keys of a row: the interval is all keys or none.
        first, last = np.zeros(allowed.shape[:3], np.int64), np.where(allowed[..., 0], keys, 0)
        return one_interval(first, last, keys)
    any_ = allowed.any(axis=3)
    first = np.where(any_, allowed.argmax(axis=3), keys)
    last = np.where(any_, keys - allowed[..., ::-1].argmax(axis=3), keys)
    holes = bool((allowed.sum(axis=3) != last - first).any())
    return LoweredMask(one_interval(first, last, keys).bounds, allowed if holes else None)
