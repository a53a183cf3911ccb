"""Checks of tensors that attention is given."""

from __future__ import annotations

import torch
from torch import Tensor

from eyeline.attention.checks import check_shapes
from eyeline.words import worded

_TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def check_tensors(q: Tensor, k: Tensor, v: Tensor) -> None:
    """Check that queries, keys and values are tensors of one type, on one device, whose shapes fit together."""
    for name, x in (("q", q), ("k", k), ("v", v)):
        if not isinstance(x, Tensor):
            raise TypeError(
                worded(
                    "{name} must be a tensor, as the others are, got {type}; use torch.as_tensor",
                    name=name,
                    type=type(x).__name__,
                )
            )
        if x.dtype not in _TYPES:
            raise ValueError(
                worded(
                    "{name} must be float16, bfloat16, float32 or float64, got {dtype}; convert it with {name}.float()",
                    name=name,
                    dtype=x.dtype,
                )
            )
        if x.ndim < 2:
            raise ValueError(
                worded(
                    "{name} must be (tokens, width) or (..., heads, tokens, width), got shape {shape}",
                    name=name,
                    shape=tuple(x.shape),
                )
            )
        if x.dtype != q.dtype:
            raise ValueError(
                worded(
                    "{name} must be of q's type, {dtype}, got {got}; convert one, or use torch.autocast",
                    name=name,
                    dtype=q.dtype,
                    got=x.dtype,
                )
            )
        if x.device != q.device:
            raise ValueError(
                worded(
                    "{name} must be on q's device, {device}, got {got}",
                    name=name,
                    device=q.device,
                    got=x.device,
                )
            )
        if x.ndim != q.ndim:
            raise ValueError(
                worded(
                    "{name} must have as many axes as q, {ndim}, got shape {shape}",
                    name=name,
                    ndim=q.ndim,
                    shape=tuple(x.shape),
                )
            )
    check_shapes(tuple(q.shape), tuple(k.shape), tuple(v.shape))
