"""The framing of a reply and its arrays in one message.

A message is the length of the JSON (uint32, little-endian), the JSON, whose "lengths" are the sizes of the arrays in
bytes, and the arrays. Each array begins at a multiple of 8 bytes, so that a browser can view it in place.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

_STEP = 8


def framed(reply: Mapping[str, Any], arrays: Sequence[memoryview]) -> bytes:
    """Frame a reply and its arrays.

    >>> framed({"id": 7}, [memoryview(b"abc")])
    b'\\x19\\x00\\x00\\x00{"id": 7, "lengths": [3]}\\x00\\x00\\x00abc\\x00\\x00\\x00\\x00\\x00'
    """
    text = json.dumps({**reply, "lengths": [array.nbytes for array in arrays]}, allow_nan=False).encode("ascii")
    parts: list[memoryview] = []
    for part in (memoryview(struct.pack("<I", len(text)) + text), *arrays):
        parts += [part, memoryview(bytes(-part.nbytes % _STEP))]
    return b"".join(parts)
