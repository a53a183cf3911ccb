"""The formula itself: scaled dot-product attention, n × n, in float64, one short function per step of the textbook.

This is the truth that everything faster is tested against, and what the step-by-step view shows. It builds the whole
matrix on purpose. Shapes: B batch, H heads, G key/value heads, N queries, M keys, D head width, E value width; any
leading axes will do.

Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1: softmax(QKᵀ/√d)V.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.masks import Mask, Problem

Array = NDArray[np.float64]


def project(x: ArrayLike, weight: ArrayLike, bias: ArrayLike | None = None, heads: int = 1) -> Array:
    """Each token's query, key or value: x·Wᵀ + b, cut into heads.

    Args:
        x: tokens, (..., N, width).
        weight: (H·D, width), as torch's `nn.Linear` keeps it.
        bias: (H·D,).
        heads: H.

    Returns:
        (..., H, N, D).
    """
    y = np.asarray(x, np.float64) @ np.asarray(weight, np.float64).T
    if bias is not None:
        y = y + np.asarray(bias, np.float64)
    return np.swapaxes(y.reshape(*y.shape[:-1], heads, y.shape[-1] // heads), -3, -2)


def scores(q: ArrayLike, k: ArrayLike) -> Array:
    """How well each key answers each query: q·k. (..., N, D), (..., M, D) → (..., N, M)."""
    return np.asarray(q, np.float64) @ np.swapaxes(np.asarray(k, np.float64), -1, -2)


def scaled(s: Array, by: float) -> Array:
    """Scores times `by`, 1/√D in the textbook, so that their spread doesn't grow with the head width."""
    return s * by


def masked(s: Array, allowed: NDArray[np.bool_] | None) -> Array:
    """Scores with -inf where a query may not look at a key."""
    return s if allowed is None else np.where(allowed, s, -np.inf)


def softmax(s: Array) -> tuple[Array, Array]:
    """Weights that sum to 1 over the keys, and `lse`, the log of each row's sum of exponentials.

    What is hidden (-inf) has weight 0, whatever else is in its row; a row that may look at nothing has lse -inf.
    """
    hidden = s == -np.inf
    top = s.max(axis=-1, keepdims=True, initial=-np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        exponentials = np.where(hidden, 0.0, np.exp(s - top))
        total = exponentials.sum(axis=-1, keepdims=True)
        lse = np.where(total == 0, -np.inf, top + np.log(total))[..., 0]
        return np.where(hidden, 0.0, exponentials / total), lse


def weighted_sum(weights: ArrayLike, v: ArrayLike) -> Array:
    """What each query becomes: x' = Σ w·v. (..., N, M), (..., M, E) → (..., N, E).

    A weight of exactly 0 takes nothing, whatever the value is: what isn't seen can't be NaN.

    >>> time, flies, arrow = np.eye(3)
    >>> weighted_sum([0.45, 0.10, 0.45], [time, flies, arrow])
    array([0.45, 0.1 , 0.45])
    """
    w, values = np.asarray(weights, np.float64), np.asarray(v, np.float64)
    if np.isfinite(values).all():
        return np.asarray(w @ values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(w[..., None] == 0, 0.0, w[..., None] * values[..., None, :, :]).sum(axis=-2))


@dataclass(frozen=True)
class Steps:
    """Every intermediate of one attention, in the order in which it is computed."""

    q: Array
    k: Array
    v: Array
    scores: Array
    scaled: Array
    masked: Array
    weights: Array
    lse: Array
    output: Array
    scale: float


def steps(q: ArrayLike, k: ArrayLike, v: ArrayLike, *, mask: Mask | None = None, scale: float | None = None) -> Steps:
    """Scaled dot-product attention with all its intermediates.

    Args:
        q: queries, (..., H, N, D), or (N, D).
        k: keys, (..., G, M, D); H must be a multiple of G, and each key head then serves H/G query heads in a row.
        v: values, (..., G, M, E).
        mask: where a query may look at a key; everywhere if not given.
        scale: what scores are multiplied by; 1/√D if not given.

    Returns:
        `Steps`, float64; weights and scores are (..., H, N, M), the output is (..., H, N, E).

    >>> x = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> steps(x, x, x, scale=1.0).weights.round(2)
    array([[0.73, 0.27],
           [0.27, 0.73]])
    """
    q64, k64, v64 = (np.asarray(a, np.float64) for a in (q, k, v))
    if q64.ndim > 2 and q64.shape[-3] != k64.shape[-3]:
        groups = q64.shape[-3] // k64.shape[-3]
        k64, v64 = np.repeat(k64, groups, axis=-3), np.repeat(v64, groups, axis=-3)
    by = 1 / math.sqrt(max(q64.shape[-1], 1)) if scale is None else scale
    with np.errstate(invalid="ignore", over="ignore"):
        raw = scores(q64, k64)
        times = scaled(raw, by)
        visible = masked(times, _allowed(mask, q64, k64))
    weights, lse = softmax(visible)
    return Steps(q64, k64, v64, raw, times, visible, weights, lse, weighted_sum(weights, v64), by)


def _allowed(mask: Mask | None, q: NDArray[Any], k: NDArray[Any]) -> NDArray[np.bool_] | None:
    if mask is None:
        return None
    problem = Problem(q.shape[:-3] or (1,), q.shape[-3] if q.ndim > 2 else 1, q.shape[-2], k.shape[-2])
    full = np.broadcast_to(mask.rule(problem), problem.shape)
    return full.reshape(*q.shape[:-1], k.shape[-2])
