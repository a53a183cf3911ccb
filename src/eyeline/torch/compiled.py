"""The compiled kernels on CPU tensors, through NumPy arrays that share their memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eyeline.attention import plans
from eyeline.attention.call import Call
from eyeline.attention.observed import observed
from eyeline.kernels.primitive_gradients import PrimitiveGradients
from eyeline.kernels.run_backward import backward as kernel
from eyeline.masks import Mask
from eyeline.readouts import Readout
from eyeline.readouts.lowered import LoweredGradient
from eyeline.readouts.observation import Observation
from eyeline.scores import HiddenPairs, Scores, Sinks, WeightFactor
from eyeline.torch.request import Request


def kept(
    q: Tensor, k: Tensor, v: Tensor, mask: Mask | None, scale: float | None, tokens_first: bool = False
) -> Tensor | None:
    """The output of a call without score modifiers and dropout, if its plan is kept: then only the tensors' addresses
    have to be looked up. Arguments as for `output`."""
    if not _are_read_in_place(q, k, v):
        return None
    plan, keys = plans.find(_kind(q, k, v, mask, scale, (), tokens_first))
    if plan is None:
        return None
    if tokens_first:
        *lead, H, N, E = plan.result
        made = torch.empty((*lead, N, H, E), dtype=q.dtype)
        result = made.transpose(-2, -3)
    else:
        result = made = torch.empty(plan.result, dtype=q.dtype)
    plan.run(q.data_ptr(), k.data_ptr(), v.data_ptr(), made.data_ptr(), keys)
    return result


def output(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    scores: Scores = (),
    tokens_first: bool = False,
    **dropout: Any,
) -> Tensor:
    """The output alone, with q's leading axes; contiguous, or with `tokens_first` a view of memory of the order (B, N,
    H, E). `dropout` and `seed` are as for `Call`."""
    call = Call(
        *(_array(x) for x in (q, k, v)),
        mask=mask,
        scale=scale,
        scores=scores,
        checked=True,
        tokens_first=tokens_first,
        **dropout,
    )
    if call.is_kept and _are_read_in_place(q, k, v):
        plans.keep(_kind(q, k, v, mask, scale, scores, tokens_first), call.plan)
    result = torch.from_numpy(call.output())
    return result.view(torch.bfloat16) if q.dtype == torch.bfloat16 else result


def _are_read_in_place(q: Tensor, k: Tensor, v: Tensor) -> bool:
    """Whether the kernels read the memory of these tensors, not of copies with other strides."""
    return 2 <= q.ndim <= 4 and q.ndim == k.ndim == v.ndim and not (q.is_neg() or k.is_neg() or v.is_neg())


def _kind(q: Tensor, k: Tensor, v: Tensor, *options: Any) -> plans.Kind:
    """The kind of a call, by which its plan is kept: apart from those of arrays, by the tensors' types."""
    return plans.kind_of(q, k, v, (q.stride(), k.stride(), v.stride()), q.itemsize, *options)


def observation(
    q: Tensor, k: Tensor, v: Tensor, read: Readout | Sequence[Readout], counted: Tensor | None, **asked: Any
) -> tuple[Tensor, Observation]:
    """The output, and an observation in NumPy arrays of the queries that count; `asked` are the arguments of `Call`."""
    call = Call(*(_array(x) for x in (q, k, v)), **asked, checked=True)
    flags = None if counted is None else np.ascontiguousarray(counted.numpy())
    seen = observed(call, read, flags)[0]
    output = torch.from_numpy(seen.output)
    return output.view(torch.bfloat16) if q.dtype == torch.bfloat16 else output, seen


def on_tensors(output: Tensor, seen: Observation) -> Observation:
    """An observation in tensors, with this output."""
    made = seen.map(lambda x: torch.from_numpy(np.require(x, requirements=["C", "W"])))
    found: Any = output
    return replace(made, output=found)


def forward(q: Tensor, k: Tensor, v: Tensor, request: Request) -> list[Tensor]:
    """Output, lse, maxima in base 2, sums, then the readouts' arrays, as `portable_path.forward`."""
    seen, done = observed(_call(q, k, v, request), request.read, request.counted)
    read = [array for found in seen.results for array in found.arrays]
    found = [seen.output, seen.lse, done.maxima, done.sums, *read]
    B, H = q.shape[:2]
    axes = len(request.shape.lead) + 1
    output, *rest = (torch.from_numpy(np.ascontiguousarray(x)) for x in found)
    if q.dtype == torch.bfloat16:
        output = output.view(torch.bfloat16)
    return [x if x.shape[:2] == (B, H) else x.reshape(B, H, *x.shape[axes:]) for x in (output, *rest)]


