"""The compiled kernels on CPU tensors, whose memory NumPy arrays share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eyeline.attention.call import Call
from eyeline.kernels.primitive_gradients import PrimitiveGradients
from eyeline.kernels.run_backward import backward as kernel
from eyeline.readouts import Entropy, GroupMass, MeanDistance, Pooled, Readout, Received, TopK, Weights
from eyeline.scores import Sinks
from eyeline.torch.request import Request


def output(q: Tensor, k: Tensor, v: Tensor, **asked: Any) -> Tensor:
    """The output alone, with q's leading axes; `asked` is what `Call` takes."""
    result = torch.from_numpy(Call(*(_array(x) for x in (q, k, v)), **asked, checked=True).output())
    return result.view(torch.bfloat16) if q.dtype == torch.bfloat16 else result


def forward(q: Tensor, k: Tensor, v: Tensor, request: Request) -> list[Tensor]:
    """Output, lse, maxima in base 2, sums, then all that is read, as `passes.forward`."""
    seen, done = _call(q, k, v, request).look(request.read)
    found: list[Any] = [seen.output, seen.lse, done.maxima, done.sums]
    for readout in request.read:
        if isinstance(readout, TopK):
            assert seen.top_k is not None
            found += [seen.top_k.keys, seen.top_k.weights]
            continue
        if isinstance(readout, Received) and readout.reduce == "mean":
            found.append(seen.looking)
        found.append(getattr(seen, readout.name))
    B, H = q.shape[:2]
    axes = len(request.problem.lead) + 1
    output, *rest = (torch.from_numpy(np.ascontiguousarray(x)) for x in found)
    if q.dtype == torch.bfloat16:
        output = output.view(torch.bfloat16)
    return [x if x.shape[:2] == (B, H) else x.reshape(B, H, *x.shape[axes:]) for x in (output, *rest)]


def differentiates(request: Request, d_read: Sequence[Tensor | None]) -> bool:
    """Whether the kernels have the gradients of all that was read and has one."""
    return not any(
        isinstance(readout, Pooled) or (isinstance(readout, Received) and readout.reduce == "max")
        for readout, d in zip(request.read, _last(request.read, d_read), strict=True)
        if d is not None
    )


def backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    request: Request,
    results: Sequence[Tensor],
    gradients: Sequence[Tensor | None],
    needs: Sequence[bool],
) -> list[Tensor | None]:
    """The gradients of q, k, v and the request's parameters, None where not needed, as `passes.backward`.

    Halves are computed in float32.
    """
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    output, lse, maxima, sums = (_array(x.to(wide)) for x in results[:4])
    d_output, d_lse, _, _, *d_read = (None if d is None else _array(d.to(wide)) for d in gradients)
    call = _call(q.to(wide), k.to(wide), v.to(wide), request)
    steps = [score for score in request.scores if not isinstance(score, Sinks)]
    needed = list(needs[3:])
    wanted = [bool(score.parameters()) and needed.pop(0) for score in steps]
    found = kernel(
        call.q,
        call.k,
        call.v,
        call.setting,
        output,
        maxima,
        sums,
        np.broadcast_to(output.dtype.type(0), output.shape) if d_output is None else d_output,
        _primitive_gradients(request, results[4:], d_lse, d_read),
        wanted,
    )
    own: list[Any] = []
    for score, gradient in zip(steps, found.steps, strict=True):
        pulled = {} if gradient is None else score.pull_back(gradient, request.problem)
        own += [pulled.get(name) for name in score.parameters()]
    sinks = call.setting.scores.sinks
    if sinks is not None:
        # A row that sees no key has the sink's weight alone, exactly 1, and the kernel leaves its total at 0.
        alone = (sums == 1) & (found.delta == 0)
        share = np.where(alone, 1, np.exp(sinks[None, :, None] - lse))
        totals = np.where(alone, 0 if d_lse is None else -d_lse, found.delta)
        own.append(-(share * totals).sum(axis=(0, 2)))
    inputs = [q, k, v, *request.parameters()]
    return [
        torch.from_numpy(np.ascontiguousarray(gradient)).to(x) if need and gradient is not None else None
        for gradient, x, need in zip([found.dq, found.dk, found.dv, *own], inputs, needs, strict=True)
    ]


def _primitive_gradients(
    request: Request, results: Sequence[Tensor], d_lse: Any, d_read: Sequence[Any]
) -> PrimitiveGradients | None:
    """The gradients of what was read, as the kernels take them."""
    problem = request.problem
    fields: dict[str, Any] = {"d_lse": d_lse}
    of_all = zip(request.read, _last(request.read, d_read), _firsts(request.read, results), strict=True)
    for readout, d, first in of_all:
        if d is None:
            continue
        match readout:
            case Entropy():
                fields |= {"d_row_log_weights": -d, "row_log_weights": -_array(first)}
            case Received(reduce="mean"):
                lookers = np.maximum(_array(first).sum(axis=2), 1)[..., None]
                fields["d_column_sums"] = d / lookers
            case Received():
                fields["d_column_sums"] = d
            case MeanDistance():
                fields |= {"d_row_distances": d, "row_distances": int(readout.positions(problem)[0])}
            case GroupMass():
                fields |= {"d_row_bins": d, "row_bins": np.ascontiguousarray(readout.labels(problem))}
            case Weights():
                rows, columns = readout.rows(problem.queries), readout.columns(problem.keys)
                fields |= {"d_rectangle": d, "rows": rows, "columns": columns}
            case TopK():
                fields |= {"d_selected": d, "selected_keys": _array(first)}
    return PrimitiveGradients(**fields) if any(value is not None for value in fields.values()) else None


def _counts(read: Sequence[Readout]) -> list[int]:
    """How many results each readout has: the last has the gradient."""
    return [2 if isinstance(one, TopK) or (isinstance(one, Received) and one.reduce == "mean") else 1 for one in read]


def _firsts(read: Sequence[Readout], results: Sequence[Any]) -> list[Any]:
    counts = _counts(read)
    return [results[sum(counts[:at])] for at in range(len(counts))]


def _last(read: Sequence[Readout], results: Sequence[Any]) -> list[Any]:
    counts = _counts(read)
    return [results[sum(counts[: at + 1]) - 1] for at in range(len(counts))]


def _call(q: Tensor, k: Tensor, v: Tensor, request: Request) -> Call:
    """The call on NumPy arrays that share the tensors' memory."""
    lead = request.problem.lead
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
    x = x.detach()
    # NumPy has no bfloat16: its bits.
    return x.view(torch.uint16).numpy() if x.dtype == torch.bfloat16 else x.numpy()
