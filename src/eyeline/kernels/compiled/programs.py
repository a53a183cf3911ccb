"""The kernels' names, and the sizes that their bits depend on. Loads NumPy alone, for the host."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

#: The kernels, each a module of this package that is compiled separately, on first use.
Program = Literal["forward", "backward", "decode", "product", "rowwise"]
#: The element types that each is compiled for.
PROGRAMS: dict[Program, tuple[Literal["float32", "float64"], ...]] = {
    "forward": ("float32", "float64"),
    "backward": ("float32", "float64"),
    "decode": ("float32", "float64"),
    "product": ("float32",),
    "rowwise": ("float32",),
}
#: The kernel's symbol in its machine code.
ENTRY = "eyeline_kernel"

#: The number of keys in a block, which begins at a multiple of it, in every kernel: a row's bits depend on it.
KEY_BLOCK = 128
#: The length of the lists of best scores that fit in registers.
FEW_BEST = 8
#: Within a block, weights are summed this many at a time, at multiples of it.
SUM_BLOCK = 16
#: The most queries in a panel.
PANEL_AT_MOST = 128
#: The number of queries in a block of the backward pass, which begins at a multiple of it: a key's gradient is summed
#: block by block, so its bits depend on it.
QUERY_BLOCK = 128
#: Within a pair of blocks, the backward pass decides for this many keys at a time which panels need them.
CELL = 32
#: The room, in keys, for decoding's scores of a block: a tile of keys may reach beyond the block.
SCORES_APART = KEY_BLOCK + 16


class PanelSizes(NamedTuple):
    """Bytes of a number and of a vector; the number of queries in a panel, and the bytes of a panel's line."""

    size: int
    vector: int
    length: int
    line: int


def sizes(dtype: type[np.floating], lanes: int, most_vectors: int) -> PanelSizes:
    """The sizes of panels of `most_vectors` · `lanes` queries."""
    size = np.dtype(dtype).itemsize
    length = most_vectors * lanes
    return PanelSizes(size, lanes * size, length, length * size)


def wide(size: int) -> int:
    """Bytes of a line of `QUERY_BLOCK` numbers of `size` bytes, plus a cache line: lines a power of two apart would
    share the same few sets of the cache."""
    return QUERY_BLOCK * size + 64


def padded(columns: int, size: int) -> int:
    """Bytes of a line of `columns` numbers: an odd number of whole cache lines, for the same reason."""
    lines = -(-columns * size // 64)
    return (lines + 1 - lines % 2) * 64


def widths_across(dtype: type[np.floating], lanes: int) -> tuple[int, int, int]:
    """The possible numbers of query rows in a vector of decoding, which has two numbers per row: for vectors of 16, 32
    and 64 bytes, as far as the target has them."""
    size = np.dtype(dtype).itemsize
    narrow, middle, wide = (min(width // size, lanes) // 2 for width in (16, 32, 64))
    return narrow, middle, wide
