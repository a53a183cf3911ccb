"""Activation functions of feed-forward layers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

#: By the names that config.json uses, the kernels' names: relu is max(x, 0); gelu x·Φ(x), with the normal distribution
#: Φ (Hendrycks & Gimpel, 2016); gelu_tanh the same paper's approximation by tanh, with which some models were trained;
#: silu x·σ(x), with the logistic function σ (Elfwing, Uchibe & Doya, 2017).
ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
    "silu": "silu",
}


def activated(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """An activation function by a kernel's name, in float64: the definition that the kernels' float32 comes close to.

    >>> activated("gelu", np.array([-1.0, 0.0, 2.0])).round(4)
    array([-0.1587,  0.    ,  1.9545])
    """
    if name == "relu":
        return np.maximum(x, 0.0)
    if name == "gelu":
        return np.asarray(x * (1 + np.vectorize(math.erf, otypes=[np.float64])(x / math.sqrt(2))) / 2)
    if name == "gelu_tanh":
        return np.asarray(x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2)
    assert name == "silu"
    return np.asarray(x * (1 + np.tanh(x / 2)) / 2)  # σ(x) without overflow
