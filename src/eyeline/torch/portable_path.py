"""Attention and its readouts, forward and backward, in plain PyTorch operations on any device.

Both passes go by blocks of queries, so that memory grows with N + M; the backward pass recomputes each block, and lets
autograd differentiate it, by `torch.func.vjp`: inside a custom operator, autograd is off and `torch.enable_grad` has no
effect, but `torch.func`'s transforms work. (In a fresh thread autograd would be on, but that thread would start its own
team of OpenMP threads.) 16-bit types are computed in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from eyeline.readouts import PartialResult, Readout, chosen
from eyeline.readouts.merging import Merger
from eyeline.readouts.readout import Rows
from eyeline.torch.inputs import Inputs
from eyeline.torch.portable_block import Block, Place, attend, places
from eyeline.torch.request import Request


def computed_in(dtype: torch.dtype) -> torch.dtype:
    """The type of sums, lse and readouts for inputs of `dtype`."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def forward(q: Tensor, k: Tensor, v: Tensor, request: Request) -> list[Tensor]:
    """q (B, H, N, D), k (B, G, M, D), v (B, G, M, E) → output, lse, maxima in base 2, sums, the readouts' arrays."""
    _check(request)
    return _forward(q, k, v, request)


def _check(request: Request) -> None:
    """Check the readouts and the score modifiers against the call."""
    chosen(request.read, request.shape)
    for change in request.scores:
        change.check(request.shape)


def _forward(q: Tensor, k: Tensor, v: Tensor, request: Request) -> list[Tensor]:
    whole = Inputs(q, k, v, request.scores).to(computed_in(q.dtype))
    read = [Merger(readout) for readout in request.read]
    found: list[tuple[Tensor, ...]] = []
    for place in places(request, whole.q):
        block = attend(request, place, whole.cut(place.rows, place.keys))
        found.append((block.output, block.lse, block.maxima * math.log2(math.e), block.sums))
        if read:
            rows = _rows(block, request)
            for merger in read:
                merger.add(merger.readout.read(rows))
    output, *rest = (torch.cat(blocks, dim=2) for blocks in zip(*found, strict=True))
    return [output.to(q.dtype), *rest, *(x for merger in read for x in merger.whole().arrays)]


def backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    request: Request,
    results: Sequence[Tensor],
    gradients: Sequence[Tensor | None],
    needs: Sequence[bool],
) -> list[Tensor | None]:
    """The gradients of q, k, v and the request's parameters, None where not needed.

    Args:
        results, gradients: the results of `forward`, and their gradients, None where there is none.
        needs: which inputs need a gradient, in the order of the result.
    """
    dtype = computed_in(q.dtype)
    whole = Inputs(q, k, v, request.scores).to(dtype)
    total = whole.zeros()
    wanted = [at for at, need in enumerate(needs) if need]
    d_output, d_lse = gradients[:2]
    d_read = _given(request, results[4:], gradients[4:], whole)
    for place in places(request, whole.q):
        block, pull = _differentiable(request, place, whole.cut(place.rows, place.keys), wanted)
        d_weights = torch.zeros_like(block.weights)
        if d_read:
            rows = _rows(block, request)
            for readout, d, found in d_read:
                own = _of_counted(readout.coefficients(d.to(dtype), found, rows), place.rows, request)
                d_weights += own.expand(*own.shape[:-1], request.shape.keys)[..., place.keys]
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
    jvp: Callable[..., Any] = torch.func.jvp,
) -> list[Tensor]:
    """Forward mode: the tangents of the results of `forward`.

    Args:
        given, which: tangents of some of q, k, v and the request's parameters, and the indices of these.
        jvp: the transform, with the arguments of `torch.func.jvp`.
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


def _rows(block: Block, request: Request) -> Rows:
    """A block's weights as whole rows, including the keys that the block left out."""
    around = block.keys.start, request.shape.keys - block.keys.stop
    weights, visible = (
        torch.nn.functional.pad(x, around) if any(around) else x for x in (block.weights, ~block.hidden)
    )
    weights, visible = (_of_counted(x, block.rows, request) for x in (weights, visible))
    return Rows(weights, visible, block.rows.start, request.shape)


def _of_counted(x: Tensor, rows: slice, request: Request) -> Tensor:
    """A block's numbers, broadcasting to (B, H, n, M), with 0 for queries that don't count."""
    if request.counted is None:
        return x
    counted = torch.from_numpy(request.counted[:, None, rows, None]).to(x.device)
    return torch.where(counted, x, torch.zeros((), dtype=x.dtype, device=x.device))


def _given(
    request: Request, arrays: Sequence[Tensor], gradients: Sequence[Tensor | None], whole: Inputs
) -> list[tuple[Readout, Tensor, PartialResult]]:
    """The readouts that have gradients, with the gradients and the results."""
    found: list[tuple[Readout, Tensor, PartialResult]] = []
    for readout in request.read:
        count = readout.count_of_results
        d, own = gradients[count - 1], tuple(arrays[:count])
        if d is not None:
            found.append((readout, d, PartialResult(own, request.shape, 0, request.shape.queries)))
        arrays, gradients = arrays[count:], gradients[count:]
    again = {readout.name: Merger(readout) for readout, *_ in found if readout.needs_places}
    for place in places(request, whole.q) if again else ():
        rows = _rows(attend(request, place, whole.cut(place.rows, place.keys)), request)
        for merger in again.values():
            merger.add(merger.readout.read(rows))
    return [(readout, d, again[readout.name].whole() if readout.name in again else own) for readout, d, own in found]


def _differentiable(request: Request, place: Place, part: Inputs, wanted: list[int]) -> tuple[Block, Any]:
    """A block, and the function from gradients of its output, lse and weights to gradients of the `wanted` tensors."""
    tensors = part.tensors()

    def results(*some: Tensor) -> Any:
        given = list(tensors)
        for at, x in zip(wanted, some, strict=True):
            given[at] = x
        block = attend(request, place, part.like(given))
        return (block.output, block.lse, block.weights), (block.hidden, block.maxima, block.sums)

    differentiable: Any = torch.func.vjp
    found, pull, rest = differentiable(results, *(tensors[at] for at in wanted), has_aux=True)
    return Block(place.rows, place.keys, *found, *rest), pull
