"""Edited attention: a call with changed arrays, mask and scores, and what is changed in its results.

`carried_out` is for NumPy arrays and torch tensors alike; whoever calls it computes the attention.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.attention.call import Call
from eyeline.attention.checks import check_arrays
from eyeline.attention.observed import observed
from eyeline.edits import CallEdits, EditError, Edits, lowered, place_of
from eyeline.edits.arrays import cast, changed_inputs, computed, copied, gated, like, with_rows
from eyeline.edits.placed import alike, placed
from eyeline.edits.structure import changed_scores, factors
from eyeline.masks import AttentionShape, Mask
from eyeline.readouts import Readout
from eyeline.readouts.observation import Observation
from eyeline.scores import Scores
from eyeline.words import worded

Array = Any


class Attention(Protocol):
    """Attention without edits, as `eyeline.observe`; q, k and v have four axes, or more."""

    def __call__(
        self,
        q: Array,
        k: Array,
        v: Array,
        read: Readout | Sequence[Readout],
        *,
        mask: Mask | None,
        scale: float | None,
        scores: Scores,
        lse: Array = None,
    ) -> Observation: ...


def edited(
    q: NDArray[Any],
    k: NDArray[Any],
    v: NDArray[Any],
    edits: Edits,
    read: Readout | Sequence[Readout] = (),
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    scores: Scores = (),
    counted: NDArray[np.bool_] | None = None,
    shard: Any = None,
    lse: ArrayLike | None = None,
    **options: Any,
) -> Observation:
    """`eyeline.observe` on NumPy arrays with edits.

    Args:
        counted: as for `observed`.
        lse: as for `observe`, with edits that are lowered, since these may be of some of the queries and keys.
        options: other arguments of `Call`.
    """
    if shard is not None or (lse is not None and not isinstance(edits, CallEdits)):
        raise EditError(worded("edits must be left out with shard= and lse=, since they change whole rows"))
    if not options.get("checked"):
        check_arrays(q, k, v)

    def attention(
        q: Array, k: Array, v: Array, read: Readout | Sequence[Readout], *, lse: Array = None, **structure: Any
    ) -> Observation:
        return observed(Call(q, k, v, lse=lse, **structure, **options), read, counted)[0]

    return carried_out(
        q,
        k,
        v,
        edits,
        read,
        attention,
        mask=mask,
        scale=scale,
        scores=scores,
        drops=bool(options.get("dropout")),
        lse=None if lse is None else np.asarray(lse),
    )


def carried_out(
    q: Array,
    k: Array,
    v: Array,
    edits: Edits,
    read: Readout | Sequence[Readout],
    attention: Attention,
    *,
    mask: Mask | None,
    scale: float | None,
    scores: Scores,
    drops: bool,
    lse: Array = None,
) -> Observation:
    """An observation with edits, in the order in which they act.

    Args:
        q, k, v: (..., H, N, D), (..., G, M, D) and (..., G, M, E), or without the axis of heads; NumPy arrays or
            torch tensors.
        edits: of this call, or lowered.
        attention: computes attention without edits.
        drops: whether it has dropout, which acts on each weight by its place.
        lse: (..., H, N), which normalises the weights of lowered edits; computed if None.
    """
    lead, H = tuple(q.shape[:-2]), q.shape[-3] if q.ndim > 2 else 1
    B = math.prod(lead[:-1])
    q, k, v = (x.reshape(B, x.shape[-3] if x.ndim > 2 else 1, *x.shape[-2:]) for x in (q, k, v))
    shape = AttentionShape(lead[:-1] or (1,), H, q.shape[2], k.shape[2])
    own = lowered(edits, place_of(H, k.shape[1], q.shape[2], k.shape[2]))
    q, k, v = changed_inputs(own.inputs, q, k, v)

    def run(q: Array, k: Array, v: Array, read: Readout | Sequence[Readout], lse: Array, **structure: Any) -> Any:
        if len(shape.lead) == 1:
            return attention(q, k, v, read, lse=lse, **structure)
        # Masks, scores and readouts may refer to several axes of the batch.
        q, k, v, lse = (x if x is None else x.reshape(*shape.lead, *x.shape[1:]) for x in (q, k, v, lse))
        seen = attention(q, k, v, read, lse=lse, **structure)
        return seen.map(lambda x: x.reshape(B, *x.shape[len(shape.lead) :]))

    whole = None if lse is None else lse.reshape(B, H, -1)
    changed = changed_scores(scores, own, shape)
    seen: Observation = run(q, k, v, read, whole, mask=mask, scale=scale, scores=changed)
    for group in alike(own.frozen):
        frozen = tuple(sorted({head for one in group for head in one.pairs.heads}))
        heads = tuple(range(H)) if drops or seen.read else frozen  # dropout and readouts may refer to all heads
        theirs = placed(group, shape, heads)
        values = computed(v[:, np.array(heads) // (H // k.shape[1])])
        part = run(
            like(values, theirs.q),
            like(values, theirs.k),
            values,
            read,
            theirs.lse,
            mask=theirs.mask,
            scale=theirs.scale,
            scores=(*theirs.scores, *factors(own.weightings, shape, heads)),
        )
        seen = _with_part(seen, part, frozen, heads)
    y = seen.output
    for new in own.outputs:
        y = with_rows(y, new)
    seen = replace(seen, output=gated(y, own.gates))
    return seen if lead == (B, H) else seen.map(lambda x: x.reshape(*lead, *x.shape[2:]))


def _with_part(seen: Observation, part: Observation, heads: tuple[int, ...], there: tuple[int, ...]) -> Observation:
    """The observation with the output of other pairs of some heads added, and their readouts merged; `there` are all
    heads of that part."""
    places = [there.index(head) for head in heads]

    def joined(x: Array, both: Array) -> Array:
        x = copied(x)
        x[:, list(heads)] = cast(both, x)
        return x

    results = []
    for readout, own, theirs in zip(seen.read, seen.results, part.results, strict=True):
        both = readout.merge_keys(own.map(lambda x: x[:, list(heads)]), theirs.map(lambda x: x[:, places]), None)
        arrays = tuple(joined(x, y) for x, y in zip(own.arrays, both.arrays, strict=True))
        results.append(replace(own, arrays=arrays))
    output = joined(seen.output, seen.output[:, list(heads)] + part.output[:, places])
    return replace(seen, output=output, results=tuple(results))
