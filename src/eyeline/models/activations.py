"""Activation functions of feed-forward layers."""

from __future__ import annotations

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
