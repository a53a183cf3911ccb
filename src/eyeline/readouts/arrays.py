"""The few array functions that NumPy and torch spell differently; all else in a readout is written once for both.

An array is a NumPy array or a torch tensor here. torch is never imported: if x is a tensor, it is loaded already.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import namespace


def beside(array: NDArray[Any], x: Any) -> Any:
    """A constant NumPy array converted to x's library and device."""
    return array if isinstance(x, np.ndarray) else namespace(x).from_numpy(np.array(array)).to(x.device)


def cast(x: Any, template: Any) -> Any:
    """x in the type of `template`."""
    return x.astype(template.dtype, copy=False) if isinstance(x, np.ndarray) else x.to(template.dtype)


def zeros(x: Any, *shape: int) -> Any:
    """Zeros of x's type, on its device."""
    return np.zeros(shape, x.dtype) if isinstance(x, np.ndarray) else x.new_zeros(shape)


def descending(x: Any) -> Any:
    """Indices that sort the last axis in descending order, stably."""
    if isinstance(x, np.ndarray):
        return np.argsort(-x, axis=-1, kind="stable")
    return x.argsort(dim=-1, descending=True, stable=True)


def along(x: Any, places: Any, axis: int) -> Any:
    """The entries of x at these indices along an axis."""
    return np.take_along_axis(x, places, axis) if isinstance(x, np.ndarray) else x.gather(axis, places)


def added_along(x: Any, places: Any, values: Any) -> Any:
    """x with `values` added at these indices of its last axis."""
    if not isinstance(x, np.ndarray):
        return x.scatter_add(-1, places, values)
    result = x.copy()
    np.add.at(result, (*np.indices(places.shape)[:-1], places), values)
    return result


def added_at(x: Any, axis: int, places: NDArray[np.int64], values: Any) -> Any:
    """x with `values` added at these indices of an axis; a repeated index counts each time."""
    if not isinstance(x, np.ndarray):
        return x.index_add(axis, beside(places, x), values)
    result = np.moveaxis(x.copy(), axis, 0)
    np.add.at(result, places, np.moveaxis(values, axis, 0))
    return np.moveaxis(result, 0, axis)
