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


@dataclass(frozen=True, eq=False)
class TopKeys:
    """The keys that each query looks at most, with their weights.

    Attributes:
        keys: int64, (..., H, N, k), by weight, then by position; -1 where a query may look at fewer.
        weights: (..., H, N, k), the keys' weights; 0 where the key is -1.
    """

    keys: Array
    weights: Array


@dataclass(frozen=True)
class TopK(Readout[TopKeys]):
    """The k keys that each query looks at most.

    Result `top_k`: `top_k.keys`, int64, and `top_k.weights`, both (..., H, N, k), by descending weight, and by position
    among equal weights. Where a query may look at fewer than k keys, the rest are key -1 with weight 0.

    Args:
        k: the number of keys, 1 or more.

    Raises:
        ValueError: if k isn't a whole number of 1 or more.

    >>> TopK(8)
    TopK(k=8)
    """

    name = "top_k"
    column = "top"
    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_count("k", self.k, 1))

    def alike(self) -> tuple[Any, ...]:
        return (self.k,)

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
        visible = xp.broadcast_to(rows.visible, w.shape)
        # Hidden keys sort after all visible ones, even those of weight 0.
        keys = descending(xp.where(visible, w, -1.0))[..., : self.k]
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
        return added_along(rows.xp.zeros_like(rows.w), rows.xp.where(keys < 0, 0, keys), d)

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
        return LoweredReadout(select=self.k)

    def result(self, found: FoundPrimitives, shape: AttentionShape) -> tuple[Any, ...]:
        return found.selected_keys[..., : self.k], found.selected_weights[..., : self.k]

    def lower_gradient(self, d: Any, arrays: tuple[Any, ...], shape: AttentionShape) -> LoweredGradient | None:
        return LoweredGradient(d_selected=d, selected_keys=arrays[0])

    def tabulated(self, found: PartialResult) -> dict[str, Any]:
        """Columns `top_1_key` and `top_1_weight` for the first key (an ordinal, so from 1), and so on."""
        keys, weights = found.arrays
        columns: dict[str, Any] = {}
        for rank in range(self.k):
            columns[f"top_{rank + 1}_key"] = keys[..., rank]
            columns[f"top_{rank + 1}_weight"] = weights[..., rank]
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
