"""The specification of a pass over the matrix, apart from its arrays."""

from __future__ import annotations

from dataclasses import dataclass, field

from eyeline import scores
from eyeline.masks import LoweredMask


@dataclass(frozen=True)
class AttentionSpec:
    """How scores become weights.

    Attributes:
        scale: the factor of q·k.
        mask: where a query may look at a key; everywhere if None.
        scores: the steps that change the scaled scores before the mask, and the sinks.
        dropout: the share p of weights that is dropped; the others are divided by 1 - p.
        seed: of dropout.
        first_query, first_key: the positions of the arrays' first query and key in the whole attention.
        queries, keys: their numbers in the whole attention; the arrays' own if None. `mask` covers the arrays' queries
            and all keys, with keys outside the arrays hidden; `scores` cover the whole.
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
