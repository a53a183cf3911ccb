"""Dropout on tensors: the same function of the seed and (b, h, i, j) as `eyeline.dropout`, in PyTorch's operations."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from eyeline.dropout import KEY_MIXERS, KEY_STEP, mix64, threshold
from eyeline.torch.request import Request

_LOW = 0xFFFFFFFF


def factors(request: Request, rows: slice, keys: slice, like: Tensor) -> Tensor:
    """Dropout's factor of each weight, 0 or 1 / (1 - p), for these queries and keys, (B, H, n, m).

    The arithmetic is unsigned 32-bit, in int64 tensors, whose products wrap.
    """
    p, (B, H) = request.dropout, request.shape.shape[:2]
    row = np.full((1, 1, 1), request.seed % 2**64, np.uint64)
    for axis, numbers in enumerate((np.arange(B), np.arange(H), np.arange(rows.start, rows.stop))):
        place = [1, 1, 1]
        place[axis] = -1
        row = mix64(row) + numbers.astype(np.uint64).reshape(place)
    row = mix64(row)
    low, high = (
        torch.from_numpy(half.astype(np.int64)).to(like.device)[..., None]
        for half in (row & np.uint64(_LOW), row >> np.uint64(32))
    )
    x = (low + torch.arange(keys.start, keys.stop, device=like.device) * KEY_STEP) & _LOW
    x = ((x ^ (x >> 16)) * KEY_MIXERS[0]) & _LOW
    x = ((x ^ (x >> 15)) + high) & _LOW
    x = (x * KEY_MIXERS[1]) & _LOW
    x = x ^ (x >> 16)
    return (x >= threshold(p)).to(like.dtype) * (1 / (1 - p) if p < 1 else 0.0)
