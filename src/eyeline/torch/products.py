"""The two matrix products of attention, and their derivatives, without hidden pairs.

PyTorch's own products would turn hidden keys or values of NaN or inf into NaN, since 0 · NaN is NaN. Here hidden pairs
are left out of each sum, forward and backward. Heads share keys: H query heads, G key heads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


def applied(function: type[torch.autograd.Function], *given: Any) -> Any:
    """Call a `torch.autograd.Function`."""
    return function.apply(*given)  # type: ignore[no-untyped-call]


@dataclass
class HiddenInBlock:
    """The hidden pairs of a block, (B, H, n, m), by a mask or by a score of -inf. They are known once all score
    modifiers are applied; derivatives are computed after that."""

    pairs: Tensor | None = None


class QueryKeyProduct(torch.autograd.Function):
    """q·kᵀ: q (B, H, n, D), k (B, G, m, D) → (B, H, n, m)."""

    @staticmethod
    def forward(q: Tensor, k: Tensor, hidden: HiddenInBlock) -> Tensor:
        return _against(q, k)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        q, k, ctx.hidden = inputs
        ctx.save_for_backward(q, k)
        ctx.save_for_forward(q, k)

    @staticmethod
    def backward(ctx: Any, d: Tensor) -> tuple[Tensor | None, ...]:
        q, k = ctx.saved_tensors
        seen = ~ctx.hidden.pairs
        dq = _gathered(d, k, seen) if ctx.needs_input_grad[0] else None
        dk = _spread(d, q, seen, k.shape[1]) if ctx.needs_input_grad[1] else None
        return dq, dk, None

    @staticmethod
    def jvp(ctx: Any, tq: Tensor | None, tk: Tensor | None, _: None) -> Tensor:
        q, k = ctx.saved_tensors
        return _sum(None if tq is None else _against(tq, k), None if tk is None else _against(q, tk))


class WeightedSum(torch.autograd.Function):
    """Σ w·v: weights (B, H, n, m), values (B, G, m, E) → (B, H, n, E), over the pairs that are `taken`."""

    @staticmethod
    def forward(weights: Tensor, values: Tensor, taken: Tensor) -> Tensor:
        return _gathered(weights, values, taken)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, d: Tensor) -> tuple[Tensor | None, ...]:
        weights, values, taken = ctx.saved_tensors
        d_weights = _against(d, values).masked_fill(~taken, 0.0) if ctx.needs_input_grad[0] else None
        d_values = _spread(weights, d, taken, values.shape[1]) if ctx.needs_input_grad[1] else None
        return d_weights, d_values, None

    @staticmethod
    def jvp(ctx: Any, t_weights: Tensor | None, t_values: Tensor | None, _: None) -> Tensor:
        weights, values, taken = ctx.saved_tensors
        return _sum(
            None if t_weights is None else _gathered(t_weights, values, taken),
            None if t_values is None else _gathered(weights, t_values, taken),
        )


class Shielded(torch.autograd.Function):
    """The identity on scores, which stops gradients to pairs that end up hidden, where slopes may be NaN."""

    @staticmethod
    def forward(s: Tensor, hidden: HiddenInBlock) -> Tensor:
        return s.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.hidden = inputs[1]

    @staticmethod
    def backward(ctx: Any, d: Tensor) -> tuple[Tensor, None]:
        return d.masked_fill(ctx.hidden.pairs, 0.0), None

    @staticmethod
    def jvp(ctx: Any, t: Tensor, _: None) -> Tensor:
        return t.clone()


class Masked(torch.autograd.Function):
    """Scores with -inf where a query may not look; sets `hidden`. (B, H, n, m)"""

    @staticmethod
    def forward(s: Tensor, visible: Tensor | None, hidden: HiddenInBlock) -> Tensor:
        masked = s.clone() if visible is None else s.masked_fill(~visible, -torch.inf)
        hidden.pairs = masked == -torch.inf
        return masked

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.hidden = inputs[2]

    @staticmethod
    def backward(ctx: Any, d: Tensor) -> tuple[Tensor, None, None]:
        return d.masked_fill(ctx.hidden.pairs, 0.0), None, None

    @staticmethod
    def jvp(ctx: Any, t: Tensor, *_: None) -> Tensor:
        return t.masked_fill(ctx.hidden.pairs, 0.0)


def _sum(*terms: Tensor | None) -> Tensor:
    """The sum of the terms that aren't None; at least one isn't."""
    first, *rest = [x for x in terms if x is not None]
    return first + rest[0] if rest else first


def _against(x: Tensor, y: Tensor) -> Tensor:
    """x·yᵀ for x (B, H, n, D) and y (B, G, M, D): (B, H, n, M)."""
    B, H, n, D = x.shape
    G, M = y.shape[1:3]
    return (x.reshape(B, G, _served(H, G) * n, D) @ y.mT).reshape(B, H, n, M)


def _gathered(weights: Tensor, y: Tensor, taken: Tensor) -> Tensor:
    """Each query's sum of y (B, G, M, E) times its weights (B, H, n, M): (B, H, n, E)."""
    B, H, n, M = weights.shape
    G, E = y.shape[1], y.shape[3]
    together = B, G, _served(H, G) * n, M
    return _product(weights.reshape(together), y, taken.reshape(together)).reshape(B, H, n, E)


def _spread(weights: Tensor, x: Tensor, taken: Tensor, G: int) -> Tensor:
    """Each key's sum of x (B, H, n, E) times the queries' weights (B, H, n, M): (B, G, M, E)."""
    B, H, n, M = weights.shape
    together = B, G, _served(H, G) * n
    return _product(weights.reshape(*together, M).mT, x.reshape(*together, x.shape[3]), taken.reshape(*together, M).mT)


def _served(H: int, G: int) -> int:
    """The number of query heads that share a key head."""
    return H // G if G else 0


def _product(a: Tensor, b: Tensor, taken: Tensor) -> Tensor:
    """a·b without the pairs that aren't `taken`: a is 0 there, and 0 · NaN and 0 · inf count as 0."""
    plain = a @ b
    if plain.is_meta or bool(plain.isfinite().all()):
        return plain
    total = a @ b.nan_to_num(0.0, 0.0, 0.0)
    up, down, rise, fall, unknown = (x.to(a.dtype) for x in (a > 0, a < 0, b == torch.inf, b == -torch.inf, b.isnan()))
    for sign, count in ((torch.inf, up @ rise + down @ fall), (-torch.inf, up @ fall + down @ rise)):
        total = total + torch.where(count > 0, sign, 0.0)
    spoiled = taken.to(a.dtype) @ unknown + (taken & (a == 0)).to(a.dtype) @ (rise + fall)
    return total.masked_fill(spoiled > 0, torch.nan)
