"""Attention and everything read of it, forward and backward, in plain PyTorch operations on any device.

Both passes go by blocks of queries, so that memory grows with N + M; the backward pass computes each block's weights
again. Half types are computed in float32.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from eyeline.readouts import chosen
from eyeline.torch.block import Block, Blocks, base_two
from eyeline.torch.products import against, gathered, spread
from eyeline.torch.reading import readings, with_gradients
from eyeline.torch.request import Request


def computed_in(dtype: torch.dtype) -> torch.dtype:
    """The type of sums, lse and readouts for inputs of `dtype`."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def forward(q: Tensor, k: Tensor, v: Tensor, request: Request) -> list[Tensor]:
    """q (B, H, N, D), k (B, G, M, D), v (B, G, M, E) → output, lse, maxima in base 2, sums, then all that is read."""
    B, H, N, _ = q.shape
    dtype = computed_in(q.dtype)
    output = q.new_empty(B, H, N, v.shape[3])
    lse, maxima, sums = (q.new_empty(B, H, N, dtype=dtype) for _ in range(3))
    chosen(request.read, request.problem)  # checks that they fit
    read = readings(request, dtype, q.device)
    values = v.to(dtype)
    for block in Blocks(q.to(dtype), k.to(dtype), request):
        output[:, :, block.rows] = gathered(block.dropped(), values[:, :, block.keys])
        lse[:, :, block.rows] = block.lse
        maxima[:, :, block.rows] = base_two(block.tops)
        sums[:, :, block.rows] = block.sums
        for reading in read:
            reading.add(block)
    return [output, lse, maxima, sums, *(x for reading in read for x in reading.results())]


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
    """The gradients of q, k, v, of each step's numbers and of the sinks, None where not needed.

    Args:
        d_output, d_lse, d_read: the gradients of what `forward` gave, None where there is none.
        needs: of which inputs to compute the gradient, in the order of the answer.
    """
    dtype = computed_in(q.dtype)
    Q, K, V = q.to(dtype), k.to(dtype), v.to(dtype)
    dq, dk, dv = (torch.zeros_like(x) if need else None for x, need in zip((Q, K, V), needs[:3], strict=True))
    blocks = Blocks(Q, K, request)
    d_sinks = torch.zeros(q.shape[1], dtype=dtype, device=q.device)
    read = with_gradients(readings(request, dtype, q.device), d_read)
    looking = [reading for reading in read if reading.looks_first]
    for block in blocks if looking else ():
        for reading in looking:
            reading.add(block)
    for block in blocks:
        d_weights = torch.zeros_like(block.weights)
        if d_output is not None:
            d = d_output[:, :, block.rows].to(dtype)
            if dv is not None:
                dv[:, :, block.keys] += spread(block.dropped(), d, v.shape[1])
            d_weights = against(d, V[:, :, block.keys])
            if block.factors is not None:
                d_weights = torch.where(block.factors == 0, 0.0, d_weights * block.factors)
        for reading in read if d_weights.numel() else ():
            reading.pull(block, d_weights)
        d_lse_here = None if d_lse is None else d_lse[:, :, block.rows].to(dtype)
        d_scores = _softmax(block, d_weights, d_lse_here, d_sinks)
        for step, before in reversed(list(zip(blocks.steps, block.before, strict=True))):
            d_scores = step.pull(d_scores, before, block.rows, block.keys)
        d_scores = d_scores * request.scale
        if dq is not None:
            dq[:, :, block.rows] = gathered(d_scores, K[:, :, block.keys])
        if dk is not None:
            dk[:, :, block.keys] += spread(d_scores, Q[:, :, block.rows], k.shape[1])
    own = [gradient for step in blocks.steps for gradient in step.gradients()]
    own += [] if blocks.sinks is None else [d_sinks]
    inputs = [q, k, v, *request.parameters()]
    found = [dq, dk, dv, *own]
    return [
        gradient.to(x) if need and gradient is not None else None
        for gradient, x, need in zip(found, inputs, needs, strict=True)
    ]


def _softmax(block: Block, d_weights: Tensor, d_lse: Tensor | None, d_sinks: Tensor) -> Tensor:
    """The gradient of the scores, from those of the weights and of lse; what has no weight has none."""
    nothing = block.weights == 0
    d_weights = d_weights.masked_fill_(nothing, 0.0)
    along = -(block.weights * d_weights).sum(dim=3)
    if d_lse is not None:
        along = along + d_lse
    if block.sinks is not None:
        d_sinks += (block.sinks * along).masked_fill(block.sinks == 0, 0.0).sum(dim=(0, 2))
    return (block.weights * (d_weights + along[..., None])).masked_fill_(nothing, 0.0)
