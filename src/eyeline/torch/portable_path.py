"""Attention and everything read of it, forward and backward, in plain PyTorch operations on any device.

Both passes go by blocks of queries, so that memory grows with N + M; the backward pass computes each block again, and
lets autograd differentiate it. It does so by `torch.func.vjp`: an operator's own code runs below autograd, where
`torch.enable_grad` records nothing, but `torch.func`'s transforms work. (A fresh thread would have autograd on, and a
team of OpenMP threads of its own.) Half types are computed in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from eyeline.readouts import chosen
from eyeline.torch.inputs import Inputs
from eyeline.torch.portable_block import Block, Place, attend, places
from eyeline.torch.reading import readings, with_gradients
from eyeline.torch.request import Request


def computed_in(dtype: torch.dtype) -> torch.dtype:
    """The type of sums, lse and readouts for inputs of `dtype`."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def forward(q: Tensor, k: Tensor, v: Tensor, request: Request) -> list[Tensor]:
    """q (B, H, N, D), k (B, G, M, D), v (B, G, M, E) → output, lse, maxima in base 2, sums, then all that is read."""
    _check(request)
    return _forward(q, k, v, request)


def _check(request: Request) -> None:
    """Whether what is to be read, and the changes of the scores, fit the call."""
    chosen(request.read, request.problem)
    for change in request.scores:
        change.check(request.problem)


def _forward(q: Tensor, k: Tensor, v: Tensor, request: Request) -> list[Tensor]:
    dtype = computed_in(q.dtype)
    read = readings(request, dtype, q.device)
    whole = Inputs(q, k, v, request.scores).to(dtype)
    found: list[list[Tensor]] = [[q.new_empty(*q.shape[:2], 0, v.shape[3], dtype=dtype)]]
    found += [[q.new_empty(*q.shape[:2], 0, dtype=dtype)] for _ in range(3)]
    for place in places(request, whole.q):
        block = attend(request, place, whole.cut(place.rows, place.keys))
        for some, x in zip(found, (block.output, block.lse, block.maxima * math.log2(math.e), block.sums), strict=True):
            some.append(x)
        for reading in read:
            reading.add(block)
    output, *rest = (torch.cat(some, dim=2) for some in found)
    return [output.to(q.dtype), *rest, *(x for reading in read for x in reading.results())]


def backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    request: Request,
    d_output: Tensor | None,
    d_lse: Tensor | None,
    d_read: Sequence[Tensor | None],
    needs: Sequence[bool],
) -> list[Tensor | None]:
    """The gradients of q, k, v and the request's parameters, None where not needed.

    Args:
        d_output, d_lse, d_read: the gradients of what `forward` gave, None where there is none.
        needs: of which inputs to compute the gradient, in the order of the answer.
    """
    dtype = computed_in(q.dtype)
    whole = Inputs(q, k, v, request.scores).to(dtype)
    total = whole.zeros()
    wanted = [at for at, need in enumerate(needs) if need]
    read = with_gradients(readings(request, dtype, q.device), d_read)
    looking = [reading for reading in read if reading.looks_first]
    for place in places(request, whole.q) if looking else ():
        block = attend(request, place, whole.cut(place.rows, place.keys))
        for reading in looking:
            reading.add(block)
    for place in places(request, whole.q):
        block, pull = _differentiable(request, place, whole.cut(place.rows, place.keys), wanted)
        d_weights = torch.zeros_like(block.weights)
        for reading in read if d_weights.numel() else ():
            reading.pull(block, d_weights)
        d_rows = [
            torch.zeros_like(x) if d is None else d[:, :, place.rows].to(dtype)
            for x, d in ((block.output, d_output), (block.lse, d_lse))
        ]
        totals = total.cut(place.rows, place.keys).tensors()
        for at, gradient in zip(wanted, pull((*d_rows, d_weights)), strict=True):
            totals[at] += gradient
    inputs = [q, k, v, *request.parameters()]
    return [gradient.to(x) if need else None for gradient, x, need in zip(total.tensors(), inputs, needs, strict=True)]


def tangents(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    request: Request,
    given: Sequence[Tensor],
    which: Sequence[int],
    jvp: Callable[..., tuple[Any, Any]] = torch.func.jvp,
) -> list[Tensor]:
    """The tangents of all that `forward` gives, by those of some of q, k, v and the request's parameters.

    Args:
        given, which: these tangents, and which of the tensors they are of.
        jvp: what differentiates, as `torch.func.jvp`.
    """
    _check(request)
    inputs = Inputs(q, k, v, request.scores)
    tensors = inputs.tensors()

    def results(*some: Tensor) -> tuple[Tensor, ...]:
        moved = list(tensors)
        for at, x in zip(which, some, strict=True):
            moved[at] = x
        now = inputs.like(moved)
        return tuple(_forward(now.q, now.k, now.v, replace(request, scores=now.scores)))

    found, moved = jvp(results, tuple(tensors[at] for at in which), tuple(given))
    return [t if x.is_floating_point() else torch.zeros_like(x) for x, t in zip(found, moved, strict=True)]


def _differentiable(request: Request, place: Place, part: Inputs, wanted: list[int]) -> tuple[Block, Any]:
    """A block, and what takes the gradients of its output, lse and weights to those of the `wanted` tensors."""
    tensors = part.tensors()

    def results(*some: Tensor) -> Any:
        given = list(tensors)
        for at, x in zip(wanted, some, strict=True):
            given[at] = x
        block = attend(request, place, part.like(given))
        return (block.output, block.lse, block.weights), (block.hidden, block.maxima, block.sums)

    found, pull, rest = torch.func.vjp(results, *(tensors[at] for at in wanted), has_aux=True)
    return Block(place.rows, place.keys, *found, *rest), pull
