"""A part of a call's edits: some heads, each as an element of a batch; some rows; some keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.edits.call_edits import CallEdits, joined
from eyeline.edits.lowered import FrozenWeights

#: Which rows or columns.
Some = slice | NDArray[np.int64]


def heads_as_batch(edits: CallEdits, heads: Sequence[int]) -> CallEdits:
    """The edits of a text's call as those of a call whose batch are these heads, each by itself.

    Rows put into q, k and v are left out, since the arrays of a trace have them already.
    """

    def of_head(one: Any, head: int, b: int) -> Any:
        if hasattr(one, "pairs"):
            return replace(one, pairs=replace(one.pairs, heads=(0,), batch=b))
        alone = replace(one, heads=(0,), batch=b)
        return replace(alone, rows=one.rows[[one.heads.index(head)]]) if hasattr(one, "rows") else alone

    def has(one: Any, head: int) -> bool:
        return head in (one.pairs if hasattr(one, "pairs") else one).heads

    return joined(
        CallEdits(
            **{
                field.name: tuple(of_head(one, head, b) for one in getattr(edits, field.name) if has(one, head))
                for field in fields(edits)
                if field.name != "inputs"
            }
        )
        for b, head in enumerate(heads)
    )


def of_rows(edits: CallEdits, queries: Some, keys: Some) -> CallEdits:
    """The edits of some queries and keys of a call, as those of a call of these alone."""

    def cut(one: Any) -> Any:
        if hasattr(one, "pairs"):
            pairs = replace(one.pairs, queries=one.pairs.queries[:, queries], keys=one.pairs.keys[:, keys])
            one = replace(one, pairs=pairs)
        elif hasattr(one, "queries"):
            one = replace(one, queries=one.queries[:, queries], keys=one.keys[:, keys])
        if getattr(one, "taken", None) is not None:
            one = replace(one, taken=one.taken[:, queries])
        if hasattr(one, "key_rows"):
            one = replace(one, query_rows=one.query_rows[:, queries], key_rows=one.key_rows[:, keys])
        return one

    return CallEdits(**{field.name: tuple(map(cut, getattr(edits, field.name))) for field in fields(edits)})


def of_weights(edits: CallEdits) -> CallEdits:
    """The edits that change weights: those without the output's."""
    return replace(edits, outputs=(), gates=())


def with_row_factor(edits: CallEdits, first: int, log_factor: NDArray[Any]) -> CallEdits:
    """The edits where another run's weights are multiplied by a factor of each row, as the call's own are by a given
    lse; `log_factor`, (n,), is of the rows from `first` on."""

    def times(frozen: FrozenWeights) -> FrozenWeights:
        here = np.arange(first, first + len(log_factor))
        rows = frozen.query_rows[0, here]
        lse = frozen.lse.copy()
        lse[:, rows[rows >= 0]] -= log_factor[rows >= 0].astype(lse.dtype)
        return replace(frozen, lse=lse)

    return replace(edits, frozen=tuple(map(times, edits.frozen)))
