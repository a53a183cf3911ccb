"""The interface of a run of a model, and of the runs in which something is changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from eyeline.answers.mattering.measure import Array, EffectsOf
from eyeline.edits import Edit

#: A look of a head: (head, query, key).
Look = tuple[int, int, int]


class ChangedRuns(Protocol):
    """A run of a model, and the runs in which something is changed: `OwnRun` or `TransformersRun`.

    Attributes:
        found: what is measured of the run itself: of a decoder the last token's logits, (1, vocabulary); of an encoder
            some tokens' vectors after the last layer, (1, rows, width).
    """

    found: NDArray[Any]

    def of_heads(self, layer: int, changed: Edit, effects: EffectsOf) -> Array:
        """The effect of changing each head of a layer alone, (H,).

        Args:
            layer: the layer.
            changed: the edit of all its heads.
            effects: gives the effects, (B,), of what was `found` in a batch of runs.
        """

    def of_looks(self, layer: int, looks: Sequence[Look], effects: EffectsOf) -> Array:
        """The effect of cutting each look of a layer alone, (looks,)."""
