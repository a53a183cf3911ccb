"""The kernels there are, and the sizes that their bits depend on. Loads NumPy alone, so that the host may read it."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

#: The kernels, each a module of this package that is compiled by itself, when it is first needed.
Program = Literal["forward", "backward", "decode"]
PROGRAMS: tuple[Program, ...] = ("forward", "backward", "decode")
#: The name under which a kernel is found in its machine code.
ENTRY = "eyeline_kernel"

#: Keys are taken in blocks of this many, at positions that are multiples of it, whoever asks: a row's bits depend on
#: it.
KEY_BLOCK = 128
#: Within a block, weights are added up this many at a time, at positions that are multiples of it.
SUM_BLOCK = 16
#: No panel has more queries than this.
PANEL_AT_MOST = 128
#: The backward pass takes queries in blocks of this many, at positions that are multiples of it: a key's gradient is
#: summed over them block by block, so its bits depend on it.
QUERY_BLOCK = 128
#: Within a pair of blocks, the backward pass decides for this many keys at a time which queries see them.
CELL = 32
#: How many keys of room decoding's scores of a block have: a tile of keys may reach beyond the block.
SCORES_APART = KEY_BLOCK + 16


class PanelSizes(NamedTuple):
    """Bytes of a number and of a vector; how many queries a panel has, and the bytes of a line of as many numbers."""

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
    """Bytes of a line of `QUERY_BLOCK` numbers of `size` bytes, and a cache line more: lines a power of two apart would
    meet in the same few places of the cache."""
    return QUERY_BLOCK * size + 64


def padded(columns: int, size: int) -> int:
    """Bytes of a line of so many numbers: whole cache lines, and an odd number of them, for the same reason."""
    lines = -(-columns * size // 64)
    return (lines + 1 - lines % 2) * 64


def widths_across(dtype: type[np.floating], lanes: int) -> tuple[int, int, int]:
    """How many rows of queries a vector of decoding may hold: two numbers for each, and vectors of 16, 32 and 64 bytes,
    as far as they go."""
    size = np.dtype(dtype).itemsize
    narrow, middle, wide = (min(width // size, lanes) // 2 for width in (16, 32, 64))
    return narrow, middle, wide
