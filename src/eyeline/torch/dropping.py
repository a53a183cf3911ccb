"""Which weights dropout keeps: a number for each (b, h, i, j) and seed, the same in every part of Eyeline."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_LOW = 0xFFFFFFFF


def factors(p: float, seed: int, rows: slice, keys: slice, like: Tensor) -> Tensor:
    """What dropout multiplies the weights by, 0 or 1 / (1 - p), for these queries and keys, of `like`'s (B, H, n, m).

    The arithmetic is of 32 bits, unsigned, held in int64, whose products wrap.
    """
    B, H = like.shape[:2]
    row = np.full((1, 1, 1), seed % 2**64, np.uint64)
    for axis, numbers in enumerate((np.arange(B), np.arange(H), np.arange(rows.start, rows.stop))):
        place = [1, 1, 1]
        place[axis] = -1
        row = _mixed(row) + numbers.astype(np.uint64).reshape(place)
    row = _mixed(row)
    low, high = (
        torch.from_numpy(half.astype(np.int64)).to(like.device)[..., None]
        for half in (row & np.uint64(_LOW), row >> np.uint64(32))
    )
    x = (low + torch.arange(keys.start, keys.stop, device=like.device) * 0x9E3779B9) & _LOW
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & _LOW
    x = ((x ^ (x >> 15)) + high) & _LOW
    x = (x * 0x846CA68B) & _LOW
    x = x ^ (x >> 16)
    return (x >= math.floor(p * 2**32)).to(like.dtype) * (1 / (1 - p) if p < 1 else 0.0)


def _mixed(x: NDArray[np.uint64]) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))
