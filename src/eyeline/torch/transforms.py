"""The operator within `torch.func`'s transforms and in forward mode: `grad`, `vjp`, `jacrev`, `jvp`, `jacfwd`, `vmap`.

PyTorch's custom operators support only a backward pass, and silently drop tangents. Within a transform, a
`torch.autograd.Function` therefore wraps the operator. `vmap` goes element by element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor, peek_interpreter_stack
from torch.autograd import forward_ad
from torch.utils._python_dispatch import is_in_torch_dispatch_mode

from eyeline.torch import portable_path
from eyeline.torch.operator import RESULTS, attend, attend_backward, attend_tangent, once
from eyeline.torch.products import applied
from eyeline.torch.spec import decode
from eyeline.words import worded

#: Excludes a function, and everything it calls, from torch.compile, which can't trace the autograd functions here.
_uncompiled: Any = torch.compiler.disable


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def is_within_transform() -> bool:
    """Whether a transform of `torch.func` or forward mode is active."""
    return bool(forward_ad._current_level >= 0) or peek_interpreter_stack() is not None


@_uncompiled  # type: ignore[untyped-decorator]
def attended(
    q: Tensor, k: Tensor, v: Tensor, parameters: Sequence[Tensor], facts: Sequence[Tensor], spec: str
) -> list[Tensor]:
    """The operator's results, differentiable in every transform."""
    return list(applied(_Attend, spec, len(parameters), q, k, v, *parameters, *facts))


def _are_wrapped(tensors: Sequence[Tensor]) -> bool:
    return any(is_functorch_wrapped_tensor(x) for x in tensors)


def _split(tensors: Sequence[Tensor], count: int) -> tuple[Any, ...]:
    """q, k, v, the parameters and the facts."""
    q, k, v, *rest = tensors
    return q, k, v, rest[:count], rest[count:]


def _has_derivatives(at: int, result: Tensor) -> bool:
    """Whether the result of this index is differentiable: not maxima and sums, for the backward pass, nor keys."""
    return result.is_floating_point() and at not in range(2, RESULTS)


def _each(function: Any, info: Any, in_dims: Sequence[int | None], given: Sequence[Any]) -> tuple[Any, Any]:
    """A function's results for each element of a batch, stacked."""
    found = [
        applied(
            function, *(x.select(dim, at) if isinstance(dim, int) else x for x, dim in zip(given, in_dims, strict=True))
        )
        for at in range(info.batch_size)
    ]
    return tuple(torch.stack(some) for some in zip(*found, strict=True)), 0


class _Attend(torch.autograd.Function):
    """(spec, the number of parameters, q, k, v, parameters, facts) → the operator's results."""

    @staticmethod
    def forward(spec: str, count: int, *tensors: Tensor) -> tuple[Tensor, ...]:
        if _are_wrapped(tensors):  # in another transform around this one
            return tuple(applied(_Attend, spec, count, *tensors))
        return tuple(attend(*_split(tensors, count), spec))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.spec, ctx.count, *tensors = inputs
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*(x for at, x in enumerate(output) if not _has_derivatives(at, x)))
        ctx.inputs = len(tensors)
        ctx.save_for_backward(*tensors, *output)
        ctx.save_for_forward(*tensors)

    @staticmethod
    @_uncompiled  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Any, ...]:
        tensors, results = ctx.saved_tensors[: ctx.inputs], ctx.saved_tensors[ctx.inputs :]
        given = [(at, d) for at, d in enumerate(gradients) if d is not None]
        needs = list(ctx.needs_input_grad[2 : 2 + 3 + ctx.count])
        facts = ctx.inputs - 3 - ctx.count
        if not given:
            return tuple([None] * (2 + ctx.inputs))
        settings = ctx.spec, ctx.count, ctx.inputs, tuple(at for at, _ in given), tuple(needs)
        found = applied(_AttendBackward, *settings, *tensors, *results, *(d for _, d in given))
        own = [d if need else None for d, need in zip(found, needs, strict=True)]
        return None, None, *own, *[None] * facts

    @staticmethod
    def jvp(ctx: Any, _: None, __: None, *tangents: Tensor | None) -> tuple[Tensor | None, ...]:
        tensors = ctx.saved_tensors[: ctx.inputs]
        given = [(at, t) for at, t in enumerate(tangents[: 3 + ctx.count]) if t is not None]
        if not _are_wrapped((*tensors, *(t for _, t in given))):
            found = _tangents(ctx.spec, _split(tensors, ctx.count), given)
            return tuple(x if _has_derivatives(at, x) else None for at, x in enumerate(found))
        settings = ctx.spec, ctx.count, ctx.inputs, tuple(at for at, _ in given)
        found = applied(_AttendTangent, *settings, *tensors, *(t for _, t in given))
        return tuple(x if _has_derivatives(at, x) else None for at, x in enumerate(found))

    @staticmethod
    def vmap(info: Any, in_dims: Any, *given: Any) -> tuple[Any, Any]:
        return _each(_Attend, info, in_dims, given)


