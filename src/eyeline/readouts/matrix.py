"""What is read of the weights over all queries: of each key, and of the whole matrix made small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from eyeline.masks import AttentionShape
from eyeline.readouts.rows import check_count


@dataclass(frozen=True)
class Received:
    """How much each key is looked at, over all queries.

    Reads `received` of an observation, (..., H, M).

    Args:
        reduce: "sum" of the weights, their "mean" over the queries that may look at anything, or "max".

    >>> Received()
    Received(reduce='sum')
    """

    name: ClassVar[str] = "received"
    reduce: Literal["sum", "mean", "max"] = "sum"

    def __post_init__(self) -> None:
        if self.reduce not in ("sum", "mean", "max"):
            raise ValueError(f'reduce must be "sum", "mean" or "max", got {self.reduce!r}')

    def check(self, problem: AttentionShape) -> None:
        """It fits any matrix."""


@dataclass(frozen=True)
class Pooled:
    """The matrix of weights as a small picture.

    Reads `pooled` of an observation, (..., H, rows, columns). Row r of R shows the queries [r·N//R, (r+1)·N//R), and so
    do the columns of the keys; a picture larger than the matrix shows row r·N//R, that is, each several times.

    Args:
        rows: the height of the picture, 1 or more.
        columns: its width.
        reduce: "mean" of the weights in each cell, where what is hidden counts as 0, or "max".

    >>> Pooled(64, 64, reduce="max")
    Pooled(rows=64, columns=64, reduce='max')
    """

    name: ClassVar[str] = "pooled"
    rows: int
    columns: int
    reduce: Literal["mean", "max"] = "mean"

    def __post_init__(self) -> None:
        for name in ("rows", "columns"):
            object.__setattr__(self, name, check_count(name, getattr(self, name), 1))
        if self.reduce not in ("mean", "max"):
            raise ValueError(f'reduce must be "mean" or "max", got {self.reduce!r}')

    def check(self, problem: AttentionShape) -> None:
        """Any picture fits any matrix."""
