"""A rectangle of the weights themselves."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import AttentionShape, namespace
from eyeline.readouts.arrays import added_at, zeros
from eyeline.readouts.lowered import FoundPrimitives, LoweredGradient, LoweredReadout
from eyeline.readouts.readout import Array, KeyShares, PartialResult, Readout, ResultArray, Rows
from eyeline.words import worded

Which = int | slice | Sequence[int] | NDArray[np.integer] | None


@dataclass(frozen=True)
class Weights(Readout[Array]):
    """A rectangle of the weight matrix: these queries by these keys.

    Result `weights`, (..., H, rows, columns); a single position keeps its axis, with length 1. In a shard, positions
    are in the whole matrix, and rows of queries outside the shard are left out.

    Args:
        queries: the rows: a slice, a position (negative counts from the end), or several in any order; all if not
            given.
        keys: the columns, likewise.

    Raises:
        ValueError: if a position isn't in the matrix.

    >>> Weights(queries=-1, keys=slice(0, 10))
    Weights(queries=-1, keys=slice(0, 10, None))
    """

    name = "weights"
    of_tokens = False
    column = "weight"
    queries: Which = None
    keys: Which = None

    def rows(self, count: int) -> NDArray[np.int64]:
        """The positions of the chosen queries, among `count`."""
        return _positions("queries", self.queries, count)

    def columns(self, count: int) -> NDArray[np.int64]:
        """The positions of the chosen keys, among `count`."""
        return _positions("keys", self.keys, count)

    def check(self, shape: AttentionShape) -> None:
        self.rows(shape.queries)
        self.columns(shape.keys)

    def results(self, shape: AttentionShape) -> tuple[ResultArray, ...]:
        # Concrete integers, even where torch.compile has symbolic sizes.
        N, M = operator.index(shape.queries), operator.index(shape.keys)
        return (ResultArray("weights", ("queries", "keys"), (len(self.rows(N)), len(self.columns(M)))),)

    def rectangle(self, shape: AttentionShape) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self.rows(shape.queries), self.columns(shape.keys)

    def _here(self, shape: AttentionShape, first: int, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which of the rectangle's rows lie in the `count` queries from `first` on, and their indices among these."""
        positions = self.rows(shape.queries) - first
        inside = np.flatnonzero((positions >= 0) & (positions < count))
        return inside, positions[inside]

    def read(self, rows: Rows) -> PartialResult:
        _, places = self._here(*rows.place)
        columns = self.columns(rows.shape.keys)
        rectangle = rows.w[..., rows.constant(places), :][..., rows.constant(columns)]
        return PartialResult((rectangle,), *rows.place)

    def coefficients(self, d: Any, found: PartialResult, rows: Rows) -> Any:
        inside, places = self._here(*rows.place)
        across = zeros(rows.w, *rows.w.shape[:2], len(inside), rows.shape.keys)
        across = added_at(across, -1, self.columns(rows.shape.keys), d[..., rows.constant(inside), :])
        return added_at(rows.xp.zeros_like(rows.w), -2, places, across)

    def merge_queries(self, a: PartialResult, b: PartialResult) -> PartialResult:
        if a.count and b.count and a.first + a.count != b.first:
            raise ValueError(
                worded(
                    "other must be of the queries from {first} on to have its weights merged with this one's, "
                    "got those from {got} on; observe the parts with shard=",
                    first=a.first + a.count,
                    got=b.first,
                )
            )
        x, y = a.arrays[0], b.arrays[0]
        both = namespace(x).concatenate([x, y], axis=-2)
        # In the requested order, which may alternate between the two.
        numbers = [self._here(a.shape, one.first, one.count)[0] for one in (a, b)]
        order = np.argsort(np.concatenate(numbers), kind="stable")
        return a.followed(b, both if (np.diff(order) == 1).all() else both[..., order, :])

    def merge_keys(self, a: PartialResult, b: PartialResult, shares: KeyShares | None) -> PartialResult:
        if shares is not None:
            _, places = self._here(a.shape, a.first, a.count)
            shares = KeyShares(shares.a[..., places], shares.b[..., places])
        return replace(a, arrays=(self.added(a.arrays[0], b.arrays[0], shares),))

    def lower(self, shape: AttentionShape) -> LoweredReadout:
        return LoweredReadout(rectangle=(self.rows(shape.queries), self.columns(shape.keys)))

    def result(self, found: FoundPrimitives, shape: AttentionShape) -> tuple[Any, ...]:
        return (found.rectangle,)

    def lower_gradient(self, d: Any, arrays: tuple[Any, ...], shape: AttentionShape) -> LoweredGradient | None:
        return LoweredGradient(d_rectangle=d, rows=self.rows(shape.queries), columns=self.columns(shape.keys))


def _positions(name: str, which: Which, count: int) -> NDArray[np.int64]:
    if which is None or isinstance(which, slice):
        return np.arange(count)[which or slice(None)]
    chosen = np.atleast_1d(np.asarray(which))
    if chosen.ndim != 1 or not (np.issubdtype(chosen.dtype, np.integer) or chosen.size == 0):
        raise ValueError(
            worded("{name} must be a position, a slice or a list of positions, got {which!r}", name=name, which=which)
        )
    chosen = chosen.astype(np.int64)
    wrong = chosen[(chosen < -count) | (chosen >= count)]
    if wrong.size:
        raise ValueError(
            worded(
                "{name} must be positions from {count} to {other}, got {wrong}",
                name=name,
                count=-count,
                other=count - 1,
                wrong=int(wrong[0]),
            )
        )
    return np.where(chosen < 0, chosen + count, chosen)
