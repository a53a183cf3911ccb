"""The weights that dropout keeps: a counter-based function of the seed and of a weight's place (b, h, i, j).

There is no order of drawing, so blocks, threads, shards and the backward pass agree without storing the choice. Each
row has a 64-bit hash of the seed, the batch element, the head and the query (by the finaliser of splitmix64: Steele,
Lea and Flood 2014); each weight has a 32-bit hash of its row's hash and its key.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import AttentionShape
from eyeline.words import worded

#: The multipliers of splitmix64, for a row's 64-bit hash.
ROW_MIXERS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
#: The multiplier of a key's number, and the multipliers of its 32-bit hash.
KEY_STEP, KEY_MIXERS = 0x9E3779B9, (0x7FEB352D, 0x846CA68B)


def check_dropout(share: object, seed: object) -> tuple[float, int]:
    """Check dropout's share and seed; the seed is 0 where nothing is dropped.

    Raises:
        ValueError: if the share isn't a number from 0 to below 1, or the seed, where one is needed, isn't a whole
            number from 0 to 2^64 - 1.
    """
    try:
        value = math.nan if isinstance(share, (bool, str, bytes)) else float(share)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not 0 <= value < 1:
        raise ValueError(worded("dropout must be a number from 0 to below 1, got {share!r}", share=share))
    if value == 0 and seed is None:
        return 0.0, 0
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 1 << 64:
        raise ValueError(
            worded("seed must be a whole number from 0 to 2^64 - 1 where dropout is given, got {seed!r}", seed=seed)
        )
    return value, int(seed)


def threshold(share: float) -> int:
    """The smallest 32-bit hash of a weight that is kept."""
    return math.floor(share * 2**32)


def kept(seed: int, share: float, shape: AttentionShape) -> NDArray[np.bool_]:
    """Which weights are kept when a `share` of them is dropped, (B, H, N, M)."""
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
    """The finaliser of splitmix64; x is an array of uint64, whose products wrap."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(ROW_MIXERS[0])
    x = (x ^ (x >> np.uint64(27))) * np.uint64(ROW_MIXERS[1])
    x ^= x >> np.uint64(31)
    return x
