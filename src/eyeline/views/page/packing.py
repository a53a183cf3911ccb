"""Bytes as text that stands in a page: small, since a page is one file that people send to one another.

docs/page-format.md says how it is read; `file.js` and the bootstrap of `file.py` read it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Signs that no parser of HTML leaves alone: NUL, carriage return, and what markup begins with.
_TAKEN = np.frombuffer(b"\x00\r<", np.uint8)


def text_of(data: bytes) -> str:
    """Bytes as text, seven bits in a sign, so that eight bytes of UTF-8 hold nearly seven; base64 would hold six.

    The first bit of each byte comes first. A sign that a page can't hold stands 128 higher: only the low seven bits of
    a sign count. The bits that fill the last sign are 0.

    >>> text_of(b"hi")
    '4\\x1a '
    """
    bits = np.unpackbits(np.frombuffer(data, np.uint8))
    bits = np.concatenate([bits, np.zeros(-len(bits) % 7, np.uint8)])
    signs = np.packbits(bits.reshape(-1, 7), axis=1)[:, 0] >> 1
    return np.where(np.isin(signs, _TAKEN), signs | 128, signs).astype(np.uint8).tobytes().decode("latin-1")


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
