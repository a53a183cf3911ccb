"""Attention as a custom PyTorch operator: with a schema, a fake implementation (shapes without data) and gradients, for
autograd, `torch.compile` and `torch.export`.

`eyeline::attend` returns output, lse, the rows' maxima and sums, and then the readouts' arrays. Its backward pass needs
only its inputs and results, and can't be differentiated again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from eyeline.torch import choose, portable_path
from eyeline.torch.portable_path import computed_in
from eyeline.torch.spec import decode
from eyeline.words import worded

RESULTS = 4


@torch.library.custom_op("eyeline::attend", mutates_args=())
def attend(
    q: Tensor, k: Tensor, v: Tensor, parameters: Sequence[Tensor], facts: Sequence[Tensor], spec: str
) -> list[Tensor]:
    """q (B, H, N, D), k (B, G, M, D), v (B, G, M, E), and the text that `spec.decode` turns into a `Request`."""
    return choose.forward(q, k, v, decode(spec, q, k, parameters, facts))


def once() -> NotImplementedError:
    """Make the error of a second differentiation."""
    return NotImplementedError(
        worded(
            "Eyeline's attention can be differentiated once, not twice; for second derivatives use "
            "torch.nn.functional.scaled_dot_product_attention with its math backend"
        )
    )


def _blank(
    q: Tensor, k: Tensor, v: Tensor, parameters: Sequence[Tensor], facts: Sequence[Tensor], spec: str
) -> list[Tensor]:
    """Tensors of the results' shapes."""
    B, H, N, _ = q.shape
    request = decode(spec, q, k, parameters, facts, sizes_only=True)
    dtype = computed_in(q.dtype)
    rows = [q.new_empty(B, H, N, dtype=dtype) for _ in range(RESULTS - 1)]
    kinds = {"weights": dtype, "keys": torch.int64, "booleans": torch.bool}
    read = [
        q.new_empty(B, H, *result.sizes, dtype=kinds[result.kind])
        for readout in request.read
        for result in readout.results(request.shape)
    ]
    return [q.new_empty(B, H, N, v.shape[3]), *rows, *read]


@attend.register_fake
def _(
    q: Tensor, k: Tensor, v: Tensor, parameters: Sequence[Tensor], facts: Sequence[Tensor], spec: str
) -> list[Tensor]:
    return _blank(q, k, v, parameters, facts, spec)


@torch.library.custom_op("eyeline::attend_backward", mutates_args=())
def attend_backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    parameters: Sequence[Tensor],
    facts: Sequence[Tensor],
    spec: str,
    results: Sequence[Tensor],
    gradients: Sequence[Tensor],
    which: Sequence[int],
    needs: Sequence[bool],
) -> list[Tensor]:
    """The gradients of q, k, v and the parameters, empty where `needs` is false; `gradients` belong to the results
    whose indices are in `which`."""
    request = decode(spec, q, k, parameters, facts)
    given: list[Tensor | None] = [None] * len(results)
    for number, gradient in zip(which, gradients, strict=True):
        given[number] = gradient
    found = choose.backward(q, k, v, request, results, given, needs)
    return [q.new_empty(0) if gradient is None else gradient for gradient in found]


@attend_backward.register_fake
def _(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    parameters: Sequence[Tensor],
    facts: Sequence[Tensor],
    spec: str,
    results: Sequence[Tensor],
    gradients: Sequence[Tensor],
    which: Sequence[int],
    needs: Sequence[bool],
) -> list[Tensor]:
    inputs = [q, k, v, *parameters]
    return [x.new_empty(x.shape) if need else q.new_empty(0) for x, need in zip(inputs, needs, strict=True)]


def _remember(ctx: Any, inputs: tuple[Any, ...], output: list[Tensor]) -> None:
    q, k, v, parameters, facts, ctx.spec = inputs
    ctx.counts = len(parameters), len(facts)
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(q, k, v, *parameters, *facts, *output)


def _differentiate(ctx: Any, gradients: Sequence[Tensor | None]) -> tuple[Any, ...]:
    parameters, facts = ctx.counts
    q, k, v, *rest = ctx.saved_tensors
    *needs, theirs, _, _ = ctx.needs_input_grad
    which = [number for number, gradient in enumerate(gradients) if gradient is not None]
    if not which:
        return None, None, None, [None] * parameters, [None] * facts, None
    wanted = [*needs, *theirs]
    found = attend_backward(
        q,
        k,
        v,
        rest[:parameters],
        rest[parameters : parameters + facts],
        ctx.spec,
        rest[parameters + facts :],
        [gradient for gradient in gradients if gradient is not None],
        which,
        wanted,
    )
    dq, dk, dv, *own = [gradient if need else None for gradient, need in zip(found, wanted, strict=True)]
    return dq, dk, dv, own, [None] * facts, None


@torch.library.custom_op("eyeline::attend_tangent", mutates_args=())
def attend_tangent(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    parameters: Sequence[Tensor],
    facts: Sequence[Tensor],
    spec: str,
    tangents: Sequence[Tensor],
    which: Sequence[int],
) -> list[Tensor]:
    """The tangents of the results; `tangents` belong to the inputs (q, k, v and the parameters) whose indices are in
    `which`. Results that are whole numbers or booleans have tangents of 0."""
    request = decode(spec, q, k, parameters, facts)
    return portable_path.tangents(q, k, v, request, tangents, which)


@attend_tangent.register_fake
def _(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    parameters: Sequence[Tensor],
    facts: Sequence[Tensor],
    spec: str,
    tangents: Sequence[Tensor],
    which: Sequence[int],
) -> list[Tensor]:
    return _blank(q, k, v, parameters, facts, spec)


def _refuse(ctx: Any, *_: Any) -> Any:
    raise once()


attend_backward.register_autograd(_refuse)
attend.register_autograd(_differentiate, setup_context=_remember)
