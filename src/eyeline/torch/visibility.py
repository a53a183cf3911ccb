"""A mask evaluated block by block, on any device."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eyeline.masks import AttentionShape, LoweredMask, Mask
from eyeline.masks.functions import narrowing


class Visibility:
    """A lowered mask: its intervals on the device, its booleans copied there block by block."""

    def __init__(self, mask: Mask | None, shape: AttentionShape, device: torch.device) -> None:
        self._lowered = None if mask is None else mask.lower(shape)
        self._device, self._shape = device, shape
        self._bounds = None if self._lowered is None else torch.from_numpy(self._lowered.bounds).to(device)
        allowed = None if self._lowered is None else self._lowered.allowed
        # PyTorch shares memory only with writable arrays.
        self._allowed = None if allowed is None else torch.from_numpy(np.require(allowed, requirements="W"))

    def keys(self, rows: slice) -> slice:
        """A range of keys that contains all keys that these queries may look at."""
        if self._lowered is None:
            return slice(0, self._shape.keys)
        bounds = _rows(self._lowered.bounds, rows)
        bounds = bounds[bounds[..., 0] < bounds[..., 1]]
        return slice(int(bounds[:, 0].min()), int(bounds[:, 1].max())) if len(bounds) else slice(0, 0)

    def of(self, rows: slice, keys: slice) -> Tensor | None:
        """Whether these queries may look at these keys, bool, broadcasting to (B, H, n, m); None if all may."""
        if self._bounds is None or self._lowered is None:
            return None
        if self._lowered.functions:
            return torch.from_numpy(self._by_functions(self._lowered, rows, keys)).to(self._device)
        bounds: Tensor = _rows(self._bounds, rows)[..., None, :]
        j = torch.arange(keys.start, keys.stop, device=self._device, dtype=torch.int32)
        visible = ((bounds[..., 0] <= j) & (j < bounds[..., 1])).any(dim=3)
        if self._allowed is not None:
            allowed = _rows(self._allowed, rows)
            visible = visible & (allowed if allowed.shape[3] == 1 else allowed[..., keys]).to(self._device)
        return visible

    def _by_functions(self, lowered: LoweredMask, rows: slice, keys: slice) -> NDArray[np.bool_]:
        """The same with the user's functions, (B, H, n, m); these are compiled for NumPy arrays."""
        bounds, j = _rows(lowered.bounds, rows)[..., None, :], np.arange(keys.start, keys.stop)
        visible = ((bounds[..., 0] <= j) & (j < bounds[..., 1])).any(axis=3)
        if lowered.allowed is not None:
            allowed = _rows(lowered.allowed, rows)
            visible = visible & (allowed if allowed.shape[3] == 1 else allowed[..., keys])
        B, H, *_ = self._shape.shape
        whole: NDArray[np.bool_] = np.broadcast_to(visible, (B, H, rows.stop - rows.start, len(j))).copy()
        for function in lowered.functions:
            narrowing(function)(whole, rows.start, keys.start)
        return whole


def _rows(x: Any, rows: slice) -> Any:
    return x if x.shape[2] == 1 else x[:, :, rows]
