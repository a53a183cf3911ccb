"""Checks of a call's arguments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import Mask
from eyeline.words import worded

Array = NDArray[Any]
_OWN = {np.dtype(kind) for kind in (np.float16, np.float32, np.float64)}


def check_arrays(q: Array, k: Array, v: Array) -> None:
    """Check that queries, keys and values are arrays that fit together.

    Raises:
        TypeError: if one of them isn't a NumPy array, or is a masked array.
        ValueError: if their types or shapes don't fit.
    """
    for name, x in (("q", q), ("k", k), ("v", v)):
        if not isinstance(x, np.ndarray):
            raise TypeError(
                worded(
                    "{name} must be a NumPy array, got {type}; convert it with numpy.asarray",
                    name=name,
                    type=type(x).__name__,
                )
            )
        _check_unmasked(name, x)
        # NumPy has no bfloat16, so a library's type is recognised by its name; the lookup is slow, so it comes last.
        if x.dtype not in _OWN and x.dtype.name != "bfloat16":
            raise ValueError(
                worded(
                    "{name} must be float16, bfloat16, float32 or float64, got {dtype}; convert it with "
                    "{name}.astype(numpy.float32)",
                    name=name,
                    dtype=x.dtype,
                )
            )
        if x.ndim < 2:
            raise ValueError(
                worded(
                    "{name} must be (tokens, width) or (..., heads, tokens, width), got shape {shape}",
                    name=name,
                    shape=x.shape,
                )
            )
        if x.dtype != q.dtype:
            raise ValueError(
                worded("{name} must be of q's type, {dtype}, got {got}", name=name, dtype=q.dtype, got=x.dtype)
            )
        if x.ndim != q.ndim:
            raise ValueError(
                worded(
                    "{name} must have as many axes as q, {ndim}, got shape {shape}",
                    name=name,
                    ndim=q.ndim,
                    shape=x.shape,
                )
            )
    check_shapes(q.shape, k.shape, v.shape)


def _check_unmasked(name: str, x: object) -> None:
    if type(x) is not np.ndarray and isinstance(x, np.ma.MaskedArray):
        raise TypeError(
            worded(
                "{name} must be a plain NumPy array, got a masked one, whose mask means nothing here; pass "
                "{name}.data, and what may be seen as mask=eyeline.Dense(...) or eyeline.Padding(...)",
                name=name,
            )
        )


def check_lse(lse: object) -> NDArray[np.float64]:
    """Check a given lse; returns it as float64, in C's order, which the kernels read."""
    _check_unmasked("lse", lse)
    given = np.asarray(lse)
    if given.dtype.kind not in "fiu" and given.dtype.name != "bfloat16":
        raise ValueError(worded("lse must be real numbers, one per query, got {dtype}", dtype=given.dtype))
    return given.astype(np.float64, order="C")


def check_shapes(q: tuple[int, ...], k: tuple[int, ...], v: tuple[int, ...]) -> None:
    """Check that the shapes of queries, keys and values, all with the same number of axes, fit together."""
    if k[-1] != q[-1]:
        raise ValueError(worded("k must have q's width, {q}, in its last axis, got shape {k}", q=q[-1], k=k))
    if v[:-1] != k[:-1]:
        raise ValueError(
            worded("v must have k's heads and tokens, {k}, before its last axis, got shape {v}", k=k[:-1], v=v)
        )
    if len(q) > 2:
        if k[:-3] != q[:-3]:
            raise ValueError(worded("k must have q's batch, {q}, in its leading axes, got shape {k}", q=q[:-3], k=k))
        heads, key_heads = q[-3], k[-3]
        if heads != key_heads and (key_heads == 0 or heads % key_heads):
            raise ValueError(
                worded(
                    "k must have as many heads as q, {heads}, or a divisor of that (grouped heads), got {key_heads}",
                    heads=heads,
                    key_heads=key_heads,
                )
            )


def check_scale(scale: object, dtype: np.dtype[Any]) -> float:
    """Check that the scale is finite in the type in which scores are computed; returns it as a float."""
    try:
        value = math.nan if isinstance(scale, (str, bytes)) else float(scale)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(worded("scale must be a finite number, got {scale!r}", scale=scale))
    if dtype != np.float64 and abs(value) > 1e38:
        raise ValueError(
            worded("scale must be at most 1e38 where scores are computed in float32, got {scale!r}", scale=scale)
        )
    return value


def check_mask(mask: object) -> Mask | None:
    """Check that the mask is an Eyeline mask or None; returns it."""
    if mask is None or isinstance(mask, Mask):
        return mask
    if hasattr(mask, "dtype"):
        more = "" if "bool" in str(mask.dtype) else worded("; numbers mean different things in different libraries")
        raise TypeError(
            worded(
                "mask must be a mask, got an array of {dtype}; wrap booleans, True where a query may look at a key, "
                "as eyeline.Dense(array){more}",
                dtype=mask.dtype,
                more=more,
            )
        )
    raise TypeError(worded("mask must be a mask, such as eyeline.Causal(), got {type}", type=type(mask).__name__))
