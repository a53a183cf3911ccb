"""A call on tensors, as both passes take it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from eyeline.masks import AttentionShape, Mask
from eyeline.readouts import Readout
from eyeline.scores import Score, sinks_of


@dataclass(frozen=True)
class Request:
    """A call, apart from q, k and v.

    Attributes:
        shape: the shape of the attention.
        scale: the factor of q·k.
        mask: where a query may look at a key; everywhere if None.
        scores: the score modifiers in order, with tensors for parameters; sinks last.
        dropout: the share of weights that is dropped.
        seed: of dropout.
        read: the readouts.
        portable: whether to use PyTorch's own operations even where there are kernels.
        counted: bool, (B, N): False for queries that the readouts take as if they might look at no key; all count if
            None.
        at_a_time: the number of scores that these hold at a time; depends on the device if None.
    """

    shape: AttentionShape
    scale: float
    mask: Mask | None
    scores: tuple[Score, ...]
    dropout: float
    seed: int
    read: tuple[Readout, ...]
    portable: bool
    counted: NDArray[np.bool_] | None = None
    at_a_time: int | None = None

    @property
    def sinks(self) -> Tensor | None:
        """The logits of the sinks, (H,)."""
        sinks = sinks_of(self.scores)
        if sinks is None:
            return None
        sinks.of(self.shape)  # checks them
        logits: Tensor = sinks.logits
        return logits

    def parameters(self) -> list[Tensor]:
        """The score modifiers' parameters, which have gradients, in order."""
        return [parameter for score in self.scores for parameter in score.parameters().values()]


def default_scale(width: int) -> float:
    """1/√D."""
    return 1 / math.sqrt(width) if width else 1.0
