"""The keys that each query looks at most."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eyeline.masks import AttentionShape, namespace
from eyeline.readouts.arrays import added_along, along, cast, descending, zeros
from eyeline.readouts.counts import check_count
from eyeline.readouts.lowered import FoundPrimitives, LoweredGradient, LoweredReadout
from eyeline.readouts.readout import Array, KeyShares, PartialResult, Readout, ResultArray, Rows
from eyeline.readouts.times import factors, held_times, shown, times_of


@dataclass(frozen=True, eq=False)
class TopKeys:
    """The keys that each query looks at most, with their weights.

    Attributes:
        keys: int64, (..., H, N, k), by weight, then by position; -1 where a query may look at fewer.
        weights: (..., H, N, k), the keys' weights, or with `times` weights times factors; 0 where the key is -1.
    """

    keys: Array
    weights: Array


@dataclass(frozen=True, eq=False, repr=False)
class TopK(Readout[TopKeys]):
    """The k keys that each query looks at most.

    Result `top_k`: `top_k.keys`, int64, and `top_k.weights`, both (..., H, N, k), by descending weight, and by position
    among equal weights. Where a query may look at fewer than k keys, the rest are key -1 with weight 0.

    Args:
        k: the number of keys, 1 or more.
        times: factors of the keys, (M,), (H, M) or (..., H, M), finite, 0 or more: then the k keys with the largest
            weight times factor, and these products in place of the weights. With `Trace.passed_lengths`, these are the
            keys that the most is passed on from (`times`). An array or a tensor; no gradient goes through it.

    Raises:
        ValueError: if k isn't a whole number of 1 or more, or `times` aren't such numbers, or don't fit the keys.

    >>> TopK(8), TopK(8, times=[1.0, 2.0, 0.5])
    (TopK(k=8), TopK(k=8, times=3))
    """

    name = "top_k"
    column = "top"
    k: int
    times: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_count("k", self.k, 1))
        object.__setattr__(self, "times", held_times(self.times))

    def __repr__(self) -> str:
        return f"TopK(k={self.k}{shown(self.times)})"

    def check(self, shape: AttentionShape) -> None:
        if self.times is not None:
            times_of(self.times, shape)

    def alike(self) -> tuple[Any, ...]:
        return (self.k, self.times is not None)

    @property
    def count_of_results(self) -> int:
        return 2

    def results(self, shape: AttentionShape) -> tuple[ResultArray, ...]:
        axes, sizes = ("queries", "rank"), (shape.queries, self.k)
        return ResultArray("keys", axes, sizes, "keys"), ResultArray("weights", axes, sizes)

    def value(self, found: PartialResult) -> TopKeys:
        return TopKeys(*found.arrays)

    def read(self, rows: Rows) -> PartialResult:
        xp, w = rows.xp, rows.w
        if self.times is not None:
            w = w * factors(self.times, rows)
        visible = xp.broadcast_to(rows.visible, w.shape)
        # Hidden keys sort after all visible ones, even those of weight 0, or below by an edit.
        keys = descending(xp.where(visible, w, -np.inf))[..., : self.k]
        there = along(visible, keys, -1)
        missing = self.k - keys.shape[-1]
        weights = xp.where(there, along(w, keys, -1), 0.0)
        keys = xp.where(there, keys, -1)
        if missing > 0:
            none = zeros(w, *w.shape[:-1], missing)
            weights = xp.concatenate([weights, none], axis=-1)
            keys = xp.concatenate([keys, cast(none, keys) - 1], axis=-1)
        return PartialResult((keys, weights), *rows.place)

    def coefficients(self, d: Any, found: PartialResult, rows: Rows) -> Any:
        keys = found.arrays[0][..., rows.first : rows.last, :]
        if not rows.shape.keys:
            return rows.w
        d = rows.xp.where(keys < 0, 0.0, d[..., rows.first : rows.last, :])
        found_at = added_along(rows.xp.zeros_like(rows.w), rows.xp.where(keys < 0, 0, keys), d)
        return found_at if self.times is None else found_at * factors(self.times, rows)

    def merge_keys(self, a: PartialResult, b: PartialResult, shares: KeyShares | None) -> PartialResult:
        xp = namespace(a.arrays[1])
        keys = xp.concatenate([a.arrays[0], b.arrays[0]], axis=-1)
        x, y = a.arrays[1], b.arrays[1]
        parts = (x, y) if shares is None else (shares.a[..., None] * x, shares.b[..., None] * y)
        both = xp.concatenate(parts, axis=-1)
        if shares is None:
            keys, both = _once(keys, both)
        else:
            keys, both = _by(-keys, keys, both)
        # By weight, then by key; key -1 last.
        keys, both = _by(xp.where(keys < 0, -np.inf, both), keys, both)
        return replace(a, arrays=(keys[..., : self.k], cast(both[..., : self.k], a.arrays[1])))

    def lower(self, shape: AttentionShape) -> LoweredReadout:
        return LoweredReadout(select=self.k, select_times=None if self.times is None else times_of(self.times, shape))

    def result(self, found: FoundPrimitives, shape: AttentionShape) -> tuple[Any, ...]:
        return found.selected_keys[..., : self.k], found.selected_weights[..., : self.k]

    def lower_gradient(self, d: Any, arrays: tuple[Any, ...], shape: AttentionShape) -> LoweredGradient | None:
        keys = arrays[0]
        if self.times is not None and shape.keys:
            whole = np.broadcast_to(times_of(self.times, shape)[:, :, None], (*keys.shape[:3], shape.keys))
            d = d * cast(np.take_along_axis(whole, np.maximum(keys, 0), axis=-1), d)
        return LoweredGradient(d_selected=d, selected_keys=keys)

    def tabulated(self, found: PartialResult) -> dict[str, Any]:
        """Columns `top_1_key` and `top_1_weight` for the first key (an ordinal, so from 1), and so on; `top_1_product`
        with factors."""
        keys, weights = found.arrays
        what = "weight" if self.times is None else "product"
        columns: dict[str, Any] = {}
        for rank in range(self.k):
            columns[f"top_{rank + 1}_key"] = keys[..., rank]
            columns[f"top_{rank + 1}_{what}"] = weights[..., rank]
        return columns


def _by(x: Any, keys: Array, weights: Array) -> tuple[Array, Array]:
    """Keys and weights in descending order of x, stably."""
    order = descending(x)
    return along(keys, order, -1), along(weights, order, -1)


def _once(keys: Array, weights: Array) -> tuple[Array, Array]:
    """Keys in order, each once, others -1: a pair that has another run's weight has 0 in its own call's list."""
    xp = namespace(weights)
    keys, weights = _by(abs(weights), keys, weights)
    keys, weights = _by(-keys, keys, weights)
    again = keys[..., 1:] == keys[..., :-1]
    again = xp.concatenate([xp.zeros_like(again[..., :1]), again], axis=-1)
    return xp.where(again, -1, keys), xp.where(again, 0.0, weights)
