"""The results of the backward pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Gradients:
    """The gradients of a loss.

    Attributes:
        dq, dk, dv: in the queries, keys and values, of their shapes, contiguous.
        delta: (B, H, N), each row's Σ_j w_ij · (gradient in w_ij) - (gradient in lse_i); 0 where a row may look at
            nothing. The gradient in a sink's logit is minus the sum over rows of delta times the sink's share.
        steps: for each score step, the gradient in its array, or None if it has none.
        factors: for each factor of weights, the gradient in its numbers, (B, H, N), or None.
        pairs: the number of query-key pairs that were computed.
    """

    dq: Array
    dk: Array
    dv: Array
    delta: Array
    steps: list[Array | None]
    factors: list[Array | None]
    pairs: int
