"""Another run's weights at the queries and keys of a call: its rows taken, its mask as intervals of the call's keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eyeline.edits.errors import EditError
from eyeline.edits.lowered import FrozenWeights
from eyeline.masks import AttentionShape, LoweredMask, Mask
from eyeline.masks.functions import booleans
from eyeline.masks.lowered import everywhere, ordered
from eyeline.scores import Bias, Flat, Score, Softcap
from eyeline.words import worded

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
    """What gives other runs' weights on the pairs of a call: exp(q·k · scale, changed by the scores, - lse).

    Attributes:
        q, k: (B, heads, N, D) and (B, heads, M, D).
        lse: (B, heads, N).
        scale: the factor of q·k.
        mask: for (B, heads, N, M); it hides what isn't taken from another run.
        scores: the other runs' score modifiers.
    """

    q: Array
    k: Array
    lse: Array
    scale: float
    mask: Mask
    scores: tuple[Score, ...]


def alike(frozen: Sequence[FrozenWeights]) -> list[list[FrozenWeights]]:
    """Groups that one pass can take: of one scale and width, and of the same modifiers but for the numbers of biases.

    Raises:
        EditError: if a run has score modifiers that can't be moved to other positions.
    """
    groups: dict[Any, list[FrozenWeights]] = {}
    for one in frozen:
        kinds = tuple(_kind(score) for score in one.scores)
        groups.setdefault((one.scale, one.q.shape[-1], kinds), []).append(one)
    return list(groups.values())


def _kind(score: Score) -> Any:
    if isinstance(score, Bias):
        return Bias
    if isinstance(score, Softcap):
        return score
    if isinstance(score, Flat) and score.heads.all() == score.heads.any():
        return Flat, bool(score.heads.all())
    raise EditError(
        worded(
            "other must be a run whose scores are changed by caps and biases alone, got {score!r}; take "
            'its output with Patch(other, "output") in place of its weights',
            score=score,
        )
    )


def placed(group: Sequence[FrozenWeights], shape: AttentionShape, heads: Sequence[int]) -> PlacedWeights:
    """Other runs' weights, alike, in some heads of a call of this shape; heads that aren't frozen look at nothing.

    Raises:
        EditError: if the positions of keys don't ascend.
    """
    parts = [part for one in group for part in _parts(one, shape, heads)]
    apart = any(part.batch is not None for part in parts)
    lead = (shape.batch if apart else 1, len(heads))
    N, M, first = shape.queries, shape.keys, group[0]
    most = max((part.bounds.shape[1] for part in parts), default=1)
    q, k = (np.zeros((*lead, count, first.q.shape[-1]), first.q.dtype) for count in (N, M))
    lse = np.zeros((*lead, N), first.lse.dtype)
    bounds = np.full((*lead, N, most, 2), M)
    allowed = np.zeros((*lead, N, M), bool) if any(part.allowed is not None for part in parts) else None
    biases = [
        np.zeros((*lead, *np.max([part.biases[at].shape for part in parts], axis=0)), parts[0].biases[at].dtype)
        for at in range(sum(isinstance(score, Bias) for score in first.scores))
    ]
    holes = any(part.has_holes for part in parts) and allowed is None
    columns = np.zeros((*lead, 1, M), np.float32)
    for part in parts:
        at = slice(None) if part.batch is None else part.batch, part.head
        q[at], k[at], lse[at] = part.q, part.k, part.lse
        bounds[at][..., : part.bounds.shape[1], :] = part.bounds
        if allowed is not None:
            allowed[at] = part.is_taken if part.allowed is None else part.allowed & part.is_taken
        for bias, own in zip(biases, part.biases, strict=True):
            bias[at] = own
        columns[at] = np.where(part.is_taken, 0, -np.inf)

    def biased(array: Array) -> Bias:
        return Bias(array.reshape(*(shape.lead if apart else (1,)), *array.shape[1:]))

    left, scores = iter(biases), list[Score]()
    for score in first.scores:
        if isinstance(score, Bias):
            score = biased(next(left))
        elif isinstance(score, Flat):
            score = Flat(np.full((1, len(heads)), score.heads.all()))
        scores.append(score)
    of_batch = [np.broadcast_to(x, (shape.batch, *x.shape[1:])) for x in (q, k, lse)]
    return PlacedWeights(
        of_batch[0],
        of_batch[1],
        of_batch[2],
        first.scale,
        Placed(ordered(bounds, M), allowed),
        (*scores, biased(columns)) if holes else tuple(scores),
    )


class _Part(NamedTuple):
    """The weights of one head in one element of the batch, or in all: arrays without these axes."""

    batch: int | None
    head: int
    q: Array
    k: Array
    lse: Array
    bounds: Integers
    allowed: Array | None
    biases: list[Array]
    is_taken: NDArray[np.bool_]
    has_holes: bool


def _parts(one: FrozenWeights, shape: AttentionShape, heads: Sequence[int]) -> Iterator[_Part]:
    there = AttentionShape((len(one.pairs.heads),), 1, one.q.shape[1], one.k.shape[1])
    lowered = LoweredMask(everywhere(there.keys)) if one.mask is None else one.mask.lower(there)
    bits = booleans(lowered, there) if lowered.allowed is not None or lowered.functions else None
    biases = [there.spread(np.asarray(score.array), "array") for score in one.scores if isinstance(score, Bias)]
    elements = [one.pairs.batch]
    if one.pairs.batch is None and max(len(one.query_rows), len(one.key_rows)) > 1:
        elements = list(range(shape.batch))
    for b in elements:
        rows, columns = (x[min(b or 0, len(x) - 1)] for x in (one.query_rows, one.key_rows))
        place = _Place(rows, columns)
        chosen = np.flatnonzero(place.is_taken)
        has_holes = len(chosen) > 0 and bool(chosen[-1] - chosen[0] + 1 != len(chosen))
        for number, head in enumerate(one.pairs.heads):
            yield _Part(
                b,
                list(heads).index(head),
                one.q[number][place.rows],
                one.k[number][place.columns],
                np.where(place.looks, one.lse[number][place.rows], 0),
                place.moved(_of_head(lowered.bounds, number), there.keys),
                None if bits is None else place.taken(_of_head(bits, number)),
                [place.taken(_of_head(bias, number)) for bias in biases],
                place.is_taken,
                has_holes,
            )


def _of_head(x: Array, number: int) -> Array:
    return np.asarray(x[number if len(x) > 1 else 0, 0])


class _Place:
    """Queries and keys of a call, each by its row in another run."""

    def __init__(self, rows: Integers, columns: Integers) -> None:
        self.looks, self.is_taken = rows >= 0, columns >= 0
        self.rows, self.columns = np.maximum(rows, 0), np.maximum(columns, 0)
        self._there = columns[self.is_taken]
        if (np.diff(self._there) <= 0).any():
            raise EditError(
                worded("keys must ascend in their positions where another run's weights are taken, got others")
            )

    def taken(self, x: Array) -> Array:
        """The numbers of (P or 1, S or 1) at these queries and keys."""
        x = x if len(x) == 1 else x[self.rows]
        return x if x.shape[1] == 1 else x[:, self.columns]

    def moved(self, bounds: NDArray[np.int32], keys: int) -> Integers:
        """The intervals (P or 1, K, 2) among the other run's keys as intervals of the call's, (N, K, 2)."""
        at = np.searchsorted(self._there, np.arange(keys + 1))[bounds if len(bounds) == 1 else bounds[self.rows]]
        M = len(self.is_taken)
        chosen = np.append(np.flatnonzero(self.is_taken), M)
        empty = ~(self.looks[:, None] & (at[..., 0] < at[..., 1]))
        first, last = chosen[at[..., 0]], chosen[np.maximum(at[..., 1], 1) - 1] + 1
        return np.stack([np.where(empty, M, first), np.where(empty, M, last)], axis=-1)
