"""Attention sinks: a logit per head that takes weight and has no value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import AttentionShape
from eyeline.scores.arrays import Parameter, array_of, check_heads, finite, held
from eyeline.scores.score import ALL, Score

Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False, eq=False)
class Sinks(Score):
    """A logit per head that joins the softmax's denominator and has no value, as in GPT-OSS.

    A row's weights then sum to less than 1; the rest is the sink's share, exp(logit - lse). Sinks come last among the
    modifiers, and no mask hides them: a query that may look at nothing gives all its weight to the sink.

    Args:
        logits: (H,), in natural units, like the scaled scores; -inf for a head without a sink.

    Raises:
        ValueError: if they aren't (H,), or are inf or NaN.

    Source: Xiao et al., "Efficient Streaming Language Models with Attention Sinks" (2024); OpenAI, gpt-oss (2025).

    >>> Sinks([0.0, 1.0])
    Sinks(2 heads)
    """

    logits: Parameter

    def __post_init__(self) -> None:
        object.__setattr__(self, "logits", held("logits", self.logits, ("H",)))

    def __repr__(self) -> str:
        return f"Sinks({len(self.logits)} heads)"

    def of(self, shape: AttentionShape) -> Array:
        """The logits as an array, (H,), checked."""
        check_heads("logits", len(self.logits), shape)
        logits = array_of(self.logits).astype(np.float64)
        finite("logits", logits[logits != -np.inf])
        return logits

    def apply(self, s: Any, shape: AttentionShape, queries: slice = ALL, keys: slice = ALL) -> Any:
        """The scores unchanged: a sink changes the softmax alone."""
        return s

    def check(self, shape: AttentionShape) -> None:
        self.of(shape)

    def pull_back(self, gradient: NDArray[Any], shape: AttentionShape) -> dict[str, Array]:
        return {"logits": np.asarray(gradient, np.float64)}
