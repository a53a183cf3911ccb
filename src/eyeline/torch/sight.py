"""Where queries may look, block by block, on any device."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from eyeline.masks import AttentionShape, LoweredMask
from eyeline.masks.functions import narrowing


class Sight:
    """A lowered mask, its intervals on the device, its booleans brought there block by block."""

    def __init__(self, lowered: LoweredMask | None, problem: AttentionShape, device: torch.device) -> None:
        self._lowered, self._device, self._problem = lowered, device, problem
        self._bounds = None if lowered is None else torch.from_numpy(lowered.bounds).to(device)
        allowed = None if lowered is None else lowered.allowed
        # PyTorch shares memory only where it may write.
        self._allowed = None if allowed is None else torch.from_numpy(np.require(allowed, requirements="W"))

    def keys(self, first: int, last: int) -> slice:
        """The keys that any of the queries first to last may look at, and maybe some between."""
        if self._lowered is None:
            return slice(0, self._problem.keys)
        bounds = _rows(self._lowered.bounds, first, last)
        bounds = bounds[bounds[..., 0] < bounds[..., 1]]
        if not len(bounds):
            return slice(0, 0)
        # A function is asked about keys from the first on.
        return slice(0 if self._lowered.functions else int(bounds[:, 0].min()), int(bounds[:, 1].max()))

    def of(self, first: int, last: int, keys: slice) -> Tensor | None:
        """Which of the keys the queries first to last may look at, bool, broadcasting to (B, H, n, m); all if None."""
        if self._bounds is None or self._lowered is None:
            return None
        bounds: Tensor = _rows(self._bounds, first, last)[..., None, :]
        j = torch.arange(keys.start, keys.stop, device=self._device, dtype=torch.int32)
        seen = ((bounds[..., 0] <= j) & (j < bounds[..., 1])).any(dim=3)
        if self._allowed is not None:
            allowed = _rows(self._allowed, first, last)
            seen = seen & (allowed if allowed.shape[3] == 1 else allowed[..., keys]).to(self._device)
        if self._lowered.functions:
            booleans = seen.expand(*self._problem.shape[:2], last - first, -1).cpu().contiguous()
            for function in self._lowered.functions:
                narrowing(function)(booleans.numpy(), first)
            seen = booleans.to(self._device)
        return seen


def _rows(x: Any, first: int, last: int) -> Any:
    return x if x.shape[2] == 1 else x[:, :, first:last]
