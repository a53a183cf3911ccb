"""Who computes: the kernels where there are any for what is asked, else PyTorch's own operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from torch import Tensor

from eyeline.torch import passes
from eyeline.torch.request import Request

_portable = False


def wants_portable() -> bool:
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
    return passes.forward(q, k, v, request)


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
