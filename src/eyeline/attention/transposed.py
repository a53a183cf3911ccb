"""The transpose of the weights times any numbers: what each key gives back, Σ_i w_ij · x_i, without the matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.attention.call import Call
from eyeline.edits import CallEdits
from eyeline.edits.placed import alike, placed
from eyeline.edits.structure import changed_scores, factors
from eyeline.kernels.run_backward import backward
from eyeline.masks import AttentionShape, Mask
from eyeline.scores import Scores, WeightFactor, stacked

Array = NDArray[Any]


def transposed(
    q: Array,
    k: Array,
    x: Array,
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    scores: Scores = (),
    edits: CallEdits | None = None,
) -> Array:
    """Σ_i w_ij · x_i for each key j of one head, as the gradient in the values that x is the output's gradient for.

    Args:
        q, k: (N, D) and (M, D), float32 or float64.
        x: (N, E), of the same type.
        mask, scale, scores: as for `eyeline.attention`.
        edits: what is changed in the weights; rows put into the arrays, outputs and gates don't change them.

    Returns:
        (M, E).
    """
    edits = edits or CallEdits()
    shape = AttentionShape((1,), 1, len(q), len(k))
    q, k = q[None, None], k[None, None]
    changed = stacked(changed_scores(scores, edits, shape))
    found = _product(q, k, x, changed, shape, mask=mask, scale=scale)
    for group in alike(edits.frozen):
        theirs = placed(group, shape, (0,))
        structure: dict[str, Any] = {"mask": theirs.mask, "scale": theirs.scale, "lse": theirs.lse}
        own = (*theirs.scores, *factors(edits.weightings, shape, (0,)))
        found = found + _product(theirs.q.astype(x.dtype), theirs.k.astype(x.dtype), x, own, shape, **structure)
    return found


def _product(
    q: Array, k: Array, x: Array, scores: Sequence[Any], shape: AttentionShape, *, lse: Array | None = None, **rest: Any
) -> Array:
    """The product for a call with arrays (1, 1, tokens, width), whose weights a given lse normalises, if there is one.

    Keys that have the same factors form a class; each class gives back the rows multiplied by its factors.
    """
    weighing = [one for one in scores if isinstance(one, WeightFactor)]
    kept = tuple(one for one in scores if not isinstance(one, WeightFactor))
    columns = [np.broadcast_to(one.columns, (1, 1, shape.keys))[0, 0] != 0 for one in weighing]
    classes, of_key = np.unique(np.stack([np.zeros(shape.keys, bool), *columns]), axis=1, return_inverse=True)
    rows = np.ones((len(q[0, 0]), classes.shape[1]))
    for one, concerned in zip(weighing, classes[1:], strict=True):
        by = np.where(np.asarray(one.rows) != 0, np.asarray(one.by, np.float64), 1.0)
        rows[:, concerned] *= np.broadcast_to(by, (1, 1, len(rows)))[0, 0][:, None]
    given = (x[:, None] * rows[..., None]).astype(x.dtype).reshape(1, 1, len(x), -1)
    call = Call(q, k, np.zeros((1, 1, shape.keys, given.shape[3]), x.dtype), scores=kept, **rest)
    if lse is None:
        done = call.without_values().forward()
        maxima, sums = done.maxima, done.sums
    else:
        maxima = (lse * math.log2(math.e)).astype(x.dtype)
        sums = (maxima > -np.inf).astype(x.dtype)
    wanted = [False] * len(call.spec.scores.steps)
    found = backward(call.q, call.k, call.v, call.spec, np.zeros_like(given), maxima, sums, given, None, wanted)
    parts = found.dv[0, 0].reshape(shape.keys, classes.shape[1], x.shape[1])
    return np.asarray(np.take_along_axis(parts, of_key.reshape(-1, 1, 1), axis=1)[:, 0])
