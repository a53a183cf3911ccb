"""Each query's weight on groups of keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.masks import AttentionShape
from eyeline.readouts.arrays import cast
from eyeline.readouts.counts import check_count
from eyeline.readouts.lowered import FoundPrimitives, LoweredGradient, LoweredReadout
from eyeline.readouts.readout import Array, PartialResult, Readout, ResultArray, Rows
from eyeline.readouts.times import factors, held_times, shown, times_of
from eyeline.words import worded


@dataclass(frozen=True, init=False, repr=False, eq=False)
class GroupMass(Readout[Array]):
    """How much each query looks at each group of keys: the sum of its weights on them.

    Result `group_mass`, (..., H, N, count).

    Args:
        groups: whole numbers, (M,) or (..., M) broadcasting to the leading axes: the group of each key from 0, or -1
            for none.
        count: the number of groups; one more than the largest in `groups` if not given.
        times: factors of the keys, (M,), (H, M) or (..., H, M), finite, 0 or more: then the sum of the weights times
            these factors, such as the lengths of what is passed on (`Trace.passed_lengths`). An array or a tensor; no
            gradient goes through it.

    Raises:
        ValueError: if groups aren't whole numbers from -1 to count - 1, or `times` aren't such numbers, or they don't
            fit the keys.

    >>> GroupMass([0, 0, 1, -1])
    GroupMass(2 groups of 4 keys)
    """

    name = "group_mass"
    of_tokens = False
    groups: NDArray[np.int64]
    count: int
    times: Any

    def __init__(self, groups: ArrayLike, count: int | None = None, times: Any = None) -> None:
        array = np.asarray(groups)
        if array.ndim == 0 or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
            raise ValueError(
                worded(
                    "groups must be whole numbers, one per key, got {dtype} array of shape {shape}",
                    dtype=array.dtype,
                    shape=array.shape,
                )
            )
        array = array.astype(np.int64)
        largest = int(array.max(initial=-1))
        if array.min(initial=0) < -1:
            raise ValueError(worded("groups must be from 0, or -1 for none, got {min}", min=array.min()))
        if count is not None and largest >= check_count("count", count, 0):
            raise ValueError(worded("groups must be below count, {count}, got {largest}", count=count, largest=largest))
        object.__setattr__(self, "groups", array)
        object.__setattr__(self, "count", largest + 1 if count is None else int(count))
        object.__setattr__(self, "times", held_times(times))

    def __repr__(self) -> str:
        keys = " × ".join(map(str, self.groups.shape))
        return f"GroupMass({self.count} groups of {keys} keys{shown(self.times)})"

    def labels(self, shape: AttentionShape) -> NDArray[np.int64]:
        """The group of each key, (B or 1, M)."""
        target = (*shape.lead, shape.keys)
        try:
            whole = np.broadcast_to(self.groups, target)
        except ValueError:
            raise ValueError(
                worded(
                    "groups must be one per key, broadcasting to (..., M) = {target}, got shape {shape}",
                    target=target,
                    shape=self.groups.shape,
                )
            ) from None
        if self.groups.size == shape.keys:
            return np.broadcast_to(self.groups.reshape(-1), (1, shape.keys))
        return whole.reshape(shape.batch, shape.keys)

    def check(self, shape: AttentionShape) -> None:
        self.labels(shape)
        if self.times is not None:
            times_of(self.times, shape)

    def alike(self) -> tuple[Any, ...]:
        return (self.count, self.times is not None)

    def results(self, shape: AttentionShape) -> tuple[ResultArray, ...]:
        return (ResultArray("group_mass", ("queries", "groups"), (shape.queries, self.count)),)

    def _members(self, rows: Rows) -> Any:
        """A key's factor, or 1, where it belongs to a group, else 0: (B or 1, H or 1, M, count), as the weights are."""
        members = self.labels(rows.shape)[:, None, :, None] == np.arange(self.count)
        found = cast(rows.constant(members), rows.w)
        return found if self.times is None else found * factors(self.times, rows)[:, :, 0, :, None]

    def read(self, rows: Rows) -> PartialResult:
        return PartialResult((rows.w @ self._members(rows),), *rows.place)

    def coefficients(self, d: Any, found: PartialResult, rows: Rows) -> Any:
        return d[..., rows.first : rows.last, :] @ self._members(rows).swapaxes(-1, -2)

    def lower(self, shape: AttentionShape) -> LoweredReadout:
        return LoweredReadout(
            row_bins=np.ascontiguousarray(self.labels(shape), np.int32),
            bins=self.count,
            bin_times=None if self.times is None else times_of(self.times, shape),
        )

    def result(self, found: FoundPrimitives, shape: AttentionShape) -> tuple[Any, ...]:
        return (found.row_bins,)

    def lower_gradient(self, d: Any, arrays: tuple[Any, ...], shape: AttentionShape) -> LoweredGradient | None:
        times = None if self.times is None else times_of(self.times, shape)
        return LoweredGradient(d_row_bins=d, row_bins=np.ascontiguousarray(self.labels(shape)), bin_times=times)
