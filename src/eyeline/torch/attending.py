"""The two calls, `attention` and `observe`, on tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from eyeline.attention.checks import check_mask, check_scale
from eyeline.edits import Edits
from eyeline.masks import AttentionShape, Mask, Shard
from eyeline.readouts import PartialResult, Readout, chosen
from eyeline.readouts.observation import Observation
from eyeline.scores import Score, Scores, sinks_of, stacked
from eyeline.torch import choose, compiled
from eyeline.torch.checks import check_tensors
from eyeline.torch.edited import edited
from eyeline.torch.operator import attend
from eyeline.torch.spec import Telling, spec
from eyeline.torch.transforms import attended, is_within_transform
from eyeline.words import worded


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    scores: Scores = (),
    dropout: float = 0.0,
    seed: int | Tensor | None = None,
    tokens_first: bool = False,
    edits: Edits = (),
) -> Tensor:
    """Scaled dot-product attention of tensors, exact, in memory that grows with N + M; see `eyeline.attention`.

    It is differentiable once, in q, k, v and the parameters of `scores`, on any device, backward and forward, and in
    `torch.func`'s transforms (`vmap` goes element by element); CPU tensors are computed by the compiled kernels. Within
    `torch.autocast`, q, k and v of several types are cast to its type. It may be called inside
    `torch.compile(fullgraph=True)` and `torch.export`, but with edits, which run uncompiled; masks, scores and readouts
    may be created there too, except `~` and `GroupMass`, which must be created outside.

    Args:
        seed: a whole number, or a tensor with one, which may change between runs of a compiled function.
        tokens_first: whether the result may be a view of memory in the order (..., N, H, E), so that what a model goes
            on with, `y.transpose(-2, -3)`, is contiguous; it is where the compiled kernels run without gradients.

    >>> import torch
    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]], requires_grad=True)
    >>> y = attention(x, x, x, scale=1.0)
    >>> y.requires_grad, y.detach()
    (True, tensor([[0.7311, 0.2689],
            [0.2689, 0.7311]]))
    """
    if edits:
        return observe_counted(
            q,
            k,
            v,
            mask=mask,
            scale=scale,
            scores=scores,
            dropout=dropout,
            seed=seed,
            read=(),
            counted=None,
            tokens_first=tokens_first,
            edits=edits,
        )[0]
    if isinstance(scores, tuple) and not (scores or dropout) and choose.is_plain(q, k, v, ()):
        found = compiled.kept(q, k, v, mask, scale, tokens_first)
        if found is not None:
            return found
    q, k, v = _of_one_type(q, k, v)
    check_tensors(q, k, v)
    changes = stacked(scores)
    if choose.is_plain(q, k, v, changes):
        number = int(seed) % 2**64 if isinstance(seed, Tensor) else seed
        return compiled.output(
            q, k, v, mask=mask, scale=scale, scores=changes, dropout=dropout, seed=number, tokens_first=tokens_first
        )
    return _attended(q, k, v, mask, scale, changes, dropout, seed, (), None)[0]


def observe(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    scores: Scores = (),
    dropout: float = 0.0,
    seed: int | Tensor | None = None,
    read: Readout | Sequence[Readout] = (),
    shard: Shard | None = None,
    lse: ArrayLike | None = None,
    edits: Edits = (),
) -> Observation:
    """Attention of tensors, and readouts of its weights; see `eyeline.observe`.

    All results are differentiable, except the keys of `TopK`. The gradient of a maximum goes to the first place that
    attains it.

    >>> import torch
    >>> from eyeline import Weights
    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> observe(x, x, x, scale=1.0, read=Weights(queries=0)).weights
    tensor([[0.7311, 0.2689]])
    """
    if shard is not None or lse is not None:
        raise ValueError(
            worded(
                "shard and lse must be left out for tensors, since observations of tensors have gradients; "
                "pass NumPy arrays"
            )
        )
    output, seen = observe_counted(
        q,
        k,
        v,
        mask=mask,
        scale=scale,
        scores=scores,
        dropout=dropout,
        seed=seed,
        read=read,
        counted=None,
        edits=edits,
    )
    return on_tensors(output, seen)


def on_tensors(output: Tensor, seen: Observation) -> Observation:
    """The result of `observe_counted` in tensors."""
    found: Any = seen
    return compiled.on_tensors(output, seen) if isinstance(found.lse, np.ndarray) else seen


def observe_counted(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Mask | None,
    scale: float | None,
    scores: Scores,
    dropout: float,
    seed: int | Tensor | None,
    read: Readout | Sequence[Readout],
    counted: Tensor | None,
    tokens_first: bool = False,
    lse: NDArray[Any] | None = None,
    edits: Edits = (),
) -> tuple[Tensor, Observation]:
    """The output, and the observation by `observe` with readouts of some of the queries; without gradients and edits,
    this holds NumPy arrays.

    Args:
        counted: bool, (B, N): False for queries that the readouts take as if they might look at no key, such as those
            that are padding; all count if None. Output and lse are the same whoever counts.
        tokens_first: as for `attention`.
        lse: as for `eyeline.observe`, for tensors without gradients.
        edits: of this call, or lowered.
    """
    q, k, v = _of_one_type(q, k, v)
    check_tensors(q, k, v)
    if edits:
        options: dict[str, Any] = {"dropout": dropout, "seed": seed, "counted": counted, "tokens_first": tokens_first}

        def unedited(q: Tensor, k: Tensor, v: Tensor, **given: Any) -> Observation:
            return on_tensors(*observe_counted(q, k, v, **given, **options))

        structure: dict[str, Any] = {"mask": mask, "scale": scale, "scores": scores, "drops": bool(dropout)}
        seen = edited(q, k, v, edits, read, unedited, **structure)
        return seen.output, seen
    changes = stacked(scores)
    if choose.is_plain(q, k, v, changes):
        number = int(seed) % 2**64 if isinstance(seed, Tensor) else seed
        asked: dict[str, Any] = {"mask": mask, "scale": scale, "scores": changes, "dropout": dropout, "seed": number}
        if lse is not None:
            asked["lse"] = lse
        return compiled.observation(q, k, v, read, counted, **asked, tokens_first=tokens_first)
    shape = AttentionShape(tuple(q.shape[:-3]) or (1,), q.shape[-3] if q.ndim > 2 else 1, q.shape[-2], k.shape[-2])
    readouts = _readouts(read, shape)
    output: Any
    total: Any
    found: list[Any]
    output, total, *found = _attended(q, k, v, mask, scale, changes, dropout, seed, readouts, counted)
    results: list[PartialResult] = []
    sink: Any = None
    for readout in readouts:
        count = readout.count_of_results
        results.append(PartialResult(tuple(found[:count]), shape, 0, q.shape[-2]))
        found = found[count:]
    sinks = sinks_of(changes)
    if sinks is not None:
        logits = torch.as_tensor(sinks.logits, dtype=total.dtype, device=total.device)
        # A row without a total has no sink either: a head's logit may be -inf.
        sink = torch.exp(logits[..., None] - total.masked_fill(total == -torch.inf, 0.0))
    return output, Observation(output, total, sink, readouts, tuple(results))


def _attended(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Mask | None,
    scale: float | None,
    changes: tuple[Score, ...],
    dropout: float,
    seed: int | Tensor | None,
    read: tuple[Readout, ...],
    counted: Tensor | None,
) -> list[Tensor]:
    """Output, lse and the readouts' arrays, with q's leading axes."""
    check_mask(mask)
    if scale is not None and not torch.compiler.is_compiling():
        scale = check_scale(scale, np.dtype(np.float64 if q.dtype == torch.float64 else np.float32))
    telling = Telling()
    text = spec(
        lead=tuple(q.shape[:-3]) or (1,),
        scale=scale,
        mask="null" if mask is None else telling.value(mask),
        changes=[telling.value(score) for score in changes],
        dropout=float(dropout),
        seed=telling.seed(dropout, seed),
        read=[telling.value(readout) for readout in read],
        counted=telling.counted(counted),
        portable=choose.wants_portable(),
    )
    four = [x if x.ndim == 4 else _four_axes(x) for x in (q, k, v)]
    within = is_within_transform()
    if within and torch.compiler.is_compiling():
        # PyTorch then runs this part uncompiled, or reports the error with fullgraph=True.
        raise NotImplementedError(
            "Eyeline's attention can't be compiled within torch.func's transforms or forward mode"
        )
    run: Any = attended if within else attend
    output, lse, _, _, *found = run(*four, telling.parameters, telling.facts, text)
    kept = [output, lse, *found]
    return kept if q.ndim == 4 else [x.reshape(*q.shape[:-2], *x.shape[2:]) for x in kept]


def _four_axes(x: Tensor) -> Tensor:
    """(B, heads, tokens, width)."""
    return x[(None,) * (4 - x.ndim)] if x.ndim < 4 else x.flatten(0, -4)


def drawn_seed() -> Tensor:
    """A seed for dropout, drawn from torch's default generator; a tensor, so that `torch.compile` can trace it."""
    return torch.randint(2**63 - 1, ())


def _readouts(read: Readout | Sequence[Readout], shape: AttentionShape) -> tuple[Readout, ...]:
    """Check the readouts; inside `torch.compile`, which can't trace the checks, the operator does it."""
    if torch.compiler.is_compiling():
        several: Any = read if isinstance(read, (list, tuple)) else (read,)
        return tuple(several)
    return chosen(read, shape)


def _of_one_type(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Within autocast, cast tensors of several types to its type, as `scaled_dot_product_attention` does."""
    given = q, k, v
    if not all(isinstance(x, Tensor) for x in given) or q.dtype == k.dtype == v.dtype:
        return given
    device = q.device.type
    if not torch.amp.is_autocast_available(device) or not torch.is_autocast_enabled(device):  # "meta" has none
        return given
    narrow = torch.get_autocast_dtype(device)
    q, k, v = (x.to(narrow) if x.is_floating_point() and x.dtype != torch.float64 else x for x in given)
    return q, k, v
