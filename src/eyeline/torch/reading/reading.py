"""What the readouts' classes share."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from eyeline.torch.portable_block import Block
from eyeline.torch.request import Request


class Reading:
    """What the readouts' classes share: the shape of the weights, and gradients to come."""

    looks_first = False
    #: How many results there are, of which the last has a gradient.
    count = 1

    def __init__(self, readout: Any, request: Request, dtype: torch.dtype, device: torch.device) -> None:
        self.readout, self.problem, self.dtype, self.device = readout, request.problem, dtype, device
        self.gradient: Tensor | None = None
        self.start()

    def start(self) -> None:
        raise NotImplementedError

    def add(self, block: Block) -> None:
        raise NotImplementedError

    def results(self) -> list[Tensor]:
        raise NotImplementedError

    def blank(self) -> list[Tensor]:
        """Tensors of the results' shapes."""
        return self.results()

    def pull(self, block: Block, d_weights: Tensor) -> None:
        raise NotImplementedError

    def zeros(self, *shape: int) -> Tensor:
        """Zeros for every batch element and head."""
        return torch.zeros(*self.problem.shape[:2], *shape, dtype=self.dtype, device=self.device)

    def numbers(self, some: slice) -> Tensor:
        """The numbers of some queries or keys."""
        return torch.arange(some.start, some.stop, device=self.device)

    def whole(self, array: Any) -> Tensor:
        """Whole numbers, on the device."""
        return torch.from_numpy(np.array(array, np.int64)).to(self.device)

    @property
    def d(self) -> Tensor:
        assert self.gradient is not None
        return self.gradient
