"""Eyeline for PyTorch: the two calls on tensors, with autograd, `torch.compile` and `torch.export`, and modules.

`attending` says the call to `operator`, in `spec`'s text and tensors, and within `torch.func`'s transforms to
`transforms`, which stands around it; `choose` gives it to the kernels, or to `portable_path`, which computes the same on
any device in PyTorch's own operations: each block of queries (`portable_block`) by the definitions of `scores`,
`visibility`, `dropout` and `products`, and backward the same again under autograd.

This room may import all but `views`, `models` and what is above them; in it, `torch` is PyTorch.
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
