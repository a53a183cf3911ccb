"""Bytes as text that stands in a page: small, since a page is one file that people send to one another.

docs/page-format.md says how it is read; `hosts/file.js` and the bootstrap of `file.py` read it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Signs that no parser of HTML leaves alone: NUL, carriage return, and what markup begins with.
_TAKEN = b"\x00\r<"


def text_of(data: bytes) -> str:
    """Bytes as text, seven bits in a sign, so that eight bytes of UTF-8 hold nearly seven; base64 would hold six.

    The first bit of each byte comes first. A sign that a page can't hold stands 128 higher: only the low seven bits of
    a sign count. The bits that fill the last sign are 0.

    >>> text_of(b"hi")
    '4\\x1a '
    """
    count = -(-8 * len(data) // 7)
    filled = np.frombuffer(data + bytes(-len(data) % 7), np.uint8)
    seven = filled.reshape(-1, 7).T  # of which the first byte of each, the second, and so on
    signs = np.empty((seven.shape[1], 8), np.uint8)
    signs[:, 0] = seven[0] >> 1
    for place in range(1, 7):
        signs[:, place] = ((seven[place - 1] << (7 - place)) | (seven[place] >> (place + 1))) & 127
    signs[:, 7] = seven[6] & 127
    signs = signs.reshape(-1)[:count]
    for sign in _TAKEN:
        signs[signs == sign] |= 128
    return signs.tobytes().decode("latin-1")


def deflated(data: bytes) -> bytes:
    """Bytes made as few as may be, without a header."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def deflated_numbers(planes: bytes) -> bytes:
    """The same of `planes`, by Huffman's codes alone: numbers hardly repeat, and it is many times faster.

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
