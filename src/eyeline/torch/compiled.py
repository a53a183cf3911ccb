"""Tensors on the CPU through the compiled kernels: NumPy arrays that share their memory go in, and come out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eyeline import readouts
from eyeline.call import Call
from eyeline.kernels.read_gradients import ReadGradients
from eyeline.kernels.reads import bins
from eyeline.kernels.run_backward import Gradients
from eyeline.kernels.run_backward import backward as run_backward
from eyeline.masks import Problem
from eyeline.scores import Sinks
from eyeline.torch.request import Request

Array = NDArray[Any]


def forward(q: Tensor, k: Tensor, v: Tensor, request: Request) -> list[Tensor]:
    """Output, lse, maxima in base 2, sums, then all that is read, as `passes.forward`."""
    seen, done = _call(q, k, v, request).look(request.read)
    found: list[Any] = [seen.output, seen.lse, done.maxima, done.sums]
    for readout in request.read:
        if isinstance(readout, readouts.TopK):
            assert seen.top_k is not None
            found += [seen.top_k.keys, seen.top_k.weights]
            continue
        if isinstance(readout, readouts.Received) and readout.reduce == "mean":
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
) -> list[Tensor | None] | None:
    """The gradients of q, k, v and the request's parameters, None where not needed, as `passes.backward`; or nothing at
    all where there is no kernel for what was read: maxima, and a picture beside `Onto`."""
    output, _, maxima, sums, *read = results
    d_output, d_lse, _, _, *d_read = gradients
    reads = _read_gradients(request, read, d_lse, d_read)
    if reads is None:
        return None
    setting = _call(q, k, v, request).setting
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    Q, K, V, out = (_array(x.to(wide)) for x in (q, k, v, output))
    d_out = np.broadcast_to(np.zeros((), Q.dtype), out.shape) if d_output is None else _array(d_output.to(wide))
    at = 3
    wanted = []
    for score in request.scores:
        count = len(score.parameters())
        if not isinstance(score, Sinks):
            wanted.append(any(needs[at : at + count]))
        at += count
    done = run_backward(Q, K, V, setting, out, _array(maxima), _array(sums), d_out, reads, wanted)
    found: list[Array | None] = [
        done.dq,
        done.dk,
        done.dv,
        *_of_parameters(request, done, _array(maxima), _array(sums)),
    ]
    inputs = [q, k, v, *request.parameters()]
    return [
        torch.from_numpy(np.ascontiguousarray(gradient)).to(x.dtype) if need and gradient is not None else None
        for gradient, x, need in zip(found, inputs, needs, strict=True)
    ]


def _of_parameters(request: Request, done: Gradients, maxima: Array, sums: Array) -> list[Array | None]:
    """The gradients of the scores' own numbers, in their order."""
    found: list[Array | None] = []
    steps = iter(done.steps)
    for score in request.scores:
        if isinstance(score, Sinks):
            logits = np.asarray(score.logits.detach(), np.float64)[None, :, None]
            with np.errstate(invalid="ignore"):
                share = np.where(sums == 0, 0.0, np.exp2(logits * math.log2(math.e) - maxima) / sums)
            found.append(-(share * done.totals).sum(axis=(0, 2)))
            continue
        gradient = next(steps)
        names = score.parameters()
        if gradient is None:
            found += [None] * len(names)
        else:
            pulled = score.pull_back(gradient, request.problem)
            found += [np.asarray(pulled[name]) for name in names]
    return found


def _read_gradients(
    request: Request, read: Sequence[Tensor], d_lse: Tensor | None, d_read: Sequence[Tensor | None]
) -> ReadGradients | None:
    """What the gradients in the results say of the weights; None where the kernel can't be told."""
    fields: dict[str, Any] = {}
    problem = request.problem
    if d_lse is not None:
        fields["lse"] = _array(d_lse)
    at = 0
    for readout in request.read:
        match readout:
            case readouts.TopK() | readouts.Received(reduce="mean"):
                before, at = _array(read[at]), at + 1
        values, gradient = _array(read[at]), d_read[at]
        at += 1
        if gradient is None:
            continue
        d = np.ascontiguousarray(_array(gradient))
        match readout:
            case readouts.TopK():
                fields |= {"top": d, "top_keys": before}
            case readouts.Entropy():
                fields |= {"entropy": d, "entropy_values": values}
            case readouts.Received(reduce="sum"):
                fields["received"] = d
            case readouts.Received(reduce="mean"):
                looking = before.reshape(*problem.shape[:3]).sum(axis=2)
                fields["received"] = (d / np.maximum(looking, 1)[..., None]).astype(d.dtype)
            case readouts.Distance():
                standing = readout.positions(problem)
                fields |= {"distance": d, "offset": int(standing[0]) if len(standing) else 0}
            case readouts.Onto() if "onto" not in fields:
                fields |= {"onto": d, "labels": np.ascontiguousarray(readout.labels(problem), np.int32)}
            case readouts.Pooled(reduce="mean") if "onto" not in fields:
                fields |= _of_picture(readout, d, problem)
            case readouts.Weights():
                rows, columns = readout.rows(problem.queries), readout.columns(problem.keys)
                fields |= {"weights": d, "rows": rows, "columns": columns}
            case _:
                return None
    return ReadGradients(**fields)


def _of_picture(readout: readouts.Pooled, d: Array, problem: Problem) -> dict[str, Array]:
    """A picture's gradient as that of sums over groups of keys: the picture's columns, each query with its own row."""
    N, M = problem.queries, problem.keys
    height, width = min(readout.rows, N), min(readout.columns, M)
    for axis, (count, some) in enumerate(((readout.rows, height), (readout.columns, width)), start=2):
        if count > some:
            shown = np.searchsorted(np.arange(count) * some // count, np.arange(some))
            d = np.add.reduceat(d, shown, axis=axis) if some else d[(slice(None),) * axis + (slice(0, 0),)]
    rows, columns = bins(N, height), bins(M, width)
    cells = np.multiply.outer(np.bincount(rows, minlength=height), np.bincount(columns, minlength=width))
    each = (d / np.maximum(cells, 1)).astype(d.dtype)
    return {"onto": np.ascontiguousarray(each[:, :, rows]), "labels": columns[None]}


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
