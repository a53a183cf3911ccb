"""Masks of padded batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.masks.counts import short, whole
from eyeline.masks.lowered import LoweredMask, one_interval
from eyeline.masks.mask import Mask
from eyeline.masks.shape import AttentionShape
from eyeline.words import worded


@dataclass(frozen=True, slots=True, init=False)
class Padding(Mask):
    """The real lengths of a padded batch: no query looks at padded keys, and padded queries look at nothing.

    Padding costs no work; a padded query's row of the result is zero.

    Args:
        lengths: one whole number per batch element, for queries and keys alike.
        queries: the real number of queries per batch element, where it differs from the number of keys
            (cross-attention); all if not given.
        keys: the real number of keys per batch element; all if not given.
        side: where the padding is, "right" (after the tokens) or "left" (before them).

    >>> Padding([1, 2]).dense(2, batch=2)[:, 0].astype(int)
    array([[[1, 0],
            [0, 0]],
    <BLANKLINE>
           [[1, 1],
            [1, 1]]])
    """

    queries: tuple[int, ...] | None
    keys: tuple[int, ...] | None
    side: Literal["right", "left"]

    def __init__(
        self,
        lengths: ArrayLike | None = None,
        *,
        queries: ArrayLike | None = None,
        keys: ArrayLike | None = None,
        side: Literal["right", "left"] = "right",
    ) -> None:
        if (lengths is None) == (queries is None and keys is None):
            raise ValueError(
                worded(
                    "lengths must be given alone, or else queries= and keys=, got {given}",
                    given=worded("neither") if lengths is None else worded("both"),
                )
            )
        if side not in ("right", "left"):
            raise ValueError(worded('side must be "right" or "left", got {side!r}', side=side))
        given = {"queries": queries, "keys": keys} if lengths is None else {"lengths": lengths}
        counts = {name: None if value is None else whole(name, value) for name, value in given.items()}
        object.__setattr__(self, "queries", counts.get("lengths", counts.get("queries")))
        object.__setattr__(self, "keys", counts.get("lengths", counts.get("keys")))
        object.__setattr__(self, "side", side)

    def __repr__(self) -> str:
        side = "" if self.side == "right" else f", side={self.side!r}"
        if self.queries == self.keys:
            assert self.keys is not None
            return f"Padding({short(self.keys)}{side})"
        parts = [
            f"{name}={short(value)}"
            for name, value in (("queries", self.queries), ("keys", self.keys))
            if value is not None
        ]
        return f"Padding({', '.join(parts)}{side})"

    def _ranges(
        self, values: tuple[int, ...] | None, count: int, batch: int, name: str
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """The real positions [first, last) of each batch element, each (B or 1,)."""
        if values is None:
            return np.zeros(1, np.int64), np.full(1, count)
        if len(values) not in (1, batch):
            raise ValueError(
                worded(
                    "lengths must have one number per batch element ({batch}), got {count}: {value!r}",
                    batch=batch,
                    count=len(values),
                    value=self,
                )
            )
        if max(values, default=0) > count:
            raise ValueError(
                worded(
                    "lengths must be at most the number of {name}, {count}, got {max}: {value!r}",
                    name=name,
                    count=count,
                    max=max(values),
                    value=self,
                )
            )
        real = np.array(values, np.int64)
        return (np.zeros_like(real), real) if self.side == "right" else (count - real, np.full_like(real, count))

    def rule(self, shape: AttentionShape) -> NDArray[np.bool_]:
        (qa, qe), (ka, ke) = (self._ranges(*which) for which in self._sides(shape))
        i, j = np.arange(shape.queries), np.arange(shape.keys)
        looks = (qa[:, None] <= i) & (i < qe[:, None])
        seen = (ka[:, None] <= j) & (j < ke[:, None])
        result: NDArray[np.bool_] = (looks[:, :, None] & seen[:, None, :])[:, None]
        return result

    def lower(self, shape: AttentionShape) -> LoweredMask:
        (qa, qe), (ka, ke) = (self._ranges(*which) for which in self._sides(shape))
        i = np.arange(shape.queries)
        looks = (qa[:, None] <= i) & (i < qe[:, None])
        return one_interval(
            np.where(looks, ka[:, None], 0)[:, None], np.where(looks, ke[:, None], 0)[:, None], shape.keys
        )

    def _sides(self, shape: AttentionShape) -> tuple[tuple[tuple[int, ...] | None, int, int, str], ...]:
        return (self.queries, shape.queries, shape.batch, "queries"), (
            self.keys,
            shape.keys,
            shape.batch,
            "keys",
        )
