"""Run a model of transformers with each head changed: whole, in batches of copies of the text, since only the model
knows how its layers follow one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.mattering.changed_runs import Look
from eyeline.answers.mattering.measure import Array, EffectsOf
from eyeline.edits import Cut, Edit, Gate
from eyeline.traces import ReadText
from eyeline.traces.transformers_model import TransformersModel

#: The most copies of a text in a batch, and the most tokens of all of them.
_COPIES, _TOKENS = 16, 4096


class TransformersRun:
    """A run of a model of transformers, and the runs in which something is changed.

    Args:
        model: an encoder or a decoder.
        read: the text.
        rows: the tokens whose vectors after the last layer are needed; None for the last token's logits.
        edits: the run's own edits.

    Attributes:
        found: see `ChangedRuns`.
    """

    def __init__(
        self, model: TransformersModel, read: ReadText, rows: Sequence[int] | None, edits: Sequence[Edit]
    ) -> None:
        from eyeline.huggingface.model_inputs import as_tensors

        self._model, self._heads = model.model, model.heads
        self._inputs = as_tensors(model.model, read.inputs)
        self._rows, self._edits = None if rows is None else list(rows), tuple(edits)
        self._copies = max(1, min(_COPIES, _TOKENS // len(read.tokens) - 1))
        # A gate of 1 changes no bit, but the run itself then computes its attention as the others do.
        self._same = Gate(layer=0, head=0, by=1.0)
        self.found = self._passed([self._same])

    def of_heads(self, layer: int, changed: Edit, effects: EffectsOf) -> Array:
        """The effect of changing each head of a layer alone, (H,); see `ChangedRuns`."""
        return self._effects([replace(changed, head=head) for head in range(self._heads)], effects)

    def of_looks(self, layer: int, looks: Sequence[Look], effects: EffectsOf) -> Array:
        """The effect of cutting each look of a layer alone, (looks,)."""
        return self._effects(
            [Cut(layer=layer, head=head, queries=[query], keys=[key]) for head, query, key in looks], effects
        )

    def slopes(self, layers: int, id: int, rival: int | None) -> Array:
        """The slope of the next token's measure along each head's gate, (L, H)."""
        from eyeline.huggingface.changed_passes import gate_slopes

        return gate_slopes(self._model, self._inputs, self._edits, (layers, self._heads), id, rival)

    def _effects(self, changes: Sequence[Edit], effects: EffectsOf) -> Array:
        """The effect of each change alone. The run itself is one of each batch: the rounding of products, which differs
        with the size of a batch, then cancels."""
        found = []
        for first in range(0, len(changes), self._copies):
            some = [self._same, *changes[first : first + self._copies]]
            there = effects(self._passed(some))
            found.append(there[1:] - there[0])
        return np.concatenate([np.zeros(0), *found])

    def _passed(self, changes: Sequence[Edit]) -> NDArray[Any]:
        from eyeline.huggingface.changed_passes import changed_pass

        return changed_pass(self._model, self._inputs, [[*self._edits, one] for one in changes], self._rows)
