"""How scores change, on a block of queries, and what a change of the result means for the scores before.

A step's `change` is the step itself; its `pull` takes the gradient of the scores after it, returns that of the scores
before it, and adds what falls to the step's own numbers; `gradients` are then those of its score's parameters.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eyeline import scores
from eyeline.masks import AttentionShape
from eyeline.masks.functions import compiled
from eyeline.scores import Score


class Step:
    """One step, with sums of `like`'s type on its device."""

    def __init__(self, score: Any, problem: AttentionShape, like: Tensor) -> None:
        self.score, self.problem = score, problem
        self.start(like)

    def start(self, like: Tensor) -> None:
        """Bring what the step needs to the device."""

    def change(self, s: Tensor, rows: slice, keys: slice) -> Tensor:
        raise NotImplementedError

    def pull(self, d: Tensor, before: Tensor, rows: slice, keys: slice) -> Tensor:
        raise NotImplementedError

    def gradients(self) -> list[Tensor]:
        return []


class _Relative(Step):
    """Adds a table's entries by distance."""

    def start(self, like: Tensor) -> None:
        self.table = torch.from_numpy(self.score.lower(self.problem).table).to(like)
        self.total = torch.zeros_like(self.table)

    def change(self, s: Tensor, rows: slice, keys: slice) -> Tensor:
        return s + self.table[:, self._apart(rows, keys)]

    def pull(self, d: Tensor, before: Tensor, rows: slice, keys: slice) -> Tensor:
        heads = d.sum(0) if self.total.shape[0] != 1 else d.sum((0, 1))[None]
        self.total.index_add_(1, self._apart(rows, keys).flatten(), heads.flatten(1))
        return d

    def gradients(self) -> list[Tensor]:
        found = self.score.pull_back(self.total.cpu().numpy(), self.problem)
        return [torch.from_numpy(array).to(self.total) for array in found.values()]

    def _apart(self, rows: slice, keys: slice) -> Tensor:
        """Where in the table each pair's entry is, (n, m)."""
        i, j = (torch.arange(some.start, some.stop, device=self.table.device) for some in (rows, keys))
        return i[:, None] - j + (self.problem.keys - 1)


class _Added(Step):
    """Adds a bias, which stays on its device."""

    def start(self, like: Tensor) -> None:
        array = self.score.array
        own = (1,) * (3 - len(array.shape[-3:])) + tuple(array.shape[-3:])
        self.problem.spread(np.broadcast_to(np.int8(0), tuple(array.shape)), "array")  # checks the shape
        batch = array.to(like).expand(*self.problem.lead, *own) if array.ndim > 3 else array.to(like)
        self.bias = batch.reshape(-1, *own) if 0 not in batch.shape else batch.new_zeros(self.problem.batch, *own)
        self.total = torch.zeros_like(self.bias, memory_format=torch.contiguous_format)

    def change(self, s: Tensor, rows: slice, keys: slice) -> Tensor:
        return s + _part(self.bias, rows, keys)

    def pull(self, d: Tensor, before: Tensor, rows: slice, keys: slice) -> Tensor:
        part = _part(self.total, rows, keys)
        part += d.sum_to_size(part.shape)
        return d

    def gradients(self) -> list[Tensor]:
        shape = self.score.array.shape
        if len(shape) > 3:
            return [self.total.reshape(*self.problem.lead, *self.total.shape[1:]).sum_to_size(shape)]
        return [self.total.reshape(shape)]


class _Capped(Step):
    """s becomes cap · tanh(s / cap)."""

    def change(self, s: Tensor, rows: slice, keys: slice) -> Tensor:
        return self.score.cap * torch.tanh(s / self.score.cap)  # type: ignore[no-any-return]

    def pull(self, d: Tensor, before: Tensor, rows: slice, keys: slice) -> Tensor:
        return _times(d, 1 - torch.tanh(before / self.score.cap).square())


class _Called(Step):
    """s becomes what the user's function makes of it, in float64, compiled by Numba."""

    def change(self, s: Tensor, rows: slice, keys: slice) -> Tensor:
        return _evaluated(self.score.function, s, rows, keys)

    def pull(self, d: Tensor, before: Tensor, rows: slice, keys: slice) -> Tensor:
        if self.score.derivative is not None:
            return _times(d, _evaluated(self.score.derivative, before, rows, keys))
        s = before.to("cpu", torch.float64)
        # Central differences, with the step at which their own error and rounding's are about as large.
        step = 6e-6 * s.abs().clamp(min=1.0)
        up, down = (_evaluated(self.score.function, x, rows, keys) for x in (s + step, s - step))
        return _times(d, ((up - down) / (2 * step)).to(d))


_STEPS: dict[type[Score], type[Step]] = {
    scores.Alibi: _Relative,
    scores.Bias: _Added,
    scores.RelativeBias: _Relative,
    scores.ScoreFunction: _Called,
    scores.Softcap: _Capped,
}


def steps(changes: tuple[Score, ...], problem: AttentionShape, like: Tensor) -> list[Step]:
    """The steps of these changes of scores, for scores of `like`'s type on its device; sinks are none."""
    return [_STEPS[type(score)](score, problem, like) for score in changes if not isinstance(score, scores.Sinks)]


def _times(d: Tensor, slope: Tensor) -> Tensor:
    """Hidden scores have gradient 0, whatever the slope is there."""
    return torch.where(d == 0, 0.0, d * slope)


def _part(x: Tensor, rows: slice, keys: slice) -> Tensor:
    """What of (B or 1, H or 1, N or 1, M or 1) belongs to these queries and keys, a view."""
    x = x if x.shape[2] == 1 else x[:, :, rows]
    return x if x.shape[3] == 1 else x[..., keys]


def _evaluated(function: Any, s: Tensor, rows: slice, keys: slice) -> Tensor:
    """A function of (score, b, h, i, j) at a block's scores (B, H, n, m)."""
    values = s.to("cpu", torch.float64, copy=True).contiguous()
    _evaluation(function)(values.numpy(), rows.start, keys.start)
    return values.to(s)


@lru_cache(maxsize=64)
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
