"""Which weights dropout keeps: a function of the seed and of the weight's own place, the same however it is computed.

Nothing is drawn in an order, so blocks, threads, shards and the backward pass agree without keeping anything. A row has
64 bits that are mixed of the seed, the batch element, the head and the query (by the last steps of splitmix64: Steele,
Lea and Flood 2014); each key then mixes its own 32 bits of these.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import AttentionShape

#: The multipliers of splitmix64, which mix a row's 64 bits.
ROW_MIXERS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
#: What a key's number is multiplied by, and the multipliers that mix its 32 bits.
KEY_STEP, KEY_MIXERS = 0x9E3779B9, (0x7FEB352D, 0x846CA68B)


def check_dropout(share: object, seed: object) -> tuple[float, int]:
    """The share of weights that is dropped, and the seed, 0 where nothing is dropped.

    Raises:
        ValueError: if the share isn't a number from 0 to below 1, or the seed, where one is needed, isn't a whole
            number from 0 to 2^64 - 1.
    """
    try:
        value = math.nan if isinstance(share, (bool, str, bytes)) else float(share)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not 0 <= value < 1:
        raise ValueError(f"dropout must be a number from 0 to below 1, got {share!r}")
    if value == 0 and seed is None:
        return 0.0, 0
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 1 << 64:
        raise ValueError(f"seed must be a whole number from 0 to 2^64 - 1 where dropout is given, got {seed!r}")
    return value, int(seed)


def threshold(share: float) -> int:
    """A weight is kept where its 32 bits are this or more."""
    return math.floor(share * 2**32)


def kept(seed: int, share: float, shape: AttentionShape) -> NDArray[np.bool_]:
    """Which weights are kept where a `share` of them is dropped, (B, H, N, M). Those kept are divided by 1 - share."""
    B, H, N, M = shape.shape
    row = mix64(np.array(seed, np.uint64).reshape(1))
    for count in (B, H, N):
        row = mix64(row[..., None] + np.arange(count, dtype=np.uint64))
    row = row.reshape(B, H, N, 1)
    low, high = (row & np.uint64(0xFFFFFFFF)).astype(np.uint32), (row >> np.uint64(32)).astype(np.uint32)
    x = low + np.arange(M, dtype=np.uint32) * np.uint32(KEY_STEP)
    x ^= x >> np.uint32(16)
    x *= np.uint32(KEY_MIXERS[0])
    x ^= x >> np.uint32(15)
    x += high
    x *= np.uint32(KEY_MIXERS[1])
    x ^= x >> np.uint32(16)
    result: NDArray[np.bool_] = x >= np.uint32(threshold(share))
    return result


def mix64(x: NDArray[Any]) -> NDArray[Any]:
    """The last steps of splitmix64; x is an array of uint64, whose products wrap."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(ROW_MIXERS[0])
    x = (x ^ (x >> np.uint64(27))) * np.uint64(ROW_MIXERS[1])
    x ^= x >> np.uint64(31)
    return x
