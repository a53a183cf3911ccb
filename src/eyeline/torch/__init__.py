"""Eyeline for PyTorch: the two calls on tensors, with autograd, `torch.compile` and `torch.export`, and modules.

`attending` calls `operator` with the text and tensors of `spec`, and within `torch.func`'s transforms through
`transforms`. `choose` passes the call to the kernels or to `portable_path`, which computes the same on any device with
PyTorch's own operations, one block of queries at a time (`portable_block`); the backward pass recomputes each block
under autograd.

This room may import all but `views`, `models` and the rooms above them; in it, `torch` is PyTorch.
"""

from __future__ import annotations

from eyeline.torch.attending import attention, observe
from eyeline.torch.cache import Cache
from eyeline.torch.choose import portable
from eyeline.torch.modules import CrossAttention, SelfAttention
from eyeline.torch.multihead import MultiheadAttention

__all__ = [
    "Cache",
    "CrossAttention",
    "MultiheadAttention",
    "SelfAttention",
    "attention",
    "observe",
    "portable",
]
