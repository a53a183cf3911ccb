"""The shape of an attention, and the place of a shard in a larger one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks.arrays import namespace
from eyeline.words import worded


@dataclass(frozen=True)
class AttentionShape:
    """The shape of the attention matrices: leading batch axes, heads H, queries N, keys M."""

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
        """Reshape an array that broadcasts to (..., H, N, M) to (B or 1, H or 1, N or 1, M or 1).

        It is a NumPy array or a torch tensor, and is copied only if its leading axes can't be merged otherwise.
        """
        target = (*self.lead, self.heads, self.queries, self.keys)
        try:
            fits = np.broadcast_shapes(array.shape, target) == target
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(
                worded(
                    "{name} must broadcast to (..., H, N, M) = {target}, got shape {shape}",
                    name=name,
                    target=target,
                    shape=array.shape,
                )
            )
        own = array.shape[-3:]
        if math.prod(array.shape[:-3]) == 1:
            return array.reshape((1,) * (4 - len(own)) + own)
        if array.ndim == 4 and len(self.lead) == 1:
            return array
        whole: NDArray[Any] = namespace(array).broadcast_to(array, (*self.lead, *own)).reshape(self.batch, *own)
        return whole


@dataclass(frozen=True)
class Shard:
    """The place of a call's queries and keys in a larger attention, to which masks, scores and readouts then refer.

    Args:
        first_key: the position of the call's first key in the whole attention.
        keys: the number of keys in the whole attention; if not given, it ends with the call's last key.
        first_query: the position of the call's first query in the whole attention.
        queries: the number of queries in the whole attention; if not given, it ends with the call's last query.

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
                raise ValueError(
                    worded("{name} must be a whole number, 0 or more, got {value!r}", name=name, value=value)
                )

    def of(self, queries: int, keys: int) -> tuple[int, int]:
        """The numbers of queries and keys in the whole attention, given the numbers in this shard."""
        totals = []
        for name, first, here, all_ in (
            ("queries", self.first_query, queries, self.queries),
            ("keys", self.first_key, keys, self.keys),
        ):
            whole = first + here if all_ is None else all_
            if whole < first + here:
                raise ValueError(
                    worded(
                        "shard must hold the {here} {name} given, from {first} on, got {whole} {name} in all",
                        here=here,
                        name=name,
                        first=first,
                        whole=whole,
                    )
                )
            totals.append(whole)
        return totals[0], totals[1]
