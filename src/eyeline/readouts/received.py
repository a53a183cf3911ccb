"""The weight that each key receives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from eyeline.masks import AttentionShape, namespace
from eyeline.readouts.arrays import along, cast
from eyeline.readouts.lowered import FoundPrimitives, LoweredGradient, LoweredReadout
from eyeline.readouts.readout import (
    Array,
    KeyShares,
    PartialResult,
    Readout,
    ResultArray,
    Rows,
    larger_places,
    not_shares,
)
from eyeline.readouts.times import factors, held_times, shown, times_of
from eyeline.words import worded


@dataclass(frozen=True, eq=False, repr=False)
class Received(Readout[Array]):
    """How much each key is looked at, over all queries.

    Result `received`, (..., H, M).

    Args:
        reduce: "sum" of the weights, their "mean" over the queries that may look at anything, or "max".
        times: factors of the keys, (M,), (H, M) or (..., H, M), finite, 0 or more: then of the weights times these
            factors, such as the lengths of what is passed on (`Trace.passed_lengths`). An array or a tensor; no
            gradient goes through it.

    Raises:
        ValueError: if `reduce` is something else, or `times` aren't such numbers, or don't fit the keys.

    >>> Received()
    Received(reduce='sum')
    """

    name = "received"
    reduce: Literal["sum", "mean", "max"] = "sum"
    times: Any = None

    def __post_init__(self) -> None:
        if self.reduce not in ("sum", "mean", "max"):
            raise ValueError(worded('reduce must be "sum", "mean" or "max", got {reduce!r}', reduce=self.reduce))
        object.__setattr__(self, "times", held_times(self.times))

    def __repr__(self) -> str:
        return f"Received(reduce={self.reduce!r}{shown(self.times)})"

    def check(self, shape: AttentionShape) -> None:
        if self.times is not None:
            times_of(self.times, shape)

    def alike(self) -> tuple[Any, ...]:
        return (self.reduce, self.times is not None)

    @property
    def count_of_results(self) -> int:
        return 2 if self.reduce == "mean" else 1

    def results(self, shape: AttentionShape) -> tuple[ResultArray, ...]:
        """A mean also has the queries that it is over, which merging needs."""
        received = ResultArray("received", ("keys",), (shape.keys,))
        looking = ResultArray("looking", ("queries",), (shape.queries,), "booleans")
        return (looking, received) if self.reduce == "mean" else (received,)

    def read(self, rows: Rows) -> PartialResult:
        found = self._read(rows)
        if self.times is None:
            return found
        # A factor is the same for all queries, so the sum and the maximum are multiplied by it.
        return replace(found, arrays=(*found.arrays[:-1], found.arrays[-1] * factors(self.times, rows)[:, :, 0]))

    def _read(self, rows: Rows) -> PartialResult:
        """Without factors."""
        if self.reduce == "max":
            return PartialResult(*_largest(rows))
        sums = rows.w.sum(axis=-2)
        if self.reduce == "sum":
            return PartialResult((sums,), *rows.place)
        looking = rows.xp.broadcast_to(rows.visible, rows.w.shape).any(axis=-1)
        return PartialResult((looking, cast(sums / _count(looking), sums)), *rows.place)

    @property
    def needs_places(self) -> bool:
        return self.reduce == "max"

    def coefficients(self, d: Any, found: PartialResult, rows: Rows) -> Any:
        if self.times is not None:
            d = d * factors(self.times, rows)[:, :, 0]
        if self.reduce == "sum":
            return d[..., None, :]
        if self.reduce == "mean":
            return (d / _count(found.arrays[0]))[..., None, :]
        numbers = rows.constant(np.arange(rows.first, rows.last)[:, None])
        return rows.xp.where(found.places[..., None, :] == numbers, d[..., None, :], 0.0)

    def document(self, found: PartialResult, first: int, last: int) -> PartialResult:
        own = super().document(found, first, last)
        if self.reduce != "mean":
            return own
        looking, mean = own.arrays
        sums = mean * found.arrays[0].sum(axis=-1)[..., None]  # the queries of other documents give 0
        return replace(own, arrays=(looking, cast(sums / _count(looking), mean)))

    def merge_queries(self, a: PartialResult, b: PartialResult) -> PartialResult:
        if a.arrays[-1].shape[-1] != b.arrays[-1].shape[-1]:
            raise ValueError(
                worded(
                    "other must have received for as many keys, {keys}, got {got}",
                    keys=a.shape.keys,
                    got=b.shape.keys,
                )
            )
        if self.reduce != "mean":
            return a.followed(b, *self._both(a, b), places=larger_places(a, b))
        looking = namespace(a.arrays[0]).concatenate([a.arrays[0], b.arrays[0]], axis=-1)
        return a.followed(b, looking, self._mean(a, b, looking))

    def merge_keys(self, a: PartialResult, b: PartialResult, shares: KeyShares | None) -> PartialResult:
        if shares is not None:
            raise not_shares(self.name)
        if self.reduce != "mean":
            return replace(a, arrays=self._both(a, b))
        looking = a.arrays[0] | b.arrays[0]
        return replace(a, arrays=(looking, self._mean(a, b, looking)))

    def _both(self, a: PartialResult, b: PartialResult) -> tuple[Any]:
        x, y = a.arrays[0], b.arrays[0]
        return (x + y if self.reduce == "sum" else namespace(x).maximum(x, y),)

    def _mean(self, a: PartialResult, b: PartialResult, looking: Any) -> Any:
        """The mean over the queries that may look at any key, from the means of the parts."""
        sums = [x.arrays[1] * x.arrays[0].sum(axis=-1)[..., None] for x in (a, b)]
        return cast((sums[0] + sums[1]) / _count(looking), a.arrays[1])

    def lower(self, shape: AttentionShape) -> LoweredReadout:
        if self.reduce == "max":
            return LoweredReadout(column_maxima=True)
        return LoweredReadout(column_sums=True, looking=self.reduce == "mean")

    def result(self, found: FoundPrimitives, shape: AttentionShape) -> tuple[Any, ...]:
        of = found.column_maxima if self.reduce == "max" else found.column_sums
        received = of if self.times is None else of * cast(times_of(self.times, shape), of)
        if self.reduce == "mean":
            return found.looking, cast(received / _count(found.looking), received)
        return (received,)

    def lower_gradient(self, d: Any, arrays: tuple[Any, ...], shape: AttentionShape) -> LoweredGradient | None:
        if self.reduce == "max":
            return None
        if self.times is not None:
            d = d * cast(times_of(self.times, shape), d)
        return LoweredGradient(d_column_sums=d if self.reduce == "sum" else d / _count(arrays[0]))


def _count(looking: Any) -> Any:
    """The number of queries that may look at any key, at least 1, (..., 1)."""
    count = looking.sum(axis=-1)[..., None]
    return count + (count == 0)


def _largest(rows: Rows) -> tuple[tuple[Any, ...], AttentionShape, int, int, Any]:
    """Each key's largest weight, and the first query that has it."""
    if not rows.count:
        none = rows.w.sum(axis=-2)
        return (none,), *rows.place, rows.constant(np.full(tuple(none.shape), -1))
    at = rows.w.argmax(axis=-2)[..., None, :]
    return (along(rows.w, at, -2)[..., 0, :],), *rows.place, at[..., 0, :] + rows.first
