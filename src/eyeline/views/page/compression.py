"""The compression of a file's blocks: a page is one file that people send to one another, so it is kept small.

docs/page-format.md describes it; `hosts/file.js` and the bootstrap of `file.py` read it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def deflated(data: bytes) -> bytes:
    """Bytes compressed with raw DEFLATE at the highest level."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def deflated_numbers(planes: bytes) -> bytes:
    """The same for `planes`, with Huffman coding alone: numbers hardly repeat, and it is many times faster.

    Level 7 of memory makes new codes often enough for each plane to have its own.
    """
    packer = zlib.compressobj(1, zlib.DEFLATED, -15, 7, zlib.Z_HUFFMAN_ONLY)
    return packer.compress(planes) + packer.flush()


def planes(arrays: Sequence[NDArray[Any]], dtype: str) -> bytes:
    """The lowest bytes of all numbers, then the next ones, and so on, the sign of each moved to its end.

    So exponents stand by themselves, in float32 as whole bytes: they are much alike, and take a third of their room.
    """
    flat = np.concatenate([array.ravel() for array in arrays]).astype(dtype)
    whole = flat.view(f"<u{flat.itemsize}")
    turned = (whole << 1) | (whole >> (8 * flat.itemsize - 1))
    return turned.view(np.uint8).reshape(-1, flat.itemsize).T.tobytes()
