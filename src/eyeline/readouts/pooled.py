"""The weight matrix reduced to a small picture."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import AttentionShape, edges, namespace
from eyeline.readouts.arrays import along, cast, zeros
from eyeline.readouts.counts import check_count
from eyeline.readouts.lowered import FoundPrimitives, LoweredReadout
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
from eyeline.words import worded


@dataclass(frozen=True)
class Pooled(Readout[Array]):
    """The weight matrix reduced to a small picture.

    Result `pooled`, (..., H, rows, columns). Row r of R shows the queries [r·N//R, (r+1)·N//R), and columns show keys
    likewise; a picture with more rows than queries repeats them: row r shows query r·N//R.

    Args:
        rows: the height of the picture, 1 or more.
        columns: its width.
        reduce: "mean" of the weights in each cell, where hidden pairs count as 0, or "max".

    Raises:
        ValueError: if rows or columns are below 1, or `reduce` is something else.

    >>> Pooled(64, 64, reduce="max")
    Pooled(rows=64, columns=64, reduce='max')
    """

    name = "pooled"
    of_tokens = False
    rows: int
    columns: int
    reduce: Literal["mean", "max"] = "mean"

    def __post_init__(self) -> None:
        for name in ("rows", "columns"):
            object.__setattr__(self, name, check_count(name, getattr(self, name), 1))
        if self.reduce not in ("mean", "max"):
            raise ValueError(worded('reduce must be "mean" or "max", got {reduce!r}', reduce=self.reduce))

    def alike(self) -> tuple[Any, ...]:
        return self.rows, self.columns, self.reduce

    def results(self, shape: AttentionShape) -> tuple[ResultArray, ...]:
        return (ResultArray("pooled", ("rows", "columns"), (self.rows, self.columns)),)

    # A cell is a bin of queries by a bin of keys, each bin with at least one token; the picture repeats cells if needed
    # to reach its size.

    def _edges(self, shape: AttentionShape) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The edges of the bins of queries and of keys, (R + 1,) and (C + 1,)."""
        return edges(shape.queries, self.rows), edges(shape.keys, self.columns)

    def _sizes(self, shape: AttentionShape) -> NDArray[np.int64]:
        """The number of weights in each cell, (R, C)."""
        down, across = self._edges(shape)
        return np.multiply.outer(np.diff(down), np.diff(across))

    def _shown(self, cells: Any) -> Any:
        """The picture (..., rows, columns) from cells (..., R, C), repeated where the matrix is smaller."""
        R, C = cells.shape[-2:]
        if not R * C:
            return zeros(cells, *cells.shape[:-2], self.rows, self.columns)
        if self.rows > R:
            cells = cells[..., np.arange(self.rows) * R // self.rows, :]
        return cells if self.columns == C else cells[..., np.arange(self.columns) * C // self.columns]

    def read(self, rows: Rows) -> PartialResult:
        down, across = self._edges(rows.shape)
        down = np.clip(down, rows.first, rows.last) - rows.first
        if self.reduce == "max":
            most, places = _largest(rows, down, across)
            return PartialResult((self._shown(most),), *rows.place, places=self._shown(places))
        cells = _sums(_sums(rows.w, across, -1), down, -2)
        mean = cast(cells / rows.constant(self._sizes(rows.shape)), cells)
        return PartialResult((self._shown(mean),), *rows.place)

    @property
    def needs_places(self) -> bool:
        return self.reduce == "max"

    def coefficients(self, d: Any, found: PartialResult, rows: Rows) -> Any:
        down, across = self._edges(rows.shape)
        R, C = len(down) - 1, len(across) - 1
        # The first of the consecutive pixels that show each cell.
        pixels = [-(-np.arange(n + 1) * shown // max(n, 1)) for n, shown in ((R, self.rows), (C, self.columns))]
        d = _sums(_sums(d, pixels[1], -1), pixels[0], -2)
        if self.reduce == "mean":
            d = d / rows.constant(self._sizes(rows.shape))
        row = np.repeat(np.arange(R), np.diff(down))[rows.first : rows.last]
        column = np.repeat(np.arange(C), np.diff(across))
        d = d[..., rows.constant(row), :][..., rows.constant(column)]
        if self.reduce == "mean":
            return d
        first = [rows.constant(of[:-1][which]) for of, which in zip(pixels, (row, column), strict=True)]
        places = found.places[..., first[0], :][..., first[1]]
        return rows.xp.where(places == _numbers(rows), d, 0.0)

    def merge_queries(self, a: PartialResult, b: PartialResult) -> PartialResult:
        self._check_whole(a, b)
        if a.shape.queries < a.count + b.count:
            raise ValueError(
                worded(
                    "pooled must be a picture of the whole to be merged over queries, got one of a shard's own "
                    "queries; observe the parts with shard=, or leave Pooled out of them"
                )
            )
        return a.followed(b, self._both(a, b), places=larger_places(a, b))

    def merge_keys(self, a: PartialResult, b: PartialResult, shares: KeyShares | None) -> PartialResult:
        if shares is not None:
            raise not_shares(self.name)
        self._check_whole(a, b)
        return replace(a, arrays=(self._both(a, b),))

    def _both(self, a: PartialResult, b: PartialResult) -> Any:
        x, y = a.arrays[0], b.arrays[0]
        return x + y if self.reduce == "mean" else namespace(x).maximum(x, y)

    def _check_whole(self, a: PartialResult, b: PartialResult) -> None:
        of = [(one.shape.queries, one.shape.keys) for one in (a, b)]
        if of[0] != of[1]:
            raise ValueError(worded("other must have a picture of the same, {of}, got {got}", of=of[0], got=of[1]))

    def lower(self, shape: AttentionShape) -> LoweredReadout:
        grid = min(self.rows, shape.queries), min(self.columns, shape.keys)
        return LoweredReadout(grid=grid, grid_sums=self.reduce == "mean", grid_maxima=self.reduce == "max")

    def result(self, found: FoundPrimitives, shape: AttentionShape) -> tuple[Any, ...]:
        if self.reduce == "max":
            return (self._shown(found.grid_maxima),)
        return (self._shown(cast(found.grid_sums / np.maximum(self._sizes(shape), 1), found.grid_sums)),)


def _between(x: Any, first: int, last: int, axis: int) -> Any:
    return x[..., first:last] if axis == -1 else x[..., first:last, :]


def _sums(x: Any, bounds: NDArray[np.int64], axis: int) -> Any:
    """The sums of x between consecutive bounds along its last axis or the one before."""
    pieces = [_between(x, int(a), int(e), axis).sum(axis=axis) for a, e in pairwise(bounds)]
    return namespace(x).stack(pieces, axis) if pieces else _between(x, 0, 0, axis)


def _largest(rows: Rows, down: NDArray[np.int64], across: NDArray[np.int64]) -> tuple[Any, Any]:
    """The largest weight of each cell, and the index i·M + j of its first occurrence; 0 and -1 for an empty cell."""
    xp, w = rows.xp, rows.w
    cells = len(down) - 1, len(across) - 1
    if not cells[0] * cells[1]:
        return zeros(w, *w.shape[:2], *cells), rows.constant(np.zeros((*w.shape[:2], *cells), np.int64))
    keys = xp.stack([w[..., a:e].argmax(axis=-1) + int(a) for a, e in pairwise(across)], -1)
    of_rows = along(w, keys, -1)
    numbers = keys + rows.constant((np.arange(rows.first, rows.last) * rows.shape.keys)[:, None])
    most, places = [], []
    for a, e in pairwise(down):
        some = of_rows[..., a:e, :]
        if a == e:
            most.append(some.sum(axis=-2))
            places.append(cast(most[-1], keys) - 1)
            continue
        first = some.argmax(axis=-2)[..., None, :]
        most.append(along(some, first, -2)[..., 0, :])
        places.append(along(numbers[..., a:e, :], first, -2)[..., 0, :])
    return xp.stack(most, -2), xp.stack(places, -2)


def _numbers(rows: Rows) -> Any:
    """The index i·M + j of each pair, (n, M)."""
    M = rows.shape.keys
    return rows.constant(np.arange(rows.first, rows.last)[:, None] * M + np.arange(M))
