"""Scores made all alike: what a uniform head is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import AttentionShape
from eyeline.scores.arrays import beside
from eyeline.scores.lowered import Flattened
from eyeline.scores.score import ALL, Score
from eyeline.words import worded


@dataclass(frozen=True, repr=False, eq=False)
class Flat(Score):
    """Some heads' scores become 0 wherever they aren't -inf, so that their weights are all alike.

    Args:
        heads: booleans, (B or 1, H): the heads.
    """

    heads: NDArray[np.bool_]
    constants = ("heads",)

    def __repr__(self) -> str:
        return f"Flat({int(self.heads.sum())} heads)"

    def apply(self, s: Any, shape: AttentionShape, queries: slice = ALL, keys: slice = ALL) -> Any:
        here = beside(s, self.heads.astype(np.int64))[..., None, None] != 0
        return s.where(~here | (s == -np.inf), 0.0) if hasattr(s, "where") else np.where(here & (s != -np.inf), 0.0, s)

    def check(self, shape: AttentionShape) -> None:
        B, H = self.heads.shape
        if B not in (1, shape.batch) or shape.heads != H:
            raise ValueError(
                worded(
                    "heads must be (B or 1, H) = ({batch}, {heads}), got {shape}",
                    batch=shape.batch,
                    heads=shape.heads,
                    shape=self.heads.shape,
                )
            )

    def lower(self, shape: AttentionShape) -> Flattened:
        self.check(shape)
        return Flattened(np.ascontiguousarray(self.heads, np.int8))
