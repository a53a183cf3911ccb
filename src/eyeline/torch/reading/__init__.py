"""What is read of the weights, block by block, and what its gradient means for the weights.

Each readout has a class here: `add` takes in a block, `results` gives what was read; `pull` adds to the gradient of a
block's weights what comes of the results' gradient. Where that depends on what was read (a maximum has the gradient of
the first place that attains it), the class looks through all blocks once more beforehand: it `looks_first`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from eyeline import readouts
from eyeline.torch.reading.matrix import Pooled, Received, Weights
from eyeline.torch.reading.reading import Reading
from eyeline.torch.reading.rows import Entropy, GroupMass, MeanDistance, TopK
from eyeline.torch.request import Request

__all__ = ["Reading", "readings", "with_gradients"]

_READINGS: dict[type, type[Reading]] = {
    readouts.MeanDistance: MeanDistance,
    readouts.Entropy: Entropy,
    readouts.GroupMass: GroupMass,
    readouts.Pooled: Pooled,
    readouts.Received: Received,
    readouts.TopK: TopK,
    readouts.Weights: Weights,
}


def readings(request: Request, dtype: torch.dtype, device: torch.device) -> list[Reading]:
    """What is to be read, nothing of it yet."""
    return [_READINGS[type(readout)](readout, request, dtype, device) for readout in request.read]


def with_gradients(read: list[Reading], gradients: Sequence[Tensor | None]) -> list[Reading]:
    """Those of `read` that have a gradient, which is the last of each one's results'."""
    ends = np.cumsum([reading.count for reading in read], dtype=int)
    for reading, end in zip(read, ends, strict=True):
        d = gradients[end - 1]
        reading.gradient = None if d is None else d.to(reading.dtype)
    return [reading for reading in read if reading.gradient is not None]
