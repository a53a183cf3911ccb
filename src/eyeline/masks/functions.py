"""Rules that are functions of positions: joined, and computed for blocks of the matrix, compiled."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks.lowered import Lowered, Problem, Rule

#: Booleans that are computed at a time where not all of them are to be held.
_AT_A_TIME = 1 << 24


@lru_cache(maxsize=256)
def compiled(function: Rule) -> Any:
    """The function as Numba compiles it; division by zero in it gives inf, as in the kernels, and raises nothing."""
    import numba

    return function if hasattr(function, "py_func") else numba.njit(function, error_model="numpy", nogil=True)


@lru_cache(maxsize=256)
def negation(functions: tuple[Rule, ...]) -> Rule:
    """The rule that holds where not all of the functions do."""
    import numba

    function = compiled(_all_of(functions))

    @numba.njit(error_model="numpy", nogil=True)
    def fails(b: int, h: int, i: int, j: int) -> bool:
        return not function(b, h, i, j)

    return fails


@lru_cache(maxsize=256)
def disjunction(left: tuple[Rule, ...], right: tuple[Rule, ...]) -> Rule:
    """The rule that holds where all functions of one side do, or all of the other."""
    import numba

    this, that = compiled(_all_of(left)), compiled(_all_of(right))

    @numba.njit(error_model="numpy", nogil=True)
    def either(b: int, h: int, i: int, j: int) -> bool:
        return bool(this(b, h, i, j)) or bool(that(b, h, i, j))

    return either


def _all_of(functions: tuple[Rule, ...]) -> Rule:
    return reduce(_both, functions)


@lru_cache(maxsize=256)
def _both(left: Rule, right: Rule) -> Rule:
    import numba

    this, that = compiled(left), compiled(right)

    @numba.njit(error_model="numpy", nogil=True)
    def both(b: int, h: int, i: int, j: int) -> bool:
        return bool(this(b, h, i, j)) and bool(that(b, h, i, j))

    return both


@lru_cache(maxsize=256)
def _narrowing(function: Rule) -> Any:
    import numba

    holds = compiled(function)

    @numba.njit(error_model="numpy", nogil=True)
    def narrow(allowed: NDArray[np.bool_], first: int) -> None:
        B, H, N, M = allowed.shape
        for b in range(B):
            for h in range(H):
                for i in range(N):
                    for j in range(M):
                        if allowed[b, h, i, j] and not holds(b, h, first + i, j):
                            allowed[b, h, i, j] = False

    return narrow


def blocks(lowered: Lowered, problem: Problem) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """A lowered mask as booleans, some queries at a time: the first of them, and their (B or 1, H or 1, n, M).

    An axis of 1 stands for all batch elements, or heads, or (n) queries alike. A block is held in some 16 MB.
    """
    bounds, allowed = lowered.bounds, lowered.allowed
    shape = np.broadcast_shapes(bounds.shape[:3], allowed.shape[:3] if allowed is not None else ())
    if lowered.functions:
        shape = problem.shape[:3]
    B, H, N = shape
    j = np.arange(problem.keys, dtype=np.int32)
    n = max(1, _AT_A_TIME // max(B * H * problem.keys, 1))
    for first in range(0, N, n):
        rows = slice(first, min(first + n, N))
        block = np.zeros((B, H, rows.stop - first, problem.keys), bool)
        part = bounds if bounds.shape[2] == 1 else bounds[:, :, rows]
        for k in range(bounds.shape[3]):
            block |= (part[..., k, 0, None] <= j) & (j < part[..., k, 1, None])
        if allowed is not None:
            block &= allowed if allowed.shape[2] == 1 else allowed[:, :, rows]
        for function in lowered.functions:
            _narrowing(function)(block, first)
        yield first, block


def booleans(lowered: Lowered, problem: Problem) -> NDArray[np.bool_]:
    """A lowered mask as booleans, (B or 1, H or 1, N or 1, M)."""
    found = [block for _, block in blocks(lowered, problem)]
    return np.concatenate(found, axis=2) if found else np.zeros((1, 1, 0, problem.keys), bool)
