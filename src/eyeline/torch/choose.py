"""Who computes: the compiled kernels for tensors on the CPU, PyTorch's own operations for those elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eyeline.call import Call
from eyeline.readouts import Received, TopK
from eyeline.torch import passes
from eyeline.torch.request import Request

_portable = False


def wants_portable() -> bool:
    """Whether this is within `portable`."""
    return _portable


@contextmanager
def portable() -> Iterator[None]:
    """Within it, CPU tensors are computed as those of any device are, by PyTorch's own operations, not by kernels.

    It holds for the whole process: it is there for tests and comparisons.

    >>> import torch
    >>> import eyeline.torch as et
    >>> x = torch.eye(2)
    >>> with et.portable():
    ...     et.attention(x, x, x, scale=1.0)
    tensor([[0.7311, 0.2689],
            [0.2689, 0.7311]])
    """
    global _portable
    before, _portable = _portable, True
    try:
        yield
    finally:
        _portable = before


def forward(q: Tensor, k: Tensor, v: Tensor, request: Request) -> list[Tensor]:
    """Output, lse, maxima in base 2, sums, then all that is read, as `passes.forward`."""
    if request.portable or q.device.type != "cpu":
        return passes.forward(q, k, v, request)
    seen, done = _call(q, k, v, request).look(request.read)
    found: list[Any] = [seen.output, seen.lse, done.maxima, done.sums]
    for readout in request.read:
        if isinstance(readout, TopK):
            assert seen.top_k is not None
            found += [seen.top_k.keys, seen.top_k.weights]
            continue
        if isinstance(readout, Received) and readout.reduce == "mean":
            found.append(seen.looking)
        found.append(getattr(seen, type(readout).__name__.lower()))
    B, H = q.shape[:2]
    axes = len(request.problem.lead) + 1
    output, *rest = (torch.from_numpy(np.ascontiguousarray(x)) for x in found)
    if q.dtype == torch.bfloat16:
        output = output.view(torch.bfloat16)
    return [x if x.shape[:2] == (B, H) else x.reshape(B, H, *x.shape[axes:]) for x in (output, *rest)]


def backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    request: Request,
    results: Sequence[Tensor],
    gradients: Sequence[Tensor | None],
    needs: Sequence[bool],
) -> list[Tensor | None]:
    """The gradients of q, k, v and the request's parameters, None where not needed, as `passes.backward`."""
    d_output, d_lse, _, _, *d_read = gradients
    return passes.backward(q, k, v, request, d_output, d_lse, d_read, needs)


def _call(q: Tensor, k: Tensor, v: Tensor, request: Request) -> Call:
    """The call on NumPy arrays that share the tensors' memory."""
    lead = request.problem.lead
    arrays = (_array(x if len(lead) == 1 else x.reshape(*lead, *x.shape[1:])) for x in (q, k, v))
    return Call(
        *arrays,
        mask=request.mask,
        scale=request.scale,
        scores=request.scores,
        dropout=request.dropout,
        seed=request.seed % 2**64 if request.dropout else None,
        checked=True,
    )


def _array(x: Tensor) -> Any:
    x = x.detach()
    # NumPy has no bfloat16: its bits.
    return x.view(torch.uint16).numpy() if x.dtype == torch.bfloat16 else x.numpy()
