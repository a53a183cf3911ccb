"""Attention of a block of queries, on any device, in operations that autograd can differentiate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from eyeline.scores import ScoreFunction, WeightFactor
from eyeline.torch.dropout import factors
from eyeline.torch.inputs import Inputs
from eyeline.torch.products import HiddenInBlock, Masked, QueryKeyProduct, Shielded, WeightedSum, applied
from eyeline.torch.request import Request
from eyeline.torch.score_functions import FunctionOfScores
from eyeline.torch.visibility import Visibility

#: The number of scores held at a time, by type of device; several arrays of this size exist at once.
_AT_A_TIME = {"cpu": 1 << 21}
_AT_A_TIME_ELSEWHERE = 1 << 25


@dataclass(frozen=True)
class Block:
    """The attention of the queries `rows` to the keys `keys`, the only ones they may look at.

    Attributes:
        output: (B, H, n, E).
        lse: (B, H, n), the log of each row's denominator, -inf where it may look at nothing.
        weights: (B, H, n, m), the weights before dropout, with their factors, 0 where hidden.
        hidden: (B, H, n, m), where a query may not look at a key.
        maxima, sums: (B, H, n), each row's largest score, and its sum of exp(score - largest), both including the sink.
    """

    rows: slice
    keys: slice
    output: Tensor
    lse: Tensor
    weights: Tensor
    hidden: Tensor
    maxima: Tensor
    sums: Tensor


@dataclass(frozen=True)
class Place:
    """A block's place in the matrix, and its visibility and dropout.

    Attributes:
        rows, keys: its queries, and the only keys that these may look at.
        visible: where they may look, bool, broadcasting to (B, H, n, m); everywhere if None.
        factors: dropout's factor of each weight, (B, H, n, m); None without dropout.
    """

    rows: slice
    keys: slice
    visible: Tensor | None
    factors: Tensor | None


def places(request: Request, like: Tensor) -> Iterator[Place]:
    """The blocks of a call, in order; `like` has the type and the device of the computation."""
    visibility = Visibility(request.mask, request.shape, like.device)
    B, H, N, M = request.shape.shape
    at_a_time = request.at_a_time or _AT_A_TIME.get(like.device.type, _AT_A_TIME_ELSEWHERE)
    n = max(1, at_a_time // max(1, B * H * M))
    for first in range(0, max(N, 1), n):  # one block without queries, where there are none
        rows = slice(first, min(first + n, N))
        keys = visibility.keys(rows)
        kept = factors(request, rows, keys, like) if request.dropout else None
        yield Place(rows, keys, visibility.of(rows, keys), kept)


def attend(request: Request, place: Place, inputs: Inputs) -> Block:
    """Attention of a block; `inputs` are cut to it."""
    hidden = HiddenInBlock()
    s: Tensor = applied(QueryKeyProduct, inputs.q, inputs.k, hidden) * request.scale
    for change in inputs.changes:
        s = applied(Shielded, s, hidden)
        if isinstance(change, ScoreFunction):
            s = applied(FunctionOfScores, s, change, place.rows, place.keys)
        else:
            s = change.apply(s, request.shape, place.rows, place.keys)
    s = applied(Masked, s, place.visible, hidden)
    assert hidden.pairs is not None
    sinks = None if inputs.logits is None else inputs.logits[:, None]
    maxima = (s.amax(dim=3) if s.shape[3] else s.new_full(s.shape[:3], -torch.inf)).detach()
    if sinks is not None:
        maxima = torch.maximum(maxima, sinks.detach())
    maxima = maxima.masked_fill(maxima == -torch.inf, 0.0)
    exponentials = (s - maxima[..., None]).exp().masked_fill(hidden.pairs, 0.0)
    sums = exponentials.sum(dim=3)
    if sinks is not None:
        sums = sums + (sinks - maxima).exp()
    nothing = sums == 0
    total = sums.masked_fill(nothing, 1.0)
    lse = (maxima + total.log()).masked_fill(nothing, -torch.inf)
    weights = (exponentials / total[..., None]).masked_fill(hidden.pairs, 0.0)
    for change in inputs.changes:
        if isinstance(change, WeightFactor):
            weights = weights * change.factors(weights)
    dropped, taken = weights, ~hidden.pairs
    if place.factors is not None:
        dropped, taken = weights * place.factors, taken & (place.factors != 0)
    output = applied(WeightedSum, dropped, inputs.v, taken)
    return Block(place.rows, place.keys, output, lse, weights, hidden.pairs, maxima, sums)
