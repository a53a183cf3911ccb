"""What factors of weights change about a pass's primitives: how large weights get, and which rows they concern."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.attention.call import Call
from eyeline.kernels.forms import computed
from eyeline.kernels.run import weights
from eyeline.masks import edges
from eyeline.words import worded

Array = NDArray[Any]
#: The largest factor with which columns and cells can be summed in fixed point.
_LARGEST = 2.0**40
#: The most weights that are held at a time.
_AT_A_TIME = 1 << 22


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
            worded(
                "by must be at most 2^40 = {largest:.0f} in size where weights are summed over queries, got "
                "{max:g}; leave out the readouts of keys",
                largest=_LARGEST,
                max=total.max(),
            )
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


def has_negative(call: Call) -> bool:
    """Whether weights may be below 0: the kernels' maxima begin at 0."""
    return any(bool((factor.by < 0).any()) for factor in call.spec.scores.factors)


def largest_weights(
    call: Call, totals: tuple[Array, Array], counted: NDArray[np.bool_] | None, grid: tuple[int, int] | None
) -> Array:
    """The largest weight of each key, (B, H, M), or of each cell of a grid, (B, H, rows, columns), whatever its sign.

    It takes some rows of the weights after the other.
    """
    B, H, N, M = (*call.q.shape[:3], call.shape.keys)
    at_a_time = max(1, _AT_A_TIME // max(B * H * M, 1))
    across = np.array(edges(M, grid[1])) if grid else np.arange(M + 1)
    down = np.array(edges(call.shape.queries, grid[0])) if grid else np.array([0, call.shape.queries])
    found = np.full((B, H, len(down) - 1, len(across) - 1), -np.inf, computed(call.q.dtype))
    for first in range(0, N if found.size else 0, at_a_time):
        rows = np.arange(first, min(first + at_a_time, N))
        w = weights(call.q, call.k, call.spec, *totals, rows, np.arange(M))
        if counted is not None:
            w = np.where(counted[:, None, rows, None], w, w.dtype.type(0))
        of_cells = np.searchsorted(down, rows + call.shard.first_query, side="right") - 1
        largest = np.maximum.reduceat(w, across[:-1], axis=3)
        for cell in np.unique(of_cells):
            of_cell = largest[:, :, of_cells == cell].max(axis=2)
            found[:, :, cell] = np.maximum(found[:, :, cell], of_cell)
    found[found == -np.inf] = 0
    return found if grid else found[:, :, 0]
