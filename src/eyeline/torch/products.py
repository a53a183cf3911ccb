"""Products of weights and tokens, in which a weight of exactly 0 takes nothing, and heads share keys."""

from __future__ import annotations

import torch
from torch import Tensor


def against(x: Tensor, y: Tensor) -> Tensor:
    """Every token of x (B, H, n, D) with every token of y (B, G, M, D), x·yᵀ: (B, H, n, M)."""
    B, H, n, D = x.shape
    G, M = y.shape[1:3]
    return (x.reshape(B, G, _served(H, G) * n, D) @ y.mT).reshape(B, H, n, M)


def gathered(weights: Tensor, y: Tensor) -> Tensor:
    """What each query takes of y (B, G, M, E) by its weights (B, H, n, M): (B, H, n, E)."""
    B, H, n, M = weights.shape
    G, E = y.shape[1], y.shape[3]
    return _product(weights.reshape(B, G, _served(H, G) * n, M), y).reshape(B, H, n, E)


def spread(weights: Tensor, x: Tensor, G: int) -> Tensor:
    """What each key is given of x (B, H, n, E) by the queries' weights (B, H, n, M): (B, G, M, E)."""
    B, H, n, M = weights.shape
    together = _served(H, G) * n
    return _product(weights.reshape(B, G, together, M).mT, x.reshape(B, G, together, x.shape[3]))


def _served(H: int, G: int) -> int:
    """How many query heads share a key head."""
    return H // G if G else 0


def _product(a: Tensor, b: Tensor) -> Tensor:
    """a·b, but 0 · NaN and 0 · inf are 0: what isn't seen can't be NaN."""
    plain = a @ b
    if bool(plain.isfinite().all()):
        return plain
    total = a @ b.nan_to_num(0.0, 0.0, 0.0)
    up, down, rise, fall = (x.to(a.dtype) for x in (a > 0, a < 0, b == torch.inf, b == -torch.inf))
    for sign, count in ((torch.inf, up @ rise + down @ fall), (-torch.inf, up @ fall + down @ rise)):
        total = total + torch.where(count > 0, sign, 0.0)
    unknown = (a != 0).to(a.dtype) @ b.isnan().to(a.dtype)
    return total.masked_fill(unknown > 0, torch.nan)
