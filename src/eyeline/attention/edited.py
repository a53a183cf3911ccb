"""Edited attention on NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.attention.call import Call
from eyeline.attention.observed import observed
from eyeline.edits import CallEdits, EditError, Edits, lowered, place_of
from eyeline.edits.arrays import changed_inputs, gated, with_rows
from eyeline.edits.structure import changed_mask, changed_scores
from eyeline.masks import AttentionShape, Mask
from eyeline.readouts import Readout
from eyeline.readouts.observation import Observation
from eyeline.scores import Scores

Array = NDArray[Any]


def edited(
    q: Array,
    k: Array,
    v: Array,
    edits: Edits,
    read: Readout | Sequence[Readout] = (),
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    scores: Scores = (),
    counted: NDArray[np.bool_] | None = None,
    **options: Any,
) -> Observation:
    """`eyeline.observe` with edits; `counted` as for `observed`, `options` are other arguments of `Call`."""
    given = options.get("lse") is not None and not isinstance(edits, CallEdits)  # a part's edits know the whole's lse
    if options.get("shard") is not None or given:
        raise EditError("edits must be left out with shard= and lse=, since they change whole rows")
    lead, heads = q.shape[:-2], q.shape[-3] if q.ndim > 2 else 1
    q, k, v = (x.reshape(-1, x.shape[-3] if x.ndim > 2 else 1, *x.shape[-2:]) for x in (q, k, v))
    shape = AttentionShape(lead[:-1] or (1,), heads, q.shape[2], k.shape[2])
    own = lowered(edits, place_of(heads, k.shape[1], q.shape[2], k.shape[2]))
    q, k, v = changed_inputs(own.inputs, q, k, v)
    call = Call(
        *(x.reshape(*lead[:-1], *x.shape[1:]) if lead else x[0, 0] for x in (q, k, v)),
        mask=changed_mask(mask, own),
        scale=scale,
        scores=changed_scores(scores, own, shape),
        **options,
    )
    seen, _ = observed(call, read, counted)
    if own.frozen:
        raise NotImplementedError
    return replace(seen, output=_changed_output(seen.output, own, heads))


def _changed_output(output: Array, own: CallEdits, heads: int) -> Array:
    y = output.reshape(-1, heads, *output.shape[-2:])
    for new in own.outputs:
        y = with_rows(y, new)
    return np.asarray(gated(y, own.gates)).reshape(output.shape)
