"""The result of running a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import Mask
from eyeline.readouts import Weights
from eyeline.readouts.observation import Observation

Array = NDArray[np.float32]


@dataclass(frozen=True)
class Layer:
    """What happened in one layer.

    Attributes:
        q: queries, (B, H, N, D).
        k, v: keys and values, (B, G, M, D): of the same tokens, and in a step of generation, of all
            before them too. G is fewer than H where several heads of queries share one.
        seen: the layer's attention and its readouts.
        state: each token's vector after the layer, (B, N, width).
        mask: where its tokens may look; None for everywhere.
    """

    q: Array
    k: Array
    v: Array
    seen: Observation
    state: Array
    mask: Mask | None = None

    @property
    def output(self) -> NDArray[Any]:
        """Each head's output, (B, H, N, D)."""
        return self.seen.output

    @property
    def lse(self) -> NDArray[Any]:
        """The natural log of each row's sum of exponentials of scaled scores, (B, H, N)."""
        return self.seen.lse

    @property
    def weights(self) -> NDArray[Any] | None:
        """(B, H, N, M), if they were asked for."""
        return self.seen.get(Weights)


@dataclass(frozen=True)
class Run:
    """The result of `Model.run`.

    Attributes:
        hidden_states: each token's vector before the first layer and after each, layers + 1 arrays of (B, N, width). A
            decoder's last is as its last layer left it: `Model.logits` norms it.
        layers: what happened in each layer.
    """

    hidden_states: tuple[Array, ...]
    layers: tuple[Layer, ...]
