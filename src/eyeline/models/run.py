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
    """The intermediate results of one layer.

    Attributes:
        q: queries, (B, H, N, D).
        k, v: keys and values, (B, G, M, D), of the same tokens; in generation, of all earlier tokens too. G is less
            than H if several query heads share a key head.
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
        """The weights, (B, H, N, M); None unless they were requested."""
        return self.seen.get(Weights)


@dataclass(frozen=True)
class Run:
    """The result of `Model.run`.

    Attributes:
        hidden_states: each token's vector before the first layer and after each, layers + 1 arrays of (B, N, width). A
            decoder's last one is before the final norm, which `Model.logits` applies.
        layers: the intermediate results of each layer.
    """

    hidden_states: tuple[Array, ...]
    layers: tuple[Layer, ...]
