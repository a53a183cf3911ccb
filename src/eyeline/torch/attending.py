"""The two calls, for tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from eyeline.masks import Mask, Problem
from eyeline.readouts import Readout, chosen
from eyeline.scores import Score, Scores, Sinks, stacked
from eyeline.torch import choose
from eyeline.torch.operator import attend
from eyeline.torch.spec import Said, spec

_TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


@dataclass(frozen=True)
class TopK:
    """The keys that each query looks at most, (..., H, N, k), and their weights."""

    keys: Tensor
    weights: Tensor


@dataclass(frozen=True)
class Observation:
    """What `observe` saw: as `eyeline.Observation`, of tensors, which have gradients."""

    output: Tensor
    lse: Tensor
    weights: Tensor | None = None
    top_k: TopK | None = None
    entropy: Tensor | None = None
    received: Tensor | None = None
    distance: Tensor | None = None
    onto: Tensor | None = None
    pooled: Tensor | None = None
    sink: Tensor | None = None


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    scores: Scores = (),
    dropout: float = 0.0,
    seed: int | Tensor | None = None,
) -> Tensor:
    """Scaled dot-product attention of tensors, exact, in memory that grows with N + M; see `eyeline.attention`.

    It is differentiable once, in q, k, v and the parameters of `scores`, on any device; CPU tensors are computed by the
    compiled kernels. It may stand inside `torch.compile(fullgraph=True)` and `torch.export`.

    Args:
        seed: a whole number, or a tensor of one, which may change between runs of a compiled function.

    >>> import torch
    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]], requires_grad=True)
    >>> attention(x, x, x, scale=1.0)
    tensor([[0.7311, 0.2689],
            [0.2689, 0.7311]], grad_fn=<ReshapeAliasBackward0>)
    """
    return _attended(q, k, v, mask, scale, stacked(scores), dropout, seed, ())[0]


def observe(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    scores: Scores = (),
    dropout: float = 0.0,
    seed: int | Tensor | None = None,
    read: Readout | Sequence[Readout] = (),
) -> Observation:
    """Attention of tensors as `attention` computes it, and what is asked about its weights; see `eyeline.observe`.

    All that is observed is differentiable, but for the keys of `TopK`. A maximum has the gradient of the first place
    that attains it.

    >>> import torch
    >>> from eyeline import Weights
    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> observe(x, x, x, scale=1.0, read=Weights(queries=0)).weights
    tensor([[0.7311, 0.2689]])
    """
    changes = stacked(scores)
    readouts = chosen(read, _problem(q, k))
    output, lse, *found = _attended(q, k, v, mask, scale, changes, dropout, seed, readouts)
    seen: dict[str, Any] = {}
    for readout in readouts:
        name = type(readout).__name__.lower()
        if name == "topk":
            keys, found = found[0], found[1:]
            seen["top_k"] = TopK(keys, found[0])
        else:
            seen[name] = found[0]
        found = found[1:]
    if changes and isinstance(changes[-1], Sinks):
        logits = torch.as_tensor(changes[-1].logits, dtype=lse.dtype, device=lse.device)
        seen["sink"] = torch.exp(logits[..., None] - lse)
    return Observation(output, lse, **seen)


def _attended(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Mask | None,
    scale: float | None,
    changes: tuple[Score, ...],
    dropout: float,
    seed: int | Tensor | None,
    read: tuple[Readout, ...],
) -> list[Tensor]:
    """Output, lse and all that is read, with q's leading axes."""
    _check(q, k, v)
    if mask is not None and not isinstance(mask, Mask):
        raise TypeError(_mask_hint(mask))
    said = Said()
    text = spec(
        lead=tuple(q.shape[:-3]) or (1,),
        scale=None if scale is None else _checked_scale(scale),
        mask="null" if mask is None else said.mask(mask),
        changes=[said.score(score) for score in changes],
        dropout=float(dropout),
        seed=said.seed(dropout, seed),
        read=[said.readout(readout) for readout in read],
        portable=choose.wants_portable(),
    )
    results = attend(*(_four_axes(x) for x in (q, k, v)), said.parameters, said.facts, text)
    kept = [results[0], results[1], *results[4:]]
    return [x.reshape(*q.shape[:-2], *x.shape[2:]) for x in kept]


def _four_axes(x: Tensor) -> Tensor:
    """(B, heads, tokens, width)."""
    return x.reshape((1,) * (4 - x.ndim) + x.shape) if x.ndim <= 4 else x.flatten(0, -4)


def _problem(q: Tensor, k: Tensor) -> Problem:
    return Problem(tuple(q.shape[:-3]) or (1,), q.shape[-3] if q.ndim > 2 else 1, q.shape[-2], k.shape[-2])


def _check(q: Tensor, k: Tensor, v: Tensor) -> None:
    for name, x in (("q", q), ("k", k), ("v", v)):
        if not isinstance(x, Tensor):
            raise TypeError(f"{name} must be a tensor, as q is, got {type(x).__name__}; convert it with torch.as_tensor")
        if x.dtype not in _TYPES:
            raise ValueError(f"{name} must be float16, bfloat16, float32 or float64, got {x.dtype}; convert it with .float()")
        if x.ndim < 2:
            raise ValueError(f"{name} must be (tokens, width) or (..., heads, tokens, width), got shape {tuple(x.shape)}")
        for what in ("dtype", "device", "ndim"):
            if getattr(x, what) != getattr(q, what):
                raise ValueError(f"{name} must have q's {what}, {getattr(q, what)}, got {getattr(x, what)}")
    if k.shape[-1] != q.shape[-1]:
        raise ValueError(f"k must have q's width, {q.shape[-1]}, in its last axis, got shape {tuple(k.shape)}")
    if v.shape[:-1] != k.shape[:-1]:
        raise ValueError(
            f"v must have k's heads and tokens, {tuple(k.shape[:-1])}, before its last axis, got shape {tuple(v.shape)}"
        )
    if q.ndim > 2:
        if k.shape[:-3] != q.shape[:-3]:
            raise ValueError(f"k must have q's batch, {tuple(q.shape[:-3])}, in its leading axes, got shape {tuple(k.shape)}")
        heads, key_heads = q.shape[-3], k.shape[-3]
        if heads != key_heads and (key_heads == 0 or heads % key_heads):
            raise ValueError(
                f"k must have as many heads as q, {heads}, or a divisor of that (grouped heads), got {key_heads}"
            )


def _checked_scale(scale: Any) -> float:
    value = float(scale) if isinstance(scale, (int, float)) else math.nan
    if not math.isfinite(value):
        raise ValueError(f"scale must be a finite number, got {scale!r}")
    return value


def _mask_hint(mask: Any) -> str:
    if isinstance(mask, Tensor):
        return (
            f"mask must be a mask, got a tensor of {mask.dtype}; wrap booleans, True where a query may look at a key, "
            f"as eyeline.Dense(tensor)"
        )
    return f"mask must be a mask, such as eyeline.Causal(), got {type(mask).__name__}"
