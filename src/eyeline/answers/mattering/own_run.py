"""Run one of Eyeline's own models with each head changed.

The model runs once, and the vectors before each layer are kept. At a layer, all its heads' outputs are computed once
as they are and once as changed, since heads of one layer don't depend on one another; the batch of the variants, each
with one head changed, then goes through what is left of the model. Layers before are not computed again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.mattering.changed_runs import Look
from eyeline.answers.mattering.measure import Array, EffectsOf
from eyeline.calls import observe
from eyeline.edits import Cut, Edit, Kind, ModelEdits
from eyeline.models import Layer, Model
from eyeline.models.decoder import Decoder
from eyeline.models.encoder import Encoder

#: The most tokens of a batch of variants, to limit memory.
TOGETHER = 4096


class OwnRun:
    """A run of one of Eyeline's models, and the runs in which something is changed.

    Args:
        model: an encoder or a decoder.
        ids: the text's tokens, N of them.
        rows: the tokens whose vectors after the last layer are needed: of a decoder, the last.
        edits: the run's own edits.

    Attributes:
        found: of a decoder the last token's logits, (1, vocabulary); of an encoder the rows' vectors, (1, rows, width).
    """

    def __init__(self, model: Model, ids: Sequence[int], rows: Sequence[int], edits: ModelEdits) -> None:
        assert isinstance(model.network, Encoder | Decoder)
        self._network: Encoder | Decoder = model.network
        self._rows, self._base = list(rows), edits
        self._kind: Kind = "decoder self" if model.config.causal else "encoder self"
        self._at = np.arange(len(ids))[None]
        self._states = [model.embed([list(ids)])]
        for layer in self._network.layers(self._states[0], None, None, edits=self._base, rows=self._rows):
            self._states.append(layer.state)
        self.found = self._outputs(self._states.pop())

    def of_heads(self, layer: int, changed: Edit, effects: EffectsOf) -> Array:
        """The effect of changing each head of a layer alone, (H,); see `ChangedRuns`."""
        own = self._layer(layer)
        outputs = self._edited(own, layer, [changed])

        def variant(head: int, into: NDArray[Any]) -> None:
            into[head] = outputs[head]

        return self._effects(layer, own, len(outputs), variant, effects)

    def of_looks(self, layer: int, looks: Sequence[Look], effects: EffectsOf) -> Array:
        """The effect of cutting each look of a layer alone, (looks,)."""
        own = self._layer(layer)
        rows: dict[int, NDArray[Any]] = {}
        # A cut changes only its own row of its own head: one pass takes as many as have rows apart.
        passes: dict[int, list[int]] = defaultdict(list)
        counts: dict[tuple[int, int], int] = defaultdict(int)
        for number, (head, query, _) in enumerate(looks):
            passes[counts[head, query]].append(number)
            counts[head, query] += 1
        for numbers in passes.values():
            cuts = [
                Cut(layer=layer, head=looks[number][0], queries=[looks[number][1]], keys=[looks[number][2]])
                for number in numbers
            ]
            outputs = self._edited(own, layer, cuts)
            for number in numbers:
                head, query, _ = looks[number]
                rows[number] = outputs[head, query].copy()

        def variant(number: int, into: NDArray[Any]) -> None:
            head, query, _ = looks[number]
            into[head, query] = rows[number]

        return self._effects(layer, own, len(looks), variant, effects)

    def _layer(self, layer: int) -> Layer:
        """The layer as it ran, of all tokens."""
        return next(self._network.layers(self._states[layer], None, None, edits=self._base, first=layer))

    def _edited(self, own: Layer, layer: int, changed: Sequence[Edit]) -> NDArray[Any]:
        """The heads' outputs, (H, N, D), with the run's edits and these."""
        edits = ModelEdits((*self._base.edits, *changed), self._base.sites).of_call(
            self._kind, layer, self._at, self._at
        )
        return np.asarray(observe(own.q, own.k, own.v, mask=own.mask, edits=edits or ()).output[0])

    def _effects(
        self,
        layer: int,
        own: Layer,
        count: int,
        variant: Callable[[int, NDArray[Any]], None],
        effects: EffectsOf,
    ) -> Array:
        """The effects of variants of the layer's heads' outputs, in batches of at most `TOGETHER` tokens."""
        found = np.empty(count)
        N = self._at.shape[1]
        together = max(1, TOGETHER // N)
        for first in range(0, count, together):
            numbers = range(first, min(first + together, count))
            outputs = np.repeat(own.output, len(numbers), axis=0)
            for place, number in enumerate(numbers):
                variant(number, outputs[place])
            found[first : first + together] = effects(self._after(layer, outputs))
        return found

    def _after(self, layer: int, outputs: NDArray[Any]) -> NDArray[Any]:
        """What is measured, after the heads' outputs of a layer, (B, H, N, D)."""
        x, rows = self._states[layer], self._rows
        block = self._network.blocks[layer]
        if layer == len(self._network.blocks) - 1:
            outputs, x = np.ascontiguousarray(outputs[:, :, rows]), x[:, rows]
        state = block.after(outputs, np.repeat(x, len(outputs), axis=0))
        for following in self._network.layers(state, None, None, edits=self._base, first=layer + 1, rows=rows):
            state = following.state
        return self._outputs(state)

    def _outputs(self, states: NDArray[Any]) -> NDArray[Any]:
        """What is `found`, of the rows' vectors after the last layer, (B, rows, width)."""
        return self._network.logits(states[:, -1]) if isinstance(self._network, Decoder) else states
