"""What a trace keeps of the layers' inputs: what goes into the projections, and what attention adds to the residual."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.models import Model
from eyeline.models.projections import HeadMatrices, attention_parts, embedding_parts

Array = NDArray[Any]
Place = tuple[int, int]


@dataclass(frozen=True, eq=False)
class LayerInput:
    """The vectors around one layer's attention, float32.

    Attributes:
        x: what its projections take, (N, width).
        residual: what its output is added to, (N, width): x itself, unless a norm comes between.
        added: its output, after the matrix that joins the heads and its bias, (N, width).
        lengths: the length of each head's part of that, (H, N); vectors that point apart have lengths that don't add
            up.
        keys: what its keys and values are made of, (M, width); None if that is x.
    """

    x: Array
    residual: Array
    added: Array
    lengths: Array
    keys: Array | None = None


@dataclass(frozen=True, eq=False)
class KeptInputs:
    """The inputs of all layers, and where the matrices are.

    Attributes:
        layers: each layer's vectors.
        find: the matrices of a head, (layer, head), of the model that ran; None if only `stored` has any.
        stored: the matrices at hand: those of a file, and those that its file is to have.
        norm_before, norm_after: the names of the norms before the projections, and after the residual sum.
        words, positions: the embeddings of words and of positions, (N, narrow), whose normed sum is the first layer's
            input; None where a model has no such positions.
    """

    layers: tuple[LayerInput, ...]
    find: Callable[[int, int], HeadMatrices] | None
    stored: Mapping[Place, HeadMatrices] = field(default_factory=dict)
    norm_before: str | None = None
    norm_after: str | None = None
    words: Array | None = None
    positions: Array | None = None

    @property
    def heads(self) -> Literal["all"] | tuple[Place, ...]:
        """The heads whose matrices can be had."""
        return "all" if self.find is not None else tuple(self.stored)

    @property
    def nbytes(self) -> int:
        """The size of the vectors in bytes; the matrices are the model's."""
        arrays = {id(array): array for layer in self.layers for array in vars(layer).values() if array is not None}
        return sum(array.nbytes for array in arrays.values())

    def matrices(self, layer: int, head: int) -> HeadMatrices | None:
        """A head's matrices; None if they can't be had."""
        kept = self.stored.get((layer, head))
        return kept if kept is not None or self.find is None else self.find(layer, head)


class InputRecorder:
    """Keeps the inputs of a model of Eyeline's while it runs.

    Args:
        model: the model.
        ids: the text's tokens.
    """

    def __init__(self, model: Model, ids: Sequence[int]) -> None:
        self._network, self._ids = model.network, np.asarray(ids, np.int64)
        self._state = model.embed([ids])[0]
        self._layers: list[LayerInput] = []

    def add(self, output: Array, state: Array) -> None:
        """Keep the next layer's, given the heads' outputs, (H, N, E), and the vectors after it, (N, width)."""
        parts = attention_parts(self._network, len(self._layers))
        if parts is None:
            return
        residual, self._state = self._state, np.array(state)
        added, lengths = parts.added(output), parts.lengths(output)
        self._layers.append(LayerInput(parts.input(residual), residual, added, lengths))

    def kept(self, heads: Sequence[Place]) -> KeptInputs | None:
        """All that was kept, with the matrices of `heads`; None for a network whose parts aren't known."""
        if not self._layers:
            return None

        def find(layer: int, head: int) -> HeadMatrices:
            found = attention_parts(self._network, layer)
            assert found is not None
            return found.head(head)

        parts = attention_parts(self._network, 0)
        assert parts is not None
        embedding = embedding_parts(self._network, self._ids) or (None, None)
        return KeptInputs(
            tuple(self._layers),
            find,
            {place: find(*place) for place in heads},
            parts.norm_before,
            parts.norm_after,
            *embedding,
        )
