"""Eyeline for PyTorch: the two calls on tensors, with autograd, `torch.compile` and `torch.export`, and modules.

`attending` calls `operator` with `spec`'s text and tensors, within `torch.func`'s transforms through `transforms`.
`choose` passes the call to the kernels or to `portable_path`, which computes the same on any device in PyTorch's own
operations: block after block of queries (`portable_block`), backward the same again under autograd.

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
