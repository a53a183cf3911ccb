"""T5's relative position bias: a learned table by distance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import Align, AttentionShape, check_align, namespace
from eyeline.scores.arrays import Parameter, beside, check_heads, finite, held
from eyeline.scores.distances import distances, table_distances
from eyeline.scores.lowered import Relative
from eyeline.scores.score import ALL, Score
from eyeline.words import worded

Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False, eq=False)
class RelativeBias(Score):
    """T5's bias: adds to each score an entry of a learned table, chosen by the signed distance from query to key.

    Args:
        table: (buckets, H), as T5's `relative_attention_bias.weight`.
        bidirectional: whether keys after a query have buckets of their own (an encoder), or share the bucket of
            distance 0 (a decoder). T5 splits the buckets evenly between the two sides.
        max_distance: from this distance on, all keys share the last bucket. The first half of a side's buckets hold one
            distance each; the width of the others grows with the logarithm of the distance.
        align: as in `Causal`, needed where queries and keys differ in number.

    Raises:
        ValueError: if the table isn't (buckets, H) with at least 2 buckets for each side, or not finite; if
            max_distance isn't beyond the distances that have buckets of their own.

    Source: Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer" (2020).

    >>> RelativeBias(np.zeros((32, 8)))
    RelativeBias(32 buckets × 8 heads)
    """

    table: Parameter
    bidirectional: bool = True
    max_distance: int = 128
    align: Align | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "align", check_align(self.align))
        object.__setattr__(self, "table", held("table", self.table, ("buckets", "H")))
        sides = 2 if self.bidirectional else 1
        least, buckets = 2 * sides, int(self.table.shape[0])
        if buckets < least:
            raise ValueError(
                worded("table must have {least} buckets or more, got {buckets}", least=least, buckets=buckets)
            )
        exact, far = buckets // sides // 2, self.max_distance
        if isinstance(far, bool) or not isinstance(far, (int, np.integer)) or far <= exact:
            raise ValueError(
                worded(
                    "max_distance must be a whole number above {exact}, the distances that have a bucket each, "
                    "got {far!r}",
                    exact=exact,
                    far=far,
                )
            )
        object.__setattr__(self, "max_distance", int(far))

    def __repr__(self) -> str:
        given = ["{} buckets × {} heads".format(*self.table.shape)]
        given += [] if self.bidirectional else ["bidirectional=False"]
        given += [] if self.max_distance == 128 else [f"max_distance={self.max_distance}"]
        given += [f"align={self.align!r}"] if self.align is not None else []
        return f"RelativeBias({', '.join(given)})"

    def buckets(self, distance: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row of the table for each distance, key position minus query position."""
        count = int(self.table.shape[0])
        side: NDArray[np.int64] | int = 0
        if self.bidirectional:
            count //= 2
            side, away = np.where(distance > 0, count, 0), np.abs(distance)
        else:
            away = np.maximum(-distance, 0)
        exact = count // 2
        # In float32, as in T5: its rounding decides where a bucket ends.
        ratio = np.maximum(away, exact).astype(np.float32) / np.float32(exact)
        steps = np.log(ratio) / np.float32(math.log(self.max_distance / exact)) * np.float32(count - exact)
        wide = np.minimum(exact + steps.astype(np.int64), count - 1)
        return side + np.where(away < exact, away, wide)

    def _table(self, shape: AttentionShape) -> Array:
        check_heads("table", int(self.table.shape[1]), shape)
        return finite("table", self.table)

    def apply(self, s: Any, shape: AttentionShape, queries: slice = ALL, keys: slice = ALL) -> Any:
        rows = self.buckets(distances(shape, self.align, repr(self), queries, keys))
        return s + namespace(s).moveaxis(beside(s, self.table)[beside(s, rows)], -1, 0)

    def lower(self, shape: AttentionShape) -> Relative:
        rows = self.buckets(table_distances(shape, self.align, repr(self)))
        return Relative(np.ascontiguousarray(self._table(shape)[rows].T))

    def pull_back(self, gradient: NDArray[Any], shape: AttentionShape) -> dict[str, Array]:
        rows = self.buckets(table_distances(shape, self.align, repr(self)))
        table = np.zeros(tuple(self.table.shape))
        np.add.at(table, rows, np.asarray(gradient, np.float64).T)
        return {"table": table}
