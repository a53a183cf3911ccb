"""A layer's mask in a trace: one word or intervals where possible, else booleans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import AttentionShape, Causal, Dense, Intervals, Mask
from eyeline.masks.functions import booleans
from eyeline.masks.lowered import from_booleans

Kind = Literal["all", "causal", "bounds", "bits"]


@dataclass(frozen=True, eq=False)
class Allowed:
    """A mask: where queries may look.

    Attributes:
        kind: "all"; "causal", query i at keys up to i; "bounds", at key j where lo ≤ j < hi for one of K intervals;
            "bits", where the bit is 1.
        array: the intervals, int32 (H or 1, N or 1, K, 2), or the bits, uint8 (H or 1, N, M). None for the first two.
    """

    kind: Kind
    array: NDArray[Any] | None = None

    def of_head(self, head: int) -> NDArray[Any] | None:
        """The intervals, (N or 1, K, 2), or the bits, (N, M), of one head."""
        return None if self.array is None else self.array[head if len(self.array) > 1 else 0]

    def mask(self, head: int, queries: NDArray[np.int64], keys: tuple[int, int]) -> Mask | None:
        """The mask of one head for some queries and the keys [first, last), which count from `first`."""
        array, (first, last) = self.of_head(head), keys
        if self.kind == "all":
            return None
        if self.kind == "bits":
            assert array is not None
            return Dense(array[queries, first:last].astype(bool))
        if self.kind == "causal":
            bounds = np.stack([np.zeros_like(queries), queries + 1], axis=-1)[:, None]
        else:
            assert array is not None
            bounds = array if len(array) == 1 else array[queries]
        return Intervals(np.clip(bounds, first, last) - first)

    def of_heads(self, heads: Sequence[int]) -> Allowed:
        """The mask of some heads."""
        shared = self.array is None or len(self.array) == 1
        return self if shared or self.array is None else Allowed(self.kind, self.array[list(heads)])

    def over_heads(self, first: int = 0, last: int | None = None) -> Mask | None:
        """The mask of all heads, each as a batch element, for the queries [first, last)."""
        if self.kind == "all":
            return None
        if self.kind == "causal":
            if last is None:
                return Causal()
            ends = np.arange(first + 1, last + 1)
            return Intervals(np.stack([np.zeros_like(ends), ends], axis=-1)[:, None])
        assert self.array is not None
        array = self.array if self.array.shape[1] == 1 else self.array[:, first:last]
        return Intervals(array) if self.kind == "bounds" else Dense(array[:, None].astype(bool))

    def pairs(self, queries: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether queries[p] may look at keys[p]: (P,), (P,) → (H or 1, P)."""
        if self.kind == "all":
            return np.ones((1, len(queries)), np.bool_)
        if self.kind == "causal":
            return (keys <= queries)[None]
        assert self.array is not None
        if self.kind == "bits":
            return np.asarray(self.array[:, queries, keys] == 1)
        bounds = self.array if self.array.shape[1] == 1 else self.array[:, queries]
        return np.asarray(((bounds[..., 0] <= keys[:, None]) & (keys[:, None] < bounds[..., 1])).any(axis=-1))

    def dense(self, queries: int, keys: int) -> NDArray[np.bool_]:
        """The mask as booleans, (H or 1, N, M)."""
        i, j = np.divmod(np.arange(queries * keys), max(keys, 1))
        return self.pairs(i, j).reshape(-1, queries, keys)


def allowed(mask: Mask | None, heads: int, queries: int, keys: int) -> Allowed:
    """Convert a mask to a trace's form."""
    if mask is None:
        return Allowed("all")
    problem = AttentionShape((1,), heads, queries, keys)
    lowered = mask.lower(problem)
    if lowered.allowed is not None or lowered.functions:
        bits = booleans(lowered, problem)
        lowered = from_booleans(bits, keys)
        if lowered.allowed is not None:
            whole = np.broadcast_to(bits[0], (bits.shape[1], queries, keys))
            return Allowed("bits", np.ascontiguousarray(whole, np.uint8))
    bounds = lowered.bounds[0]
    if bounds.shape[2] == 1:
        first, last = bounds[..., 0, 0], bounds[..., 0, 1]
        if (first == 0).all():
            if (last == keys).all():
                return Allowed("all")
            if queries == keys and last.shape[1] == queries and (last == np.arange(1, keys + 1)).all():
                return Allowed("causal")
    return Allowed("bounds", bounds)
