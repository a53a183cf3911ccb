"""Mask functions: combined with one another, compiled, and evaluated for blocks of the matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, reduce, wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks.function_key import function_key, snapshot
from eyeline.masks.lowered import LoweredMask, Rule
from eyeline.masks.shape import AttentionShape

#: The number of booleans in a block, where the whole matrix isn't held.
_AT_A_TIME = 1 << 24


class _Kept:
    """A user's functions as a cache key: equal to other functions that have the same code and read the same values."""

    def __init__(self, functions: tuple[Rule, ...]) -> None:
        self.functions, self._key = functions, tuple(map(function_key, functions))

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kept) and self._key == other._key


def kept(make: Callable[..., Any]) -> Callable[..., Any]:
    """Cache `make`, whose arguments are functions or tuples of functions, by the functions' keys."""

    @lru_cache(maxsize=256)
    def once(*given: Any) -> Any:
        return make(*(one.functions if many else one.functions[0] for one, many in given))

    @wraps(make)
    def found(*given: Any) -> Any:
        several = [isinstance(one, tuple) for one in given]
        keys = (_Kept(one if many else (one,)) for one, many in zip(given, several, strict=True))
        return once(*zip(keys, several, strict=True))

    return found


@kept
def compiled(function: Rule) -> Any:
    """The function compiled by Numba; division by zero in it gives inf, as in the kernels, and doesn't raise."""
    import numba

    return numba.njit(snapshot(function), error_model="numpy", nogil=True)


@kept
def negation(functions: tuple[Rule, ...]) -> Rule:
    """The rule that holds where at least one of the functions doesn't."""
    function = compiled(reduce(_both, functions))
    return lambda b, h, i, j: not function(b, h, i, j)


@kept
def disjunction(left: tuple[Rule, ...], right: tuple[Rule, ...]) -> Rule:
    """The rule that holds where all functions on the left hold, or all on the right."""
    this, that = compiled(reduce(_both, left)), compiled(reduce(_both, right))
    return lambda b, h, i, j: bool(this(b, h, i, j)) or bool(that(b, h, i, j))


@kept
def _both(left: Rule, right: Rule) -> Rule:
    this, that = compiled(left), compiled(right)
    return lambda b, h, i, j: bool(this(b, h, i, j)) and bool(that(b, h, i, j))


@kept
def narrowing(function: Rule) -> Any:
    """A compiled loop that clears the booleans (B, H, n, m) of pairs that the function doesn't allow; `query` and `key`
    are the positions of the first query and the first key."""
    import numba

    holds = compiled(function)

    @numba.njit(error_model="numpy", nogil=True)
    def narrow(allowed: NDArray[np.bool_], query: int, key: int) -> None:
        B, H, N, M = allowed.shape
        for b in range(B):
            for h in range(H):
                for i in range(N):
                    for j in range(M):
                        if allowed[b, h, i, j] and not holds(b, h, query + i, key + j):
                            allowed[b, h, i, j] = False

    return narrow


def blocks(lowered: LoweredMask, shape: AttentionShape) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """A lowered mask as booleans, in blocks of queries: each block's first query, and its (B or 1, H or 1, n, M).

    An axis of length 1 stands for equal batch elements, heads or queries. A block takes about 16 MB.
    """
    bounds, allowed = lowered.bounds, lowered.allowed
    B, H, N = _shape(lowered, shape)
    j = np.arange(shape.keys, dtype=np.int32)
    n = max(1, _AT_A_TIME // max(B * H * shape.keys, 1))
    for first in range(0, N, n):
        rows = slice(first, min(first + n, N))
        block = np.zeros((B, H, rows.stop - first, shape.keys), bool)
        part = bounds if bounds.shape[2] == 1 else bounds[:, :, rows]
        for k in range(bounds.shape[3]):
            block |= (part[..., k, 0, None] <= j) & (j < part[..., k, 1, None])
        if allowed is not None:
            block &= allowed if allowed.shape[2] == 1 else allowed[:, :, rows]
        for function in lowered.functions:
            narrowing(function)(block, first, 0)
        yield first, block


def _shape(lowered: LoweredMask, shape: AttentionShape) -> tuple[int, int, int]:
    """The numbers of batch elements, heads and queries that differ: 1 where all are the same."""
    if lowered.functions:
        return shape.shape[:3]
    others = () if lowered.allowed is None else lowered.allowed.shape[:3]
    B, H, N = np.broadcast_shapes(lowered.bounds.shape[:3], others)
    return B, H, N


def booleans(lowered: LoweredMask, shape: AttentionShape) -> NDArray[np.bool_]:
    """A lowered mask as booleans, (B or 1, H or 1, N or 1, M)."""
    whole: NDArray[np.bool_] | None = None
    for first, block in blocks(lowered, shape):
        if whole is None:
            whole = np.empty((*block.shape[:2], _shape(lowered, shape)[2], shape.keys), bool)
        whole[:, :, first : first + block.shape[2]] = block
    return np.zeros((1, 1, 0, shape.keys), bool) if whole is None else whole
