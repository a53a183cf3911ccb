"""A user's rules and score functions, compiled into loops that kernels call for a block at a time.

Numba compiles the function into the loop, and LLVM vectorises it where it can. A loop's arguments: the address of the
block, the stride between keys (in numbers), the batch element, the head, the first query, the number of queries, and
the keys [a, e).
"""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from eyeline.kernels import kernel_cache
from eyeline.kernels.machine import DType
from eyeline.masks.function_key import function_key
from eyeline.words import worded

_LOG2_E = math.log2(math.e)
#: The signatures of functions, for error messages.
_RULE, _SCORE = "(b, h, i, j) -> bool", "(score, b, h, i, j) -> float"


class Loop:
    """A compiled loop: its address, and the object that owns its code."""

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled
        self.address = int(compiled.address)


def rule_loop(function: Callable[..., Any]) -> Loop:
    """A loop that clears the flags of pairs that `function(b, h, i, j)` doesn't allow.

    Raises:
        ValueError: if Numba can't compile the function for whole numbers.
    """
    return _rule_loop(_Function(function))


def score_loop(function: Callable[..., Any], dtype: DType) -> Loop:
    """A loop that replaces scores, in base 2, by `function(score, b, h, i, j)` of scores in natural units.

    Raises:
        ValueError: if Numba can't compile the function for a number and four whole numbers.
    """
    return _score_loop(_Function(function), dtype)


def slope_loop(function: Callable[..., Any], derivative: Callable[..., Any] | None, dtype: DType) -> Loop:
    """A loop that replaces scores, in base 2, by the derivative of `function(score, b, h, i, j)` in the score (natural
    units): `derivative(score, b, h, i, j)`, or a central difference if None.

    Raises:
        ValueError: if Numba can't compile the function for a number and four whole numbers.
    """
    return _slope_loop(_Function(function), _Function(derivative) if derivative is not None else None, dtype)


class _Function:
    """A function as a cache key: equal to another with the same code and values (`masks.function_key`)."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._key = function_key(function)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Function) and self._key == other._key


@functools.lru_cache(64)
def _rule_loop(wrapped: _Function) -> Loop:
    from numba import carray  # type: ignore[attr-defined]
    from numba import types as numba_types

    function = _jitted(wrapped.function, _RULE)

    def loop(flags, line, batch, head, first_query, count, a, e):  # type: ignore[no-untyped-def]
        block = carray(flags, (e - a, line))
        for j in range(e - a):
            for i in range(count):
                block[j, i] &= np.int8(bool(function(batch, head, first_query + i, a + j)))
        return 0

    pointer = numba_types.CPointer(  # type: ignore[no-untyped-call]
        numba_types.int8
    )
    return _compiled(loop, numba_types.int64(pointer, *[numba_types.int64] * 7), wrapped.function, _RULE)


@functools.lru_cache(64)
def _score_loop(wrapped: _Function, dtype: DType) -> Loop:
    from numba import carray  # type: ignore[attr-defined]
    from numba import types as numba_types

    function, kind = _jitted(wrapped.function, _SCORE), np.dtype(dtype).type
    to_natural, to_base_2 = kind(1 / _LOG2_E), kind(_LOG2_E)

    def loop(scores, line, batch, head, first_query, count, a, e):  # type: ignore[no-untyped-def]
        block = carray(scores, (e - a, line))
        for j in range(e - a):
            for i in range(count):
                score = function(block[j, i] * to_natural, batch, head, first_query + i, a + j)
                block[j, i] = kind(score) * to_base_2
        return 0

    pointer = numba_types.CPointer(  # type: ignore[no-untyped-call]
        numba_types.float32 if dtype == "float32" else numba_types.float64
    )
    return _compiled(loop, numba_types.int64(pointer, *[numba_types.int64] * 7), wrapped.function, _SCORE)


@functools.lru_cache(64)
def _slope_loop(wrapped: _Function, slope: _Function | None, dtype: DType) -> Loop:
    from numba import carray  # type: ignore[attr-defined]
    from numba import types as numba_types

    kind = np.dtype(dtype).type
    to_natural = 1 / _LOG2_E
    if slope is not None:
        derivative = _jitted(slope.function, _SCORE, "derivative")
    else:
        function = _jitted(wrapped.function, _SCORE)

        def difference(score, batch, head, i, j):  # type: ignore[no-untyped-def]
            # The cube root of float64's precision balances the rounding and the truncation error.
            step = 6e-6 * max(1.0, abs(score))
            up, down = score + step, score - step
            return (function(up, batch, head, i, j) - function(down, batch, head, i, j)) / (up - down)

        derivative = _jitted(difference, _SCORE)

    def loop(scores, line, batch, head, first_query, count, a, e):  # type: ignore[no-untyped-def]
        block = carray(scores, (e - a, line))
        for j in range(e - a):
            for i in range(count):
                score = np.float64(block[j, i]) * to_natural
                block[j, i] = kind(derivative(score, batch, head, first_query + i, a + j))
        return 0

    pointer = numba_types.CPointer(  # type: ignore[no-untyped-call]
        numba_types.float32 if dtype == "float32" else numba_types.float64
    )
    of, name = (slope.function, "derivative") if slope is not None else (wrapped.function, "function")
    return _compiled(loop, numba_types.int64(pointer, *[numba_types.int64] * 7), of, _SCORE, name)


def _jitted(function: Callable[..., Any], wants: str, name: str = "function") -> Any:
    from numba import njit
    from numba.core.dispatcher import Dispatcher

    if isinstance(function, Dispatcher):
        return function
    if not isinstance(function, types.FunctionType):
        raise ValueError(
            worded(
                "{name} must be a function that Numba can compile, {wants}, got {function!r}, which is none "
                "by itself; write a `def` or a `lambda` in its place",
                name=name,
                wants=wants,
                function=function,
            )
        )
    return njit(error_model="numpy", inline="never")(function)


def _compiled(
    loop: Callable[..., Any], signature: Any, function: Callable[..., Any], wants: str, name: str = "function"
) -> Loop:
    from numba import cfunc
    from numba.core.errors import NumbaError

    try:
        with kernel_cache.native_code:
            return Loop(cfunc(signature, error_model="numpy")(loop))
    except NumbaError as error:
        # The first lines of Numba's message only name the stage that failed.
        reasons = [line for line in str(error).splitlines() if line.strip() and not line.startswith("Failed in")]
        raise ValueError(
            worded(
                "{name} must be one that Numba can compile, {wants}, on plain numbers, got {function!r}: {what}",
                name=name,
                wants=wants,
                function=getattr(function, "__name__", function),
                what=reasons[0] if reasons else error,
            )
        ) from error
