"""A user's score function on tensors: its values, and its derivative in the score."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eyeline.masks import plain_function
from eyeline.masks.functions import compiled, kept
from eyeline.scores import ScoreFunction
from eyeline.torch.products import applied


class FunctionOfScores(torch.autograd.Function):
    """`change.function(score, b, h, i, j)` of a block's scores (B, H, n, m), in float64, compiled by Numba.

    Its derivative may be NaN where a pair ends up hidden, so it must be used with `Shielded`.
    """

    @staticmethod
    def forward(s: Tensor, change: ScoreFunction, rows: slice, keys: slice) -> Tensor:
        return _evaluated(plain_function(change.function), s, rows, keys)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        s, *ctx.rest = inputs
        ctx.save_for_backward(s)
        ctx.save_for_forward(s)

    @staticmethod
    def backward(ctx: Any, d: Tensor) -> tuple[Any, ...]:
        return d * applied(_Slope, ctx.saved_tensors[0], *ctx.rest), None, None, None

    @staticmethod
    def jvp(ctx: Any, t: Tensor, *_: None) -> Tensor:
        slope: Tensor = applied(_Slope, ctx.saved_tensors[0], *ctx.rest)
        return t * slope


class _Slope(torch.autograd.Function):
    """The function's derivative at each score; an autograd function, which gets plain tensors in any transform."""

    @staticmethod
    def forward(s: Tensor, change: ScoreFunction, rows: slice, keys: slice) -> Tensor:
        return _slope(s, change, rows, keys)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.mark_non_differentiable(output)


def _slope(s: Tensor, change: ScoreFunction, rows: slice, keys: slice) -> Tensor:
    """The user's own derivative, or a central difference."""
    if change.derivative is not None:
        return _evaluated(plain_function(change.derivative), s, rows, keys)
    wide = s.to("cpu", torch.float64)
    # The cube root of float64's precision balances the truncation and the rounding error.
    step = 6e-6 * wide.abs().clamp(min=1.0)
    above, below = wide + step, wide - step
    up, down = (_evaluated(plain_function(change.function), x, rows, keys) for x in (above, below))
    return ((up - down) / (above - below)).to(s)


def _evaluated(function: Any, s: Tensor, rows: slice, keys: slice) -> Tensor:
    """A function of (score, b, h, i, j) at a block's scores (B, H, n, m)."""
    values = s.to("cpu", torch.float64, copy=True).contiguous()
    _evaluation(function)(values.numpy(), rows.start, keys.start)
    return values.to(s)


@kept
def _evaluation(function: Any) -> Any:
    import numba

    value = compiled(function)

    @numba.njit(error_model="numpy", nogil=True)
    def evaluate(s: NDArray[np.float64], row: int, key: int) -> None:
        B, H, N, M = s.shape
        for b in range(B):
            for h in range(H):
                for i in range(N):
                    for j in range(M):
                        s[b, h, i, j] = value(s[b, h, i, j], b, h, row + i, key + j)

    return evaluate
