"""Where queries may look, block by block, on any device."""

from __future__ import annotations

import torch
from torch import Tensor

from eyeline.masks import Lowered, Problem
from eyeline.masks.functions import _narrowing


class Sight:
    """A lowered mask, its intervals on the device, its booleans brought there block by block."""

    def __init__(self, lowered: Lowered | None, problem: Problem, device: torch.device) -> None:
        self._device, self._problem = device, problem
        self._bounds = None if lowered is None else torch.from_numpy(lowered.bounds).to(device)
        allowed = None if lowered is None else lowered.allowed
        self._allowed = None if allowed is None else torch.from_numpy(allowed)
        self._functions = () if lowered is None else lowered.functions

    def of(self, first: int, last: int) -> Tensor | None:
        """Which keys the queries first to last may look at, bool, broadcasting to (B, H, n, M); all if None."""
        if self._bounds is None:
            return None
        bounds = _rows(self._bounds, first, last)[..., None, :]
        j = torch.arange(self._problem.keys, device=self._device, dtype=torch.int32)
        seen = ((bounds[..., 0] <= j) & (j < bounds[..., 1])).any(dim=3)
        if self._allowed is not None:
            seen = seen & _rows(self._allowed, first, last).to(self._device)
        if self._functions:
            booleans = seen.expand(*self._problem.shape[:2], last - first, -1).cpu().contiguous()
            for function in self._functions:
                _narrowing(function)(booleans.numpy(), first)
            seen = booleans.to(self._device)
        return seen


def _rows(x: Tensor, first: int, last: int) -> Tensor:
    return x if x.shape[2] == 1 else x[:, :, first:last]
