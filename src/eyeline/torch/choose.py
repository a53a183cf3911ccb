"""The choice of implementation: compiled kernels for CPU tensors, PyTorch's own operations for others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.autograd import forward_ad
from torch.compiler import is_compiling
from torch.utils._python_dispatch import is_in_torch_dispatch_mode

from eyeline.scores import Score
from eyeline.torch import compiled, portable_path
from eyeline.torch.request import Request

_PLAIN = (Tensor, torch.nn.Parameter)
_tracing_state = torch._C._get_tracing_state
_portable: bool | int = False


def wants_portable() -> bool | int:
    """Whether `portable` is active; its `at_a_time` if that was given."""
    return _portable


@contextmanager
def portable(at_a_time: int | None = None) -> Iterator[None]:
    """A context in which CPU tensors are computed with PyTorch's own operations, as on any device, not by the kernels.

    It applies to the whole process, and is meant for tests and comparisons.

    Args:
        at_a_time: the number of scores to hold at a time, at least one query's; depends on the device if not given.

    >>> import torch
    >>> import eyeline.torch as et
    >>> x = torch.eye(2)
    >>> with et.portable():
    ...     et.attention(x, x, x, scale=1.0)
    tensor([[0.7311, 0.2689],
            [0.2689, 0.7311]])
    """
    global _portable
    before, _portable = _portable, True if at_a_time is None else int(at_a_time)
    try:
        yield
    finally:
        _portable = before


def is_plain(q: Tensor, k: Tensor, v: Tensor, scores: Sequence[Score]) -> bool:
    """Whether these are CPU tensors without gradients or tracing, so that the NumPy call will do."""
    if (
        is_compiling()
        or _portable is not False
        or forward_ad._current_level >= 0
        or is_in_torch_dispatch_mode()
        or _tracing_state()
    ):
        return False
    wanted, tensors = torch.is_grad_enabled(), [q, k, v]
    for score in scores:
        tensors += [x for x in score.parameters().values() if isinstance(x, Tensor)]
    for x in tensors:
        if type(x) not in _PLAIN or not x.is_cpu or (wanted and x.requires_grad) or is_functorch_wrapped_tensor(x):
            return False
    return True


def forward(q: Tensor, k: Tensor, v: Tensor, request: Request) -> list[Tensor]:
    """Output, lse, maxima in base 2, sums, then the readouts' arrays."""
    if _has_kernels(q, request):
        return compiled.forward(q, k, v, request)
    return portable_path.forward(q, k, v, request)


def backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    request: Request,
    results: Sequence[Tensor],
    gradients: Sequence[Tensor | None],
    needs: Sequence[bool],
) -> list[Tensor | None]:
    """The gradients of q, k, v and the request's parameters, None where not needed."""
    if _has_kernels(q, request) and compiled.differentiates(request, results[4:], gradients[4:]):
        return compiled.backward(q, k, v, request, results, gradients, needs)
    return portable_path.backward(q, k, v, request, results, gradients, needs)


def _has_kernels(q: Tensor, request: Request) -> bool:
    return q.device.type == "cpu" and not request.portable
