"""Compress a file's blocks: people send a page to one another as a file, so it has to be small.

docs/page-format.md describes it; `hosts/file.js` and the bootstrap of `file.py` read it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def deflated(data: bytes) -> bytes:
    """Compress bytes with raw DEFLATE at the highest level."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def deflated_numbers(planes: bytes) -> bytes:
    """Compress `planes` with Huffman coding alone: numbers hardly repeat, and it is many times faster.

    Memory level 7 starts new code tables often enough for each plane to have its own.
    """
    packer = zlib.compressobj(1, zlib.DEFLATED, -15, 7, zlib.Z_HUFFMAN_ONLY)
    return packer.compress(planes) + packer.flush()


def planes(arrays: Sequence[NDArray[Any]], dtype: str) -> bytes:
    """Split numbers into planes: the lowest bytes of all numbers, then the next ones, and so on, with the sign as the
    lowest bit.

    This separates the exponents, in float32 into whole bytes: they are so similar that they compress to a third.
    """
    flat = np.concatenate([array.ravel() for array in arrays]).astype(dtype)
    whole = flat.view(f"<u{flat.itemsize}")
    turned = (whole << 1) | (whole >> (8 * flat.itemsize - 1))
    return turned.view(np.uint8).reshape(-1, flat.itemsize).T.tobytes()
