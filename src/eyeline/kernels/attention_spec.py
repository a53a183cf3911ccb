"""What a pass over the matrix is told beside its arrays."""

from __future__ import annotations

from dataclasses import dataclass, field

from eyeline import scores
from eyeline.masks import LoweredMask


@dataclass(frozen=True)
class AttentionSpec:
    """How scores become weights.

    Attributes:
        scale: what q·k is multiplied by.
        mask: where a query may look at a key; everywhere if None.
        scores: the steps that change the scaled scores before the mask, and the sinks.
        dropout: the share of weights that is dropped, those left being divided by what is left of 1.
        seed: which ones.
        first_query, first_key: the numbers of the first query and key that are here, among all.
        queries, keys: how many there are in all; as many as are here if None. `mask` has the queries that are here, and
            all keys, of which it hides those that aren't here; `scores` have all.
    """

    scale: float
    mask: LoweredMask | None = None
    scores: scores.LoweredScores = field(default_factory=scores.LoweredScores)
    dropout: float = 0.0
    seed: int = 0
    first_query: int = 0
    first_key: int = 0
    queries: int | None = None
    keys: int | None = None
