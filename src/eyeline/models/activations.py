"""Activation functions of feed-forward layers, on float32 arrays."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


def relu(x: Array) -> Array:
    """max(x, 0)."""
    return np.maximum(x, np.float32(0))


def gelu(x: Array) -> Array:
    """x·Φ(x), where Φ is the normal distribution: x·(1 + erf(x/√2))/2, exact to 4e-7.

    Source: Hendrycks & Gimpel, "Gaussian Error Linear Units" (2016).

    >>> gelu(np.array([-20, -1, 0, 1, 20], np.float32)).round(4)
    array([ 0.    , -0.1587,  0.    ,  0.8413, 20.    ], dtype=float32)
    """
    # Φ(x) is 1 - tail(x) for x ≥ 0, and tail(-x) for x < 0. Beyond 15 the tail is 0 in float32.
    far = np.minimum(np.abs(x), np.float32(15))
    return np.subtract(relu(x), far * _tail(far))


# Highest power first.
_TAIL = (1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530)


def _tail(x: Array) -> Array:
    """1 - Φ(x) for x ≥ 0, since NumPy has no erf. Source: Abramowitz & Stegun (1964), 26.2.17, exact to 7.5e-8."""
    t = np.reciprocal(np.float32(0.2316419) * x + np.float32(1))
    total = np.full_like(x, _TAIL[0])
    for coefficient in _TAIL[1:]:
        total *= t
        total += np.float32(coefficient)
    total *= t
    total *= np.exp(np.float32(-0.5) * x * x)
    total *= np.float32(1 / math.sqrt(2 * math.pi))
    return total


def gelu_tanh(x: Array) -> Array:
    """The paper's approximation of `gelu` by tanh, with which some models were trained."""
    cubic = x + np.float32(0.044715) * x * x * x
    tanh: Array = np.tanh(np.float32(math.sqrt(2 / math.pi)) * cubic)
    result: Array = np.float32(0.5) * x * (tanh + np.float32(1))
    return result


def silu(x: Array) -> Array:
    """x·σ(x), where σ is the logistic function: x/(1 + exp(-x)). Source: Elfwing, Uchibe & Doya (2017).

    >>> silu(np.array([-200, -1, 0, 1, 200], np.float32)).round(4)
    array([ -0.    ,  -0.2689,   0.    ,   0.7311, 200.    ], dtype=float32)
    """
    below = np.negative(x)
    with np.errstate(over="ignore"):  # for large negative x it is x/inf
        np.exp(below, out=below)
    below += np.float32(1)
    return np.divide(x, below, out=below)


# By the names that config.json uses.
ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "gelu": gelu,
    "gelu_new": gelu_tanh,
    "gelu_pytorch_tanh": gelu_tanh,
    "relu": relu,
    "silu": silu,
}
