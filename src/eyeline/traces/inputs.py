"""What a trace keeps of the layers' inputs: what goes into the projections, and what attention adds to the residual."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.models.network import Network
from eyeline.models.projections import HeadMatrices, Kind, attention_parts, embedding_parts

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
        words, positions: the embeddings of words and of positions, (N, narrow), whose sum is the first layer's input;
            None where a model has no such positions.
        norm_embedded: the name of the norm of that sum; None without.
    """

    layers: tuple[LayerInput, ...]
    find: Callable[[int, int], HeadMatrices] | None
    stored: Mapping[Place, HeadMatrices] = field(default_factory=dict)
    norm_before: str | None = None
    norm_after: str | None = None
    words: Array | None = None
    positions: Array | None = None
    norm_embedded: str | None = None

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
    """Keeps the inputs of one of Eyeline's networks while it runs.

    Args:
        network: the network.
        ids: the tokens that its queries are of; None if x isn't made of these tokens' embeddings.
        kind: which attention of an encoder-decoder.
    """

    def __init__(self, network: Network, ids: Sequence[int] | None, kind: Kind = "encoder") -> None:
        self._network, self._ids, self._kind = network, ids, kind
        self._layers: list[LayerInput] = []

    def add(self, residual: Array, output: Array, keys: Array | None = None) -> None:
        """Keep the next layer's.

        Args:
            residual: what attention adds to, (N, width).
            output: the heads' outputs, (H, N, E).
            keys: what keys and values are made of, (M, width), if that isn't what queries are made of.
        """
        parts = attention_parts(self._network, len(self._layers), self._kind)
        if parts is not None:
            x, added = parts.input(residual), parts.added(output)
            self._layers.append(LayerInput(x, residual, added, parts.lengths(output), keys))

    def kept(self, heads: Sequence[Place]) -> KeptInputs | None:
        """All that was kept, with the matrices of `heads`; None for a network whose parts aren't known."""
        if not self._layers:
            return None

        def find(layer: int, head: int) -> HeadMatrices:
            found = attention_parts(self._network, layer, self._kind)
            assert found is not None
            return found.head(head)

        parts = attention_parts(self._network, 0, self._kind)
        assert parts is not None
        embedded = None if self._ids is None else embedding_parts(self._network, np.asarray(self._ids, np.int64))
        return KeptInputs(
            tuple(self._layers),
            find,
            {place: find(*place) for place in heads if place[0] < len(self._layers)},
            parts.norm_before,
            parts.norm_after,
            *((None, None, None) if embedded is None else (embedded.words, embedded.positions, embedded.norm)),
        )
