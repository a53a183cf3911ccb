"""Another run's weights at the queries and keys of a call: its rows taken, its mask as intervals of the call's keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eyeline.edits.errors import EditError
from eyeline.edits.lowered import FrozenWeights
from eyeline.masks import AttentionShape, LoweredMask, Mask
from eyeline.masks.functions import booleans
from eyeline.masks.lowered import everywhere, ordered
from eyeline.scores import Bias, Score, Softcap

Array = NDArray[Any]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Placed(Mask):
    """A mask in its lowered form, made for one shape.

    Args:
        bounds, allowed: as in `LoweredMask`.
    """

    bounds: NDArray[np.int32]
    allowed: NDArray[np.bool_] | None = None

    def __repr__(self) -> str:
        return "Placed()"

    def rule(self, shape: AttentionShape) -> NDArray[np.bool_]:
        return booleans(self.lower(shape), shape)

    def lower(self, shape: AttentionShape) -> LoweredMask:
        return LoweredMask(np.asarray(self.bounds), self.allowed)


class PlacedWeights(NamedTuple):
    """What gives another run's weights on the pairs of a call: exp(q·k · scale, changed by the scores, - lse).

    Attributes:
        q, k: (B, heads, N, D) and (B, heads, M, D).
        lse: (B, heads, N).
        mask: for (B, heads, N, M); it hides what isn't taken from the other run.
        scores: the other run's score modifiers.
    """

    q: Array
    k: Array
    lse: Array
    mask: Mask
    scores: tuple[Score, ...]


def placed(frozen: FrozenWeights, shape: AttentionShape, heads: Sequence[int]) -> PlacedWeights:
    """The other run's weights in some heads of a call of this shape; heads that aren't frozen look at nothing.

    Raises:
        EditError: if positions don't ascend, or the other run has score modifiers that can't be moved.
    """
    own = frozen.pairs.heads
    which = np.array([own.index(head) if head in own else -1 for head in heads], np.int64)
    rows, columns, batch = frozen.query_rows, frozen.key_rows, frozen.pairs.batch
    several = batch is not None or max(len(rows), len(columns)) > 1
    P, S = frozen.q.shape[1], frozen.k.shape[1]
    there = AttentionShape((len(own),), 1, P, S)
    lowered = LoweredMask(everywhere(S)) if frozen.mask is None else frozen.mask.lower(there)
    bits = booleans(lowered, there) if lowered.allowed is not None or lowered.functions else None
    scores = [_array_of(score, there) for score in frozen.scores]
    elements = []
    for b in range(shape.batch if several else 1):
        here = rows[min(b, len(rows) - 1)] if batch in (None, b) else np.full(rows.shape[1], -1)
        elements.append(_Element(which, here, columns[min(b, len(columns) - 1)]))
    B, hidden = shape.batch, [one.hidden_columns() for one in elements]
    changes = tuple(
        score if array is None else Bias(np.stack([one.taken(array) for one in elements]))
        for score, array in zip(frozen.scores, scores, strict=True)
    )
    if bits is None and any(row is not None for row in hidden):
        none = np.zeros(shape.keys, np.float32)
        changes = (*changes, Bias(np.stack([none if row is None else row for row in hidden])[:, None, None]))
    return PlacedWeights(
        _of_batch([frozen.q[which][:, one.rows] for one in elements], B),
        _of_batch([frozen.k[which][:, one.columns] for one in elements], B),
        _of_batch([np.where(one.looks, frozen.lse[which][:, one.rows], 0) for one in elements], B),
        Placed(
            ordered(np.stack([one.bounds(lowered.bounds, S) for one in elements]), shape.keys),
            None if bits is None else np.stack([one.taken(bits) & one.is_taken for one in elements]),
        ),
        changes,
    )


def _array_of(score: Score, there: AttentionShape) -> Array | None:
    """A bias' array, (heads or 1, 1, P or 1, S or 1); None for a modifier that is the same at all positions."""
    if isinstance(score, Bias):
        return there.spread(np.asarray(score.array), "array")
    if isinstance(score, Softcap):
        return None
    raise EditError(
        f"other must be a run whose scores are changed by caps and biases alone, got {score!r}; take its output with "
        f'Patch(other, "output") in place of its weights'
    )


def _of_batch(arrays: list[Array], batch: int) -> Array:
    return np.broadcast_to(np.stack(arrays), (batch, *arrays[0].shape))


class _Element:
    """The heads, queries and keys of one element of the batch, each by its place in the other run."""

    def __init__(self, which: Integers, rows: Integers, columns: Integers) -> None:
        self.looks = (which >= 0)[:, None] & (rows >= 0)
        self.is_taken = columns >= 0
        self.which, self.rows, self.columns = (np.maximum(x, 0) for x in (which, rows, columns))
        self._chosen = np.flatnonzero(self.is_taken)
        self._there = columns[self._chosen]
        if (np.diff(self._there) <= 0).any():
            raise EditError("keys must ascend in their positions where another run's weights are taken, got others")

    def hidden_columns(self) -> Array | None:
        """-inf on the keys between the first and the last taken one that aren't taken; None if there are none."""
        if len(self._chosen) in (0, self._chosen.max(initial=-1) - self._chosen.min(initial=0) + 1):
            return None
        return np.where(self.is_taken, 0, -np.inf).astype(np.float32)

    def taken(self, x: Array) -> Array:
        """The numbers of (heads or 1, 1, P or 1, S or 1) at these heads, queries and keys."""
        x = x[:, 0] if len(x) == 1 else x[self.which, 0]
        x = x if x.shape[1] == 1 else x[:, self.rows]
        return x if x.shape[2] == 1 else x[..., self.columns]

    def bounds(self, there: NDArray[np.int32], keys: int) -> Integers:
        """The intervals (heads or 1, 1, P or 1, K, 2) of the other run's keys as intervals of the call's,
        (heads, N, K, 2)."""
        x = there[:, 0] if len(there) == 1 else there[self.which, 0]
        x = x if x.shape[1] == 1 else x[:, self.rows]
        at = np.searchsorted(self._there, np.arange(keys + 1))[x]
        M = len(self.is_taken)
        chosen = np.append(self._chosen, M)
        empty = ~(self.looks[..., None] & (at[..., 0] < at[..., 1]))
        first, last = chosen[at[..., 0]], chosen[np.maximum(at[..., 1], 1) - 1] + 1
        return np.stack([np.where(empty, M, first), np.where(empty, M, last)], axis=-1)