def differentiates(request: Request, read: Sequence[Tensor], d_read: Sequence[Tensor | None]) -> bool:
    """Whether one backward pass of the kernels can take the gradients of all readouts that have one."""
    if request.counted is not None and any(d is not None for d in d_read):
        return False
    return _of_primitives(request, read, d_read) is not None


def backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    request: Request,
    results: Sequence[Tensor],
    gradients: Sequence[Tensor | None],
    needs: Sequence[bool],
) -> list[Tensor | None]:
    """The gradients of q, k, v and the request's parameters, None where not needed, as `portable_path.backward`.

    16-bit types are computed in float32.
    """
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    output, lse, maxima, sums = (_array(x.to(wide)) for x in results[:4])
    d_output, d_lse = (None if d is None else _array(d.to(wide)) for d in gradients[:2])
    of_read = _of_primitives(request, results[4:], [None if d is None else d.to(wide) for d in gradients[4:]])
    given = {"d_lse": d_lse, **(of_read.given() if of_read else {})}
    primitives = PrimitiveGradients(**given) if any(x is not None for x in given.values()) else None
    call = _call(q.to(wide), k.to(wide), v.to(wide), request)
    apart = (Sinks, HiddenPairs, WeightFactor)
    steps = [score for score in request.scores if not isinstance(score, apart)]
    factors = [score for score in request.scores if isinstance(score, WeightFactor)]
    needed = list(needs[3:])
    wanted = [bool(score.parameters()) and needed.pop(0) for score in steps]
    sinks = call.spec.scores.sinks
    needed = needed[sinks is not None :]
    wanted_factors = [bool(score.parameters()) and needed.pop(0) for score in factors]
    found = kernel(
        call.q,
        call.k,
        call.v,
        call.spec,
        output,
        maxima,
        sums,
        np.broadcast_to(output.dtype.type(0), output.shape) if d_output is None else d_output,
        primitives,
        wanted,
        wanted_factors,
    )
    own: list[Any] = []
    for score, gradient in zip(steps, found.steps, strict=True):
        pulled = {} if gradient is None else score.pull_back(gradient, request.shape)
        own += [pulled.get(name) for name in score.parameters()]
    if sinks is not None:
        # In a row without a visible key, the sink has all the weight: its sum is exactly 1, and its delta stays 0.
        alone = (sums == 1) & (found.delta == 0)
        share = np.where(alone, 1, np.exp(sinks[None, :, None] - np.where(sums == 0, 0, lse)))  # a sink may be -inf
        totals = np.where(alone, 0 if d_lse is None else -d_lse, found.delta)
        own.append(-(share * totals).sum(axis=(0, 2)))
    for factor, gradient in zip(factors, found.factors, strict=True):
        pulled = {} if gradient is None else factor.pull_back(gradient, request.shape)
        own += [pulled.get(name) for name in factor.parameters()]
    inputs = [q, k, v, *request.parameters()]
    return [
        torch.from_numpy(np.ascontiguousarray(gradient)).to(x) if need and gradient is not None else None
        for gradient, x, need in zip([found.dq, found.dk, found.dv, *own], inputs, needs, strict=True)
    ]


def _of_primitives(request: Request, read: Sequence[Tensor], d_read: Sequence[Tensor | None]) -> LoweredGradient | None:
    """The readouts' gradients as gradients in primitives; None if one backward pass of the kernels can't take them."""
    all_of_them: LoweredGradient | None = LoweredGradient()
    for readout in request.read:
        count = readout.count_of_results
        arrays, d, read, d_read = read[:count], d_read[count - 1], read[count:], d_read[count:]
        if d is not None and all_of_them is not None:
            own = readout.lower_gradient(_array(d), tuple(_array(x) for x in arrays), request.shape)
            all_of_them = None if own is None else all_of_them.joined(own)
    return all_of_them


def _call(q: Tensor, k: Tensor, v: Tensor, request: Request) -> Call:
    """The call on NumPy arrays that share the tensors' memory."""
    lead = request.shape.lead
    return Call(
        *(_array(x if len(lead) == 1 else x.reshape(*lead, *x.shape[1:])) for x in (q, k, v)),
        mask=request.mask,
        scale=request.scale,
        scores=request.scores,
        dropout=request.dropout,
        seed=request.seed % 2**64 if request.dropout else None,
        checked=True,
    )


def _array(x: Tensor) -> Any:
    x = x.detach().resolve_neg()  # of the imaginary part of a conjugate
    # NumPy has no bfloat16, so its bits are passed.
    return x.view(torch.uint16).numpy() if x.dtype == torch.bfloat16 else x.numpy()
