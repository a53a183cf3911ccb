"""Scaled dot-product attention on the whole matrix, in float64, one short function per step of the formula.

Shapes: B batch, H heads, G key/value heads, N queries, M keys, D head width, E value width; any leading axes will do.

Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1: softmax(QKᵀ/√d)V.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.dropout import check_dropout, kept
from eyeline.edits import CallPlace, Edit
from eyeline.masks import AttentionShape, Mask, Shard
from eyeline.reference.editing import Editing
from eyeline.scores import Scores, WeightFactor, sinks_of, stacked

Array = NDArray[np.float64]


def project(x: ArrayLike, weight: ArrayLike, bias: ArrayLike | None = None, heads: int = 1) -> Array:
    """Project tokens to queries, keys or values: x·Wᵀ + b, split into heads.

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


def dot_products(q: ArrayLike, k: ArrayLike) -> Array:
    """The score of each query and key, q·k. (..., N, D), (..., M, D) → (..., N, M)."""
    return np.asarray(q, np.float64) @ np.swapaxes(np.asarray(k, np.float64), -1, -2)


def scaled(s: Array, by: float) -> Array:
    """Scores times `by`, 1/√D in the textbook, so that their spread doesn't grow with the head width."""
    return s * by


def masked(s: Array, allowed: NDArray[np.bool_] | None) -> Array:
    """Scores with -inf where a query may not look at a key."""
    return s if allowed is None else np.where(allowed, s, -np.inf)


def softmax(s: Array, sink: Array | None = None) -> tuple[Array, Array]:
    """Weights that sum to 1 over the keys, and `lse`, the log of each row's sum of exponentials.

    A hidden pair (score -inf) has weight 0, even in a row with NaN; a row that may look at nothing has lse -inf. A
    `sink`, (..., N), is one more logit in the sum, so the weights then sum to less than 1.
    """
    hidden = s == -np.inf
    top = s.max(axis=-1, keepdims=True, initial=-np.inf)
    top = top if sink is None else np.maximum(top, sink[..., None])
    with np.errstate(divide="ignore", invalid="ignore"):
        exponentials = np.where(hidden, 0.0, np.exp(s - top))
        total = exponentials.sum(axis=-1, keepdims=True)
        total = total if sink is None else total + np.exp(sink[..., None] - top)
        lse = np.where(total == 0, -np.inf, top + np.log(total))[..., 0]
        return np.where(hidden, 0.0, exponentials / total), lse