def _tangents(spec: str, tensors: tuple[Any, ...], given: Sequence[tuple[int, Tensor]]) -> list[Tensor]:
    """The tangents of the results in `torch.autograd.forward_ad`, which has a single level."""
    if is_in_torch_dispatch_mode():
        raise NotImplementedError(
            worded(
                "Eyeline's attention can't be traced in forward mode, as torch.func.linearize does; use torch.func.jvp"
            )
        )
    q, k, v, parameters, facts = tensors
    request = decode(spec, q, k, parameters, facts)
    with forward_ad._set_fwd_grad_enabled(True):
        return portable_path.tangents(q, k, v, request, [t for _, t in given], [at for at, _ in given], dual)


def dual(function: Callable[..., tuple[Tensor, ...]], primals: Any, tangents: Any) -> tuple[Any, Any]:
    """As `torch.func.jvp`, at the active level of forward mode."""
    levels: Any = forward_ad
    duals = [levels.make_dual(x.detach(), t) for x, t in zip(primals, tangents, strict=True)]
    found = [levels.unpack_dual(x) for x in function(*duals)]
    return [x.primal for x in found], [torch.zeros_like(x.primal) if x.tangent is None else x.tangent for x in found]


class _Once(torch.autograd.Function):
    """A function that can't be differentiated again."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Saves nothing."""

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise once()

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise once()


class _AttendBackward(_Once):
    """(spec, number of parameters and of inputs, which results have gradients, which inputs need them, inputs, results,
    gradients) → the gradients of q, k, v and the parameters, empty where not needed."""

    @staticmethod
    def forward(
        spec: str, count: int, inputs: int, which: tuple[int, ...], needs: tuple[bool, ...], *tensors: Tensor
    ) -> tuple[Tensor, ...]:
        if _are_wrapped(tensors):
            return tuple(applied(_AttendBackward, spec, count, inputs, which, needs, *tensors))
        results = tensors[inputs : len(tensors) - len(which)]
        gradients = tensors[len(tensors) - len(which) :]
        of = _split(tensors[:inputs], count)
        return tuple(attend_backward(*of, spec, list(results), list(gradients), list(which), list(needs)))

    @staticmethod
    def vmap(info: Any, in_dims: Any, *given: Any) -> tuple[Any, Any]:
        return _each(_AttendBackward, info, in_dims, given)


class _AttendTangent(_Once):
    """(spec, number of parameters and of inputs, which of these have tangents, inputs, tangents) → the tangents of the
    results."""

    @staticmethod
    def forward(spec: str, count: int, inputs: int, which: tuple[int, ...], *tensors: Tensor) -> tuple[Tensor, ...]:
        if _are_wrapped(tensors):
            return tuple(applied(_AttendTangent, spec, count, inputs, which, *tensors))
        of = _split(tensors[:inputs], count)
        return tuple(attend_tangent(*of, spec, list(tensors[inputs:]), list(which)))

    @staticmethod
    def vmap(info: Any, in_dims: Any, *given: Any) -> tuple[Any, Any]:
        return _each(_AttendTangent, info, in_dims, given)
