"""Arrays as kernels see them: their forms, and their addresses."""

from __future__ import annotations

import ctypes
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels.machine import DType

Array = NDArray[Any]


def computed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which arrays of this type are computed."""
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def name_of(dtype: np.dtype[Any]) -> DType:
    """The type in which arrays of this type are computed, as kernels are named."""
    return "float64" if dtype == np.float64 else "float32"


def address_of(array: Array) -> int:
    """The address of an array's first number."""
    return int(_address_at(id(array) + _HEADER).value)


def _reads_addresses() -> bool:
    """Whether the address is the first field of NumPy's array object, after Python's header: so NumPy's ABI says, and
    reading it there is seven times as fast as `array.ctypes.data`. An interpreter might have another header."""
    arrays = np.arange(6.0), np.arange(6.0)[2:], np.broadcast_to(np.float32(1), (2, 3))
    return sys.implementation.name == "cpython" and all(
        _address_at(id(array) + _HEADER).value == array.ctypes.data for array in arrays
    )


_HEADER = object.__basicsize__
_address_at = ctypes.c_size_t.from_address
if not _reads_addresses():

    def address_of(array: Array) -> int:
        """The address of an array's first number."""
        return int(array.ctypes.data)


class ArrayForm(NamedTuple):
    """An array of four axes apart from its memory: its shape, its strides in bytes, and its type."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]


def form_of(array: Array) -> ArrayForm:
    """The form of an array of four axes."""
    return ArrayForm(array.shape, array.strides, array.dtype)


class Memory(NamedTuple):
    """The addresses of a pass's arrays: q, k and v; and each row's maximum and sum, m and l, (B, H, N), contiguous."""

    q: int
    k: int
    v: int
    maxima: int
    sums: int


def memory_of(q: Array, k: Array, v: Array, maxima: Array, sums: Array) -> Memory:
    """The addresses of these arrays."""
    return Memory(*map(address_of, (q, k, v, maxima, sums)))


def strided(array: Array) -> tuple[int, ...]:
    """Address and strides of an array of up to four axes, as in `STRIDED`."""
    return (address_of(array), *array.strides, 0, 0, 0, 0)[:5]
