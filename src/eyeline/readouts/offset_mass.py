"""Each query's weight on ranges of offsets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from eyeline.masks import Align, AttentionShape, check_align, first_standing, standing
from eyeline.readouts.counts import check_whole
from eyeline.readouts.lowered import FoundPrimitives, LoweredGradient, LoweredReadout
from eyeline.readouts.readout import Array, PartialResult, Readout, ResultArray, Rows
from eyeline.words import worded

#: The largest edge; it still fits in 64 bits after a shift.
_FARTHEST = 1 << 61


@dataclass(frozen=True)
class OffsetMass(Readout[Array]):
    """How much each query looks at each range of offsets j - i', where i' is the key position at which query i stands:
    the sum of its weights on the keys of the range. Offsets below 0 are of earlier keys, 0 is the token itself.

    Result `offset_mass`, (..., H, N, len(edges) - 1): range r is edges[r] <= j - i' < edges[r + 1]. Weight beyond the
    outermost edges isn't in it.

    Args:
        edges: whole numbers, ascending, 2 or more.
        align: as in `Causal`, needed where queries and keys differ in number.

    Raises:
        ValueError: if edges aren't such numbers, or `align` is needed and not given, or isn't an alignment.

    >>> OffsetMass([-1, 0, 1])  # the previous token, and the token itself
    OffsetMass(edges=(-1, 0, 1), align=None)
    """

    name = "offset_mass"
    column = "offset"
    edges: Sequence[int]
    align: Align | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", _checked(self.edges))
        object.__setattr__(self, "align", check_align(self.align))

    def check(self, shape: AttentionShape) -> None:
        first_standing(shape, self.align, self)

    def alike(self) -> tuple[Any, ...]:
        return (self.edges,)

    def results(self, shape: AttentionShape) -> tuple[ResultArray, ...]:
        return (ResultArray("offset_mass", ("queries", "offsets"), (shape.queries, len(self.edges) - 1)),)

    def _members(self, rows: Rows) -> Iterator[Any]:
        """For each range, where j - i' lies in it, bool, (n, M)."""
        positions = standing(rows.shape, self.align, self)[rows.first : rows.last]
        offsets = np.arange(rows.shape.keys) - positions
        for low, high in pairwise(self.edges):
            yield rows.constant((low <= offsets) & (offsets < high))

    def read(self, rows: Rows) -> PartialResult:
        sums = [rows.xp.where(members, rows.w, 0.0).sum(axis=-1) for members in self._members(rows)]
        return PartialResult((rows.xp.stack(sums, -1),), *rows.place)

    def coefficients(self, d: Any, found: PartialResult, rows: Rows) -> Any:
        total = rows.xp.zeros_like(rows.w)
        for r, members in enumerate(self._members(rows)):
            total = rows.xp.where(members, d[..., rows.first : rows.last, r, None], total)
        return total

    def _lowered_edges(self, shape: AttentionShape) -> tuple[int, ...]:
        """The ranges' edges as ranges of j - i."""
        stands = int(first_standing(shape, self.align, self)) if shape.queries else 0
        return tuple(min(max(edge + stands, -_FARTHEST), _FARTHEST) for edge in self.edges)

    def lower(self, shape: AttentionShape) -> LoweredReadout:
        return LoweredReadout(row_offsets=self._lowered_edges(shape))

    def result(self, found: FoundPrimitives, shape: AttentionShape) -> tuple[Any, ...]:
        return (found.row_offsets,)

    def lower_gradient(self, d: Any, arrays: tuple[Any, ...], shape: AttentionShape) -> LoweredGradient | None:
        return LoweredGradient(d_row_offsets=d, row_offsets=self._lowered_edges(shape))

    def tabulated(self, found: PartialResult) -> dict[str, Any]:
        """A column for each range, named by its first and last offset: `offset_-3_to_-2`, `offset_0`."""
        columns: dict[str, Any] = {}
        for r, (low, high) in enumerate(pairwise(self.edges)):
            last = "" if high - low == 1 else f"_to_{high - 1}"
            columns[f"{self.column}_{low}{last}"] = found.arrays[-1][..., r]
        return columns


def _checked(edges: Any) -> tuple[int, ...]:
    """The edges as whole numbers, if they are edges of ranges."""
    if isinstance(edges, str) or not isinstance(edges, (Sequence, np.ndarray)) or np.ndim(edges) != 1:
        raise ValueError(worded("edges must be whole numbers, 2 or more, got {edges!r}", edges=edges))
    found = tuple(check_whole("edges", edge, _FARTHEST) for edge in edges)
    if len(found) < 2:
        raise ValueError(
            worded(
                "edges must be 2 or more whole numbers, got {count}; a range has a first edge and an end",
                count=len(found),
            )
        )
    for low, high in pairwise(found):
        if high <= low:
            raise ValueError(
                worded("edges must be in ascending order, each once, got {high} after {low}", high=high, low=low)
            )
    return found
