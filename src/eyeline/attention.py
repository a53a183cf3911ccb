"""The two calls, `attention` and `observe`: check what was given, choose a kernel, answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels.setting import Setting
from eyeline.masks import Lowered, Mask, Problem
from eyeline.observation import Observation
from eyeline.readouts import Weights

Array = NDArray[Any]


def attention(q: Array, k: Array, v: Array, *, mask: Mask | None = None, scale: float | None = None) -> Array:
    """Scaled dot-product attention, exact, in memory that grows with N + M: softmax(q·kᵀ · scale)·v.

    A query that may look at nothing gets a row of zeros. What is masked out never reaches the result, NaN or not. A
    row's bits depend on that row alone: not on the batch it is in, on padding after it, on the number of threads, on
    the vector width, or on the run.

    Args:
        q: queries, (..., H, N, D) or (N, D), float32 or float64, of any strides.
        k: keys, (..., G, M, D), of the same type; H must be a multiple of G, and each key head serves H/G query heads
            in a row (grouped-query attention).
        v: values, (..., G, M, E), of the same type.
        mask: where a query may look at a key, for example `Causal() & Lengths([37, 512])`; everywhere if not given.
        scale: what scores are multiplied by; 1/√D if not given.

    Returns:
        (..., H, N, E), of the same type, contiguous.

    Raises:
        TypeError: if q, k or v isn't a NumPy array, or mask isn't a mask.
        ValueError: if shapes, types or the mask don't fit together; it says which argument, and what it should be.

    Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1; computed by blocks with an online softmax
    (Milakov and Gimelshein 2018; Dao et al. 2022).

    >>> x = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> attention(x, x, x, scale=1.0).round(2)
    array([[0.73, 0.27],
           [0.27, 0.73]])
    """
    return _Call(q, k, v, mask, scale).output()


def observe(
    q: Array, k: Array, v: Array, *, mask: Mask | None = None, scale: float | None = None, read: Sequence[Weights] = ()
) -> Observation:
    """Attention as `attention` computes it, to the bit, and what is asked about its weights, without the N × M matrix.

    Args:
        q, k, v, mask, scale: as for `attention`.
        read: what to read of the weights, each kind at most once.

    Returns:
        The output, `lse`, and an attribute for each readout, for example `weights` for `Weights`.

    Raises:
        TypeError, ValueError: as `attention`, and if `read` holds what isn't a readout or holds one twice.

    >>> x = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> seen = observe(x, x, x, scale=1.0, read=[Weights(queries=0)])
    >>> seen.weights.round(2)
    array([[0.73, 0.27]])
    >>> seen.lse.round(2)
    array([1.31, 1.31])
    """
    chosen = _checked_readouts(read)
    return _Call(q, k, v, mask, scale).observe(chosen)


class _Call:
    """One call: its arrays as (B, heads, tokens, width), its mask lowered, its scale."""

    def __init__(self, q: Array, k: Array, v: Array, mask: Mask | None, scale: float | None) -> None:
        _check_arrays(q, k, v)
        self.rows = q.shape[:-1]
        self.q, self.k, self.v = (_four_axes(x) for x in (q, k, v))
        D = q.shape[-1]
        by = _checked_scale(scale) if scale is not None else 1 / math.sqrt(D) if D else 1.0
        lowered: Lowered | None = None
        if mask is not None:
            if not isinstance(mask, Mask):
                raise TypeError(_mask_hint(mask))
            _, H, N, _ = self.q.shape
            lowered = mask.lower(Problem(q.shape[:-3] or (1,), H, N, self.k.shape[2]))
        self.setting = Setting(by, lowered)

    def output(self) -> Array:
        from eyeline.kernels.run import forward

        return forward(self.q, self.k, self.v, self.setting).output.reshape(*self.rows, self.v.shape[3])

    def observe(self, read: Weights | None) -> Observation:
        from eyeline.kernels.run import forward, weights

        B, H, N, _ = self.q.shape
        M = self.k.shape[2]
        rows, columns = (read.rows(N), read.columns(M)) if read is not None else (None, None)
        done = forward(self.q, self.k, self.v, self.setting)
        with np.errstate(divide="ignore"):
            lse = (done.maxima + np.log2(done.sums)) * math.log(2)
        rectangle: Array | None = None
        if rows is not None and columns is not None:
            # Intervals of keys stay intervals of the chosen keys, once these are in order.
            order = np.argsort(columns, kind="stable")
            mask = self.setting.mask
            chosen = replace(self.setting, mask=mask and _chosen(mask, rows, columns[order], (B, H, N, M)))
            keys = self.k if np.array_equal(columns, np.arange(M)) else self.k[:, :, columns[order]]
            found = weights(self.q[:, :, rows], keys, chosen, done.maxima[..., rows], done.sums[..., rows])
            if not np.array_equal(order, np.arange(len(order))):
                ordered = found
                found = np.empty_like(ordered)
                found[..., order] = ordered
            rectangle = found.reshape(*self.rows[:-1], *found.shape[2:])
        output = done.output.reshape(*self.rows, self.v.shape[3])
        asked = () if read is None else (read,)
        return Observation(output, lse.astype(done.output.dtype, copy=False).reshape(self.rows), rectangle, read=asked)


def _chosen(lowered: Lowered, rows: Array, columns: Array, shape: tuple[int, int, int, int]) -> Lowered:
    chosen = lowered.bounds if lowered.bounds.shape[2] == 1 else lowered.bounds[:, :, rows]
    bounds = np.searchsorted(columns, chosen).astype(np.int32)
    allowed = lowered.allowed
    if allowed is not None:
        allowed = np.broadcast_to(allowed, (*allowed.shape[:2], *shape[2:]))[:, :, rows][..., columns]
    return Lowered(np.ascontiguousarray(bounds), allowed)


def _four_axes(x: Array) -> Array:
    """(B, heads, tokens, width), without a copy where the leading axes allow it."""
    if x.ndim == 4:
        return x
    if x.ndim < 4:
        return x[(None,) * (4 - x.ndim)]
    return x.reshape(math.prod(x.shape[:-3]), *x.shape[-3:])


def _check_arrays(q: Array, k: Array, v: Array) -> None:
    for name, x in (("q", q), ("k", k), ("v", v)):
        if not isinstance(x, np.ndarray):
            raise TypeError(f"{name} must be a NumPy array, got {type(x).__name__}; convert it with numpy.asarray")
        if x.dtype != np.float32 and x.dtype != np.float64:
            raise ValueError(
                f"{name} must be float32 or float64, got {x.dtype}; convert it with {name}.astype(numpy.float32)"
            )
        if x.ndim < 2:
            raise ValueError(f"{name} must be (tokens, width) or (..., heads, tokens, width), got shape {x.shape}")
        if x.dtype != q.dtype:
            raise ValueError(f"{name} must be of q's type, {q.dtype}, got {x.dtype}")
        if x.ndim != q.ndim:
            raise ValueError(f"{name} must have as many axes as q, {q.ndim}, got shape {x.shape}")
    if k.shape[-1] != q.shape[-1]:
        raise ValueError(f"k must have q's width, {q.shape[-1]}, in its last axis, got shape {k.shape}")
    if v.shape[:-1] != k.shape[:-1]:
        raise ValueError(f"v must have k's heads and tokens, {k.shape[:-1]}, before its last axis, got shape {v.shape}")
    if q.ndim > 2:
        if k.shape[:-3] != q.shape[:-3]:
            raise ValueError(f"k must have q's batch, {q.shape[:-3]}, in its leading axes, got shape {k.shape}")
        heads, key_heads = q.shape[-3], k.shape[-3]
        if heads != key_heads and (key_heads == 0 or heads % key_heads):
            raise ValueError(
                f"k must have as many heads as q, {heads}, or a divisor of that (grouped heads), got {key_heads}"
            )


def _checked_scale(scale: object) -> float:
    try:
        value = math.nan if isinstance(scale, (str, bytes)) else float(scale)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"scale must be a finite number, got {scale!r}")
    return value


def _mask_hint(mask: object) -> str:
    if isinstance(mask, np.ndarray):
        return (
            f"mask must be a mask, got an array of {mask.dtype}; wrap booleans, True where a query may look at a key, "
            f"as eyeline.Dense(array)"
            + ("" if mask.dtype == bool else "; numbers mean different things in different libraries")
        )
    return f"mask must be a mask, such as eyeline.Causal(), got {type(mask).__name__}"


def _checked_readouts(read: Sequence[Weights]) -> Weights | None:
    if isinstance(read, Weights):
        read = [read]
    for readout in read:
        if not isinstance(readout, Weights):
            raise TypeError(f"read must hold readouts, such as eyeline.Weights(), got {readout!r}")
    if len(read) > 1:
        raise ValueError(f"read must hold each kind of readout once, got Weights {len(read)} times")
    return read[0] if read else None
