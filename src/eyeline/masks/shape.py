"""The shape of an attention, and which part of a larger one a call computes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks.arrays import namespace


@dataclass(frozen=True)
class AttentionShape:
    """The shape of the matrices that a mask is asked about: leading batch axes, heads H, queries N, keys M."""

    lead: tuple[int, ...]
    heads: int
    queries: int
    keys: int

    @property
    def batch(self) -> int:
        return math.prod(self.lead)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return (self.batch, self.heads, self.queries, self.keys)

    def spread(self, array: NDArray[Any], name: str) -> NDArray[Any]:
        """An array that broadcasts to (..., H, N, M), seen as (B or 1, H or 1, N or 1, M or 1).

        It is an array or a torch tensor, and is not copied, unless its leading axes can't be one axis otherwise.
        """
        target = (*self.lead, self.heads, self.queries, self.keys)
        try:
            fits = np.broadcast_shapes(array.shape, target) == target
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"{name} must broadcast to (..., H, N, M) = {target}, got shape {array.shape}")
        own = array.shape[-3:]
        if math.prod(array.shape[:-3]) == 1:
            return array.reshape((1,) * (4 - len(own)) + own)
        if array.ndim == 4 and len(self.lead) == 1:
            return array
        whole: NDArray[Any] = namespace(array).broadcast_to(array, (*self.lead, *own)).reshape(self.batch, *own)
        return whole


@dataclass(frozen=True)
class Shard:
    """Which part of a larger attention a call is: so that masks, scores and readouts mean the whole's positions.

    Args:
        first_key: the number of the first of these keys among all.
        keys: how many keys there are in all; as many as are given if not said.
        first_query: the number of the first of these queries among all.
        queries: how many queries there are in all.

    Raises:
        ValueError: if one of them isn't a whole number, 0 or more.

    >>> Shard(first_key=1000, keys=3000)
    Shard(first_key=1000, keys=3000, first_query=0, queries=None)
    """

    first_key: int = 0
    keys: int | None = None
    first_query: int = 0
    queries: int | None = None

    def __post_init__(self) -> None:
        for name in ("first_key", "keys", "first_query", "queries"):
            value = getattr(self, name)
            if value is None and name in ("keys", "queries"):
                continue
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
                raise ValueError(f"{name} must be a whole number, 0 or more, got {value!r}")

    def of(self, queries: int, keys: int) -> tuple[int, int]:
        """How many queries and keys there are in all, if so many are here."""
        found = []
        for name, first, here, all_ in (
            ("queries", self.first_query, queries, self.queries),
            ("keys", self.first_key, keys, self.keys),
        ):
            whole = first + here if all_ is None else all_
            if whole < first + here:
                raise ValueError(f"shard must hold the {here} {name} given, from {first} on, got {whole} {name} in all")
            found.append(whole)
        return found[0], found[1]
