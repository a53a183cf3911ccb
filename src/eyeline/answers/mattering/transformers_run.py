"""Run a model of transformers with each head changed: whole, once for each head, since only the model knows how its
layers follow one another."""

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
        # A gate of 1 changes no bit, but the run itself then computes its attention as the others do.
        self.found = self._passed(Gate(layer=0, head=0, by=1.0))

    def of_heads(self, layer: int, changed: Edit, effects: EffectsOf) -> Array:
        """The effect of changing each head of a layer alone, (H,); see `ChangedRuns`."""
        return np.array([float(effects(self._passed(replace(changed, head=head)))[0]) for head in range(self._heads)])

    def of_looks(self, layer: int, looks: Sequence[Look], effects: EffectsOf) -> Array:
        """The effect of cutting each look of a layer alone, (looks,)."""
        cuts = [Cut(layer=layer, head=head, queries=[query], keys=[key]) for head, query, key in looks]
        return np.array([float(effects(self._passed(cut))[0]) for cut in cuts])

    def slopes(self, layers: int, id: int, rival: int | None) -> Array:
        """The slope of the next token's measure along each head's gate, (L, H)."""
        from eyeline.huggingface.changed_passes import gate_slopes

        return gate_slopes(self._model, self._inputs, self._edits, (layers, self._heads), id, rival)

    def _passed(self, changed: Edit) -> NDArray[Any]:
        from eyeline.huggingface.changed_passes import changed_pass

        return changed_pass(self._model, self._inputs, [*self._edits, changed], self._rows)
