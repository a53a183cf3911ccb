"""The entropy of each query's weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eyeline.masks import AttentionShape
from eyeline.readouts.arrays import cast
from eyeline.readouts.lowered import FoundPrimitives, LoweredGradient, LoweredReadout
from eyeline.readouts.readout import Array, KeyShares, PartialResult, Readout, ResultArray, Rows


@dataclass(frozen=True)
class Entropy(Readout[Array]):
    """How broadly each query looks: -Σ w ln w, in nats, from 0 (one key) to ln M (all keys equally).

    Result `entropy`, (..., H, N); 0 for a query that may look at nothing. With sinks, the sum is over the keys alone.

    Source: Shannon, "A Mathematical Theory of Communication" (1948), section 6.

    >>> Entropy()
    Entropy()
    """

    name = "entropy"

    def results(self, shape: AttentionShape) -> tuple[ResultArray, ...]:
        return (ResultArray("entropy", ("queries",), (shape.queries,)),)

    def read(self, rows: Rows) -> PartialResult:
        return PartialResult(((rows.w * -_log(rows)).sum(axis=-1) + 0.0,), *rows.place)

    def coefficients(self, d: Any, found: PartialResult, rows: Rows) -> Any:
        slope = rows.xp.where(rows.w == 0, 0.0, -(_log(rows) + 1))
        return d[..., rows.first : rows.last, None] * slope

    def merge_keys(self, a: PartialResult, b: PartialResult, shares: KeyShares | None) -> PartialResult:
        """A shard with the share p of a row's total adds -Σ pw ln pw = p · (-Σ w ln w) - p ln p."""
        (x,), (y,) = a.arrays, b.arrays
        if shares is None:
            return replace(a, arrays=(x + y,))
        entropy = self.added(x, y, shares) - _x_log_x(shares.a) - _x_log_x(shares.b)
        return replace(a, arrays=(cast(entropy, x),))

    def lower(self, shape: AttentionShape) -> LoweredReadout:
        return LoweredReadout(row_log_weights=True)

    def result(self, found: FoundPrimitives, shape: AttentionShape) -> tuple[Any, ...]:
        return (-found.row_log_weights + 0.0,)

    def lower_gradient(self, d: Any, arrays: tuple[Any, ...], shape: AttentionShape) -> LoweredGradient | None:
        return LoweredGradient(d_row_log_weights=-d, row_log_weights=-arrays[0])


def _log(rows: Rows) -> Any:
    """The weights' natural logs, 0 where there is no weight."""
    return rows.xp.log(rows.xp.where(rows.w == 0, 1.0, rows.w))


def _x_log_x(x: Array) -> Array:
    return np.asarray(x * np.log(np.where(x == 0, 1.0, x)))
