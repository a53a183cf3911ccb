"""A block of queries: its scores, weights and sums, over all keys that it may look at."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from eyeline.torch.dropping import factors
from eyeline.torch.products import against
from eyeline.torch.request import Request
from eyeline.torch.sight import Sight
from eyeline.torch.steps import steps

#: Scores that are held at a time, by kind of device; some arrays of this size live at once.
_SCORES = {"cpu": 1 << 21}
_SCORES_ELSEWHERE = 1 << 25


@dataclass(frozen=True)
class Block:
    """What is known of n queries, and of the m keys beyond which they look at nothing.

    Attributes:
        rows, keys: which they are.
        weights: softmax's weights before dropout, (B, H, n, m), 0 where hidden.
        hidden: where a query may not look at a key, (B, H, n, m).
        before: the scores before each step.
        tops, sums: each row's largest score, and its sum of exp(score - largest); of the sink too. (B, H, n)
        lse: the log of each row's denominator, -inf where it may look at nothing. (B, H, n)
        sinks: the sink's share of each row, (B, H, n); None without sinks.
        factors: what dropout multiplies the weights by; None without dropout.
    """

    rows: slice
    keys: slice
    weights: Tensor
    hidden: Tensor
    before: tuple[Tensor, ...]
    tops: Tensor
    sums: Tensor
    lse: Tensor
    sinks: Tensor | None
    factors: Tensor | None

    def dropped(self) -> Tensor:
        """The weights after dropout."""
        return self.weights if self.factors is None else self.weights * self.factors


class Blocks:
    """The queries of a call, some at a time, with the keys they look at; q and k are of the type to compute in."""

    def __init__(self, q: Tensor, k: Tensor, request: Request) -> None:
        self._q, self._k, self._request = q, k, request
        lowered = None if request.mask is None else request.mask.lower(request.problem)
        self.steps = steps(request.scores, request.problem, q)
        logits = request.sinks
        self.sinks = None if logits is None else logits.to(q)[:, None]
        self._sight = Sight(lowered, request.problem, q.device)

    def __iter__(self) -> Iterator[Block]:
        B, H, N, _ = self._q.shape
        held = _SCORES.get(self._q.device.type, _SCORES_ELSEWHERE)
        n = max(1, held // max(1, B * H * self._k.shape[2]))
        for first in range(0, N, n):
            rows = slice(first, min(first + n, N))
            yield self._block(rows, self._sight.keys(rows.start, rows.stop))

    def _block(self, rows: slice, keys: slice) -> Block:
        request = self._request
        scores = against(self._q[:, :, rows], self._k[:, :, keys]) * request.scale
        before = []
        for step in self.steps:
            before.append(scores)
            scores = step.change(scores, rows, keys)
        visible = self._sight.of(rows.start, rows.stop, keys)
        if visible is not None:
            scores = scores.masked_fill(~visible, -torch.inf)
        hidden = scores == -torch.inf
        tops = scores.amax(dim=3) if scores.shape[3] else scores.new_full(scores.shape[:3], -torch.inf)
        if self.sinks is not None:
            tops = torch.maximum(tops, self.sinks)
        tops = tops.masked_fill(tops == -torch.inf, 0.0)
        exponentials = (scores - tops[..., None]).exp_().masked_fill_(hidden, 0.0)
        sums = exponentials.sum(dim=3)
        share = None
        if self.sinks is not None:
            share = (self.sinks - tops).exp()
            sums = sums + share
            share = share / sums
        weights = exponentials / sums.masked_fill(sums == 0, 1.0)[..., None]
        keep = None
        if request.dropout:
            keep = factors(request.dropout, request.seed, rows, keys, weights)
        weights = weights.masked_fill_(hidden, 0.0)
        return Block(rows, keys, weights, hidden, tuple(before), tops, sums, tops + sums.log(), share, keep)


def base_two(tops: Tensor) -> Tensor:
    """Largest scores as the kernels keep them, in base 2."""
    return tops * math.log2(math.e)
