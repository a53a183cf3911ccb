"""The two calls, `attention` and `observe`: check what was given, choose a kernel, answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline import reference
from eyeline.masks import Mask
from eyeline.readouts import Weights

Array = NDArray[Any]


@dataclass(frozen=True)
class Observation:
    """What `observe` saw.

    Attributes:
        output: (..., H, N, E), what `attention` returns, to the bit.
        lse: (..., H, N), the natural log of each row's sum of exponentials of scaled scores; -inf where it may look at nothing.
        weights: (..., H, rows, columns), if `Weights` was read.
    """

    output: Array
    lse: Array
    weights: Array | None = None


def attention(q: Array, k: Array, v: Array, *, mask: Mask | None = None, scale: float | None = None) -> Array:
    """STUB."""
    return observe(q, k, v, mask=mask, scale=scale).output


def observe(
    q: Array, k: Array, v: Array, *, mask: Mask | None = None, scale: float | None = None, read: Sequence[Weights] = ()
) -> Observation:
    """STUB."""
    s = reference.steps(q, k, v, mask=mask, scale=scale)
    w = None
    for r in read:
        w = s.weights[..., r.rows(q.shape[-2])[:, None], r.columns(k.shape[-2])].astype(q.dtype)
    return Observation(s.output.astype(q.dtype), s.lse.astype(q.dtype), w)
