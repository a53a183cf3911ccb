"""What factors of weights change about a pass's primitives: how large weights get, and which rows they concern."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.attention.call import Call
from eyeline.kernels.forms import computed

Array = NDArray[Any]
#: The largest factor with which columns and cells can be summed in fixed point.
_LARGEST = 2.0**40


def largest_totals(call: Call, *, summed: bool) -> Array | float:
    """An upper bound on the sum of the sizes of a row's weights, 1 or more: (B, H), or 1 where there are no factors.

    Args:
        call: the call.
        summed: whether weights are summed over queries.

    Raises:
        ValueError: if they are, and a factor is too large for that.
    """
    scores = call.spec.scores
    if not scores.weighs:
        return 1.0
    total = np.ones(call.q.shape[:2])
    for factor in scores.factors:
        total *= np.where(factor.heads, np.abs(factor.by).max(axis=2, initial=1), 1)
    if summed and total.max(initial=1) > _LARGEST:
        raise ValueError(
            f"by must be at most 2^40 = {_LARGEST:.0f} in size where weights are summed over queries, got "
            f"{total.max():g}; leave out the readouts of keys"
        )
    return np.minimum(total, _LARGEST)


def rows_weighed(call: Call) -> NDArray[np.bool_]:
    """The rows that have factors, (B, H, N)."""
    B, H, N, _ = call.q.shape
    rows = slice(call.shard.first_query, call.shard.first_query + N)
    found = np.zeros((B, H, N), bool)
    for factor in call.spec.scores.factors:
        with np.errstate(over="ignore"):
            by = factor.by[..., rows].astype(computed(call.q.dtype))
        found |= (by != 1) & factor.columns.any(axis=2, keepdims=True)
    return found