def shares(s: Array, lse: Array) -> Array:
    """Weights normalised by a given `lse`, exp(s - lse): they sum to these keys' share of that total."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(s == -np.inf, 0.0, np.exp(s - lse[..., None]))


def dropped(weights: Array, keep: NDArray[np.bool_], share: float) -> Array:
    """The weights after dropout: the kept ones are divided by 1 - share, so that the expected value stays the same."""
    return np.where(keep, weights / (1 - share), 0.0)


def weighted_sum(weights: ArrayLike, v: ArrayLike, visible: NDArray[np.bool_] | None = None) -> Array:
    """The output of each query: x' = Σ w·v. (..., N, M), (..., M, E) → (..., N, E).

    Where `visible` (..., N, M) is false, the value is left out, whatever it is. A visible value counts even with weight
    0, so NaN and inf reach the rows that may look at them.

    >>> time, flies, arrow = np.eye(3)
    >>> weighted_sum([0.45, 0.10, 0.45], [time, flies, arrow])
    array([0.45, 0.1 , 0.45])
    """
    w, values = np.asarray(weights, np.float64), np.asarray(v, np.float64)
    if np.isfinite(values).all():
        return np.asarray(w @ values)
    with np.errstate(invalid="ignore"):
        products = w[..., None] * values[..., None, :, :]
        return np.asarray((products if visible is None else np.where(visible[..., None], products, 0.0)).sum(axis=-2))


@dataclass(frozen=True)
class Steps:
    """All intermediate results of one attention, in the order of computation.

    `changed` are the scores after the score modifiers, `sink` is the sink's share of each row, (..., H, N), and
    `dropped` are the weights after dropout. Without modifiers or dropout, they equal the step before; without sinks,
    `sink` is None. `visible` is whether a query may look at a key, (..., H, N, M): hidden neither by a mask nor by a
    score of -inf.
    """

    q: Array
    k: Array
    v: Array
    scores: Array
    scaled: Array
    changed: Array
    masked: Array
    weights: Array
    lse: Array
    sink: Array | None
    dropped: Array
    output: Array
    scale: float
    visible: NDArray[np.bool_]


def steps(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    scores: Scores = (),
    dropout: float = 0.0,
    seed: int | None = None,
    shard: Shard | None = None,
    lse: ArrayLike | None = None,
    edits: Sequence[Edit] | Edit = (),
    call: CallPlace | None = None,
) -> Steps:
    """Scaled dot-product attention with all its intermediate results.

    Args:
        q: queries, (..., H, N, D), or (N, D).
        k: keys, (..., G, M, D); H must be a multiple of G, and each key head then serves H/G query heads in a row.
        v: values, (..., G, M, E).
        mask: where a query may look at a key; everywhere if not given.
        scale: the factor of q·k; 1/√D if not given.
        scores: the score modifiers, in order.
        dropout: the share of weights that is dropped.
        seed: of dropout.
        shard: the place of these queries and keys in a larger attention, to which mask, scores and dropout then refer.
        lse: (..., H, N), the log-sum-exp that normalises the weights; computed over these keys and the sink if not
            given.
        edits: what is changed, each by its own definition (`eyeline.edits`), in their order; not with shard or lse.
        call: where the call stands in a run, to which edits refer; queries and keys count from 0 if not given.

    Returns:
        `Steps`, float64; weights and scores are (..., H, N, M), the output is (..., H, N, E).

    >>> x = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> steps(x, x, x, scale=1.0).weights.round(2)
    array([[0.73, 0.27],
           [0.27, 0.73]])
    """
    q64, k64, v64 = (np.asarray(a, np.float64) for a in (q, k, v))
    key_heads = k64.shape[-3] if q64.ndim > 2 else 1
    if q64.ndim > 2 and q64.shape[-3] != key_heads:
        groups = q64.shape[-3] // key_heads
        k64, v64 = np.repeat(k64, groups, axis=-3), np.repeat(v64, groups, axis=-3)
    editing = Editing(edits, q64, k64, v64, key_heads, call, apart=shard is not None or lse is not None)
    q64, k64, v64 = editing.inputs()
    whole_shape, here = place(q64, k64, shard)
    shape = (*q64.shape[:-1], k64.shape[-2])
    by = 1 / math.sqrt(max(q64.shape[-1], 1)) if scale is None else scale
    share, number = check_dropout(dropout, seed)
    modifiers = stacked(scores)
    with np.errstate(invalid="ignore", over="ignore"):
        raw = dot_products(q64, k64)
        times = scaled(raw, by)
        whole = np.zeros(whole_shape.shape)
        whole[here] = times.reshape(whole[here].shape)
        for modifier in modifiers:
            modifier.check(whole_shape)
            whole = modifier.apply(whole, whole_shape)
        changed = whole[here].reshape(shape)
        allowed = (
            None if mask is None else np.broadcast_to(mask.rule(whole_shape), whole_shape.shape)[here].reshape(shape)
        )
        visible = editing.hiding(masked(changed, allowed))
    sink, sinks = None, sinks_of(modifiers)
    if sinks is not None:
        sink = np.broadcast_to(sinks.of(whole_shape)[:, None], whole[here].shape[:3]).reshape(shape[:-1])
    if lse is None:
        weights, total = softmax(visible, sink)
    else:
        total = np.asarray(lse, np.float64)
        weights = shares(visible, total)
    for modifier in modifiers:
        if isinstance(modifier, WeightFactor):
            weights = weights * np.broadcast_to(modifier.factors(whole), whole.shape)[here].reshape(shape)
    weights, total, given_away = editing.weights(weights, total, None if sink is None else np.exp(sink - total))
    seen = editing.visible(visible != -np.inf)
    after = dropped(weights, kept(number, share, whole_shape)[here].reshape(shape), share) if share else weights
    return Steps(
        q64,
        k64,
        v64,
        scores=raw,
        scaled=times,
        changed=changed,
        masked=visible,
        weights=weights,
        lse=total,
        sink=given_away,
        dropped=after,
        output=editing.output(weighted_sum(after, v64, seen)),
        scale=by,
        visible=seen,
    )


def place(q: Array, k: Array, shard: Shard | None) -> tuple[AttentionShape, tuple[Any, ...]]:
    """The shape of the whole matrix, and the index of these queries (..., H, N, D) and keys (..., G, M, D) in it."""
    shard = shard or Shard()
    (N, M), i, j = (q.shape[-2], k.shape[-2]), shard.first_query, shard.first_key
    shape = AttentionShape(q.shape[:-3] or (1,), q.shape[-3] if q.ndim > 2 else 1, *shard.of(N, M))
    return shape, (..., slice(i, i + N), slice(j, j + M))
