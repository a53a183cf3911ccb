"""Arrays of float32 rows, as the kernels of products and row passes read and write them: in place, whatever their
strides, as long as the numbers of a row lie side by side."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels.forms import address_of
from eyeline.words import worded

Array = NDArray[np.float32]
_FLOAT32 = np.dtype(np.float32)


class PlacedRows(NamedTuple):
    """An array's rows: the address of the first, and the bytes from one index of the last axis but two, and of the last
    axis but one, to the next. `array` owns them."""

    address: int
    outer: int
    inner: int
    array: Array | None


#: Where there is no array.
NO_ROWS = PlacedRows(0, 0, 0, None)


def levels(shape: tuple[int, ...]) -> tuple[int, int]:
    """The numbers of rows in the outer and the inner level of an array of this shape: the axes but the last two, and
    the last but one."""
    if len(shape) == 2:
        return 1, shape[0]
    outer = 1
    for count in shape[:-2]:
        outer *= count
    return outer, shape[-2] if len(shape) > 1 else 1


def given_rows(name: str, array: Any, shape: tuple[int, ...]) -> PlacedRows:
    """The rows of an array that is read; copied if its axes can't be read in place.

    Raises:
        TypeError: if it isn't an array of float32.
        ValueError: if its shape is another.
    """
    check(name, array, shape)
    if not _in_place(array):
        array = np.ascontiguousarray(array)
    return _rows(array)


def written_rows(name: str, array: Any, shape: tuple[int, ...]) -> PlacedRows:
    """The rows of an array that is written.

    Raises:
        TypeError: if it isn't an array of float32.
        ValueError: if its shape is another, or it can't be written in place.
    """
    check(name, array, shape)
    check_writable(name, array)
    if not _in_place(array):
        raise ValueError(
            worded(
                "{name} must have the numbers of a row side by side, and at most two axes of rows that can't "
                "be merged, got strides {strides} for shape {shape}; give an array in C order",
                name=name,
                strides=array.strides,
                shape=array.shape,
            )
        )
    return _rows(array)


def check(name: str, array: Any, shape: tuple[int, ...]) -> None:
    """Check an array's type and shape."""
    if not isinstance(array, np.ndarray) or array.dtype != _FLOAT32:
        got = f"{array.dtype}" if isinstance(array, np.ndarray) else type(array).__name__
        raise TypeError(
            worded(
                "{name} must be a NumPy array of float32, got {got}; convert it with np.asarray(…, np.float32)",
                name=name,
                got=got,
            )
        )
    if array.shape != shape:
        raise ValueError(
            worded(
                "{name} must have shape {shape}, got {got}; give one row per row of x",
                name=name,
                shape=shape,
                got=array.shape,
            )
        )


def check_writable(name: str, array: Array) -> None:
    """Check that an array may be written."""
    if not array.flags.writeable:
        raise ValueError(
            worded("{name} must be an array that can be written, got a read-only one; give a copy", name=name)
        )


def check_apart(name: str, written: Array, other_name: str, other: Array, *, same: bool = False) -> None:
    """Check that what is written doesn't overlap what is read, unless it is the `same` memory, number for number."""
    if not np.may_share_memory(written, other):
        return
    if same and written.ctypes.data == other.ctypes.data and written.strides == other.strides:
        return
    if np.shares_memory(written, other):
        raise ValueError(
            worded(
                "{name} must not overlap {other_name}, which is still read; give memory of its own",
                name=name,
                other_name=other_name,
            )
        )


def _in_place(array: Array) -> bool:
    if not array.flags.aligned:
        return False
    if array.flags.c_contiguous:
        return True
    if array.shape[-1] > 1 and array.strides[-1] != 4:
        return False
    # The axes but the last two must be one.
    counts, strides = array.shape[:-2], array.strides[:-2]
    return all(strides[i] == strides[i + 1] * counts[i + 1] for i in range(len(strides) - 1))


def _rows(array: Array) -> PlacedRows:
    strides = array.strides
    axes = len(strides)
    return PlacedRows(address_of(array), strides[-3] if axes > 2 else 0, strides[-2] if axes > 1 else 0, array)
