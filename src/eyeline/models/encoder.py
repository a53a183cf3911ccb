"""A Transformer encoder on NumPy arrays: embeddings, then layers of self-attention and feed-forward.

Each layer is post-norm: norm(x + attention(x)), then norm(x + feed_forward(x)). Source: Vaswani et al., "Attention Is
All You Need" (2017), section 3, in BERT's version: Devlin et al. (2018).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eyeline.calls import attention, observe
from eyeline.edits import CallEdits, ModelEdits
from eyeline.kernels.rowwise import layer_norm
from eyeline.masks import Mask
from eyeline.models.activations import ACTIVATIONS
from eyeline.models.checkpoints import Array, StoredMatrix, StoredTensors
from eyeline.models.families import EncoderConfig
from eyeline.models.linear import Linear, read_linear, read_linears, split_three
from eyeline.models.run import Layer
from eyeline.readouts import Readout


@dataclass(frozen=True)
class LayerNorm:
    """Layer norm: each vector shifted to mean 0 and scaled to variance 1, then by learned weights. Ba et al. (2016)."""

    weight: Array
    bias: Array
    epsilon: float

    def __call__(self, x: Array, residual: Array | None = None) -> Array:
        """The norm of x + residual, (..., width), in x's own memory."""
        return layer_norm(x, self.weight, self.bias, self.epsilon, residual=residual, out=x)


@dataclass(frozen=True)
class Embeddings:
    """The tokens' embeddings: word, plus position, to which the first token type is added already."""

    words: StoredMatrix
    positions: Array
    norm: LayerNorm
    project: Linear | None

    def __call__(self, ids: NDArray[np.int64], positions: NDArray[np.int64] | None) -> Array:
        placed = self.positions[: ids.shape[-1]] if positions is None else self.positions[positions]
        words = self.words[ids]
        x = self.norm(words, residual=np.broadcast_to(placed, words.shape))
        return x if self.project is None else self.project(x)


@dataclass(frozen=True)
class EncoderLayer:
    """An encoder layer."""

    heads: int
    query_key_value: Linear
    attended: Linear
    attended_norm: LayerNorm
    inner: Linear
    output: Linear
    output_norm: LayerNorm

    def __call__(
        self,
        x: Array,
        mask: Mask | None,
        scale: float | None,
        read: Sequence[Readout],
        edits: CallEdits | None = None,
        rows: Sequence[int] | None = None,
    ) -> Layer:
        """Run the layer on tokens x, (B, N, width); with `rows`, only these tokens' vectors are computed."""
        q, k, v = split_three(self.query_key_value(x), self.heads, self.heads)
        if rows is not None:
            q, x = q[:, :, rows], x[:, rows]
        seen = observe(q, k, v, mask=mask, scale=scale, read=read, edits=edits or ())
        return Layer(q, k, v, seen, self.after(seen.output, x), mask)

    def in_place(self, x: Array, mask: Mask | None, read: Sequence[Readout] | None, room: Room) -> Layer | None:
        """As a call, in the memory of x and `room`; None if `read` is None."""
        q, k, v = split_three(self.query_key_value(x, out=room.query_key_value), self.heads, self.heads)
        seen = None if read is None else observe(q, k, v, mask=mask, read=read)
        self.after(attention(q, k, v, mask=mask) if seen is None else seen.output, x, out=x, inner=room.inner)
        return None if seen is None else Layer(q, k, v, seen, x, mask)

    def after(self, attended: Array, x: Array, out: Array | None = None, inner: Array | None = None) -> Array:
        """What follows the heads' outputs, (B, H, N, D): residual and norm, then the feed-forward layer's."""
        x = self.attended_norm(self.attended.of_heads(attended, residual=x, out=out))
        return self.output_norm(self.output(self.inner(x, out=inner), residual=x, out=x))


@dataclass(frozen=True)
class Room:
    """Memory that one layer uses after the other."""

    query_key_value: Array
    inner: Array


@dataclass(frozen=True)
class Encoder:
    """The whole model."""

    embeddings: Embeddings
    blocks: tuple[EncoderLayer, ...]

    @property
    def words(self) -> StoredMatrix:
        """The embedding matrix, a row for each token id."""
        return self.embeddings.words

    def embed(self, ids: NDArray[np.int64], positions: NDArray[np.int64] | None = None) -> Array:
        """The tokens' embeddings, (B, N, width); their positions, (N,), are 0, 1, 2, … if not given."""
        return self.embeddings(ids, positions)

    def layers(
        self,
        x: Array,
        mask: Mask | None,
        scale: float | None,
        read: Sequence[Readout] = (),
        *,
        edits: ModelEdits | None = None,
        first: int = 0,
        rows: Sequence[int] | None = None,
    ) -> Iterator[Layer]:
        """Run the layers from `first` on, on tokens x, (B, N, width), embedded or as the layer before left them; yields
        each layer. With `rows`, the last layer is of these tokens alone, and `mask` must be None."""
        at = np.arange(x.shape[1])[None]
        for number, block in enumerate(self.blocks[first:], first):
            only = rows if number == len(self.blocks) - 1 else None
            queries = at if only is None else at[:, only]
            own = edits.of_call("encoder self", number, queries, at) if edits else None
            layer = block(x, mask, scale, read, own, only)
            x = layer.state
            yield layer

    def in_place(self, x: Array, mask: Mask | None, read: Sequence[Readout] | None) -> Iterator[Layer | None]:
        """As `layers`, in the memory of x, which the tokens' vectors after the last layer are in at the end.

        Yields each layer, None if `read` is None; all but its observation is valid until the next is asked for.
        """
        first = self.blocks[0]
        widths = first.query_key_value.outputs, first.inner.outputs
        room = Room(*(np.empty((*x.shape[:2], width), np.float32) for width in widths))
        for block in self.blocks:
            yield block.in_place(x, mask, read, room)


def read_encoder(path: Path, config: EncoderConfig) -> Encoder:
    """Read an encoder's weights from `path`, a model.safetensors or its index."""
    family, width = config.family, config.width
    tensors = StoredTensors(path, family.prefix)

    def linear(name: str, outputs: int, inputs: int, activation: str | None = None) -> Linear:
        return read_linear(tensors, name, outputs, inputs, activation=activation)

    def norm(name: str, size: int) -> LayerNorm:
        return LayerNorm(
            tensors.vector(f"{name}.weight", size), tensors.vector(f"{name}.bias", size), config.norm_epsilon
        )

    # ELECTRA's smaller models have narrower embeddings, and widen them before the first layer.
    _, narrow = tensors.shape("embeddings_project.weight", (width, width))
    first, last = config.first_position, config.first_position + config.positions
    positions = tensors.matrix("embeddings.position_embeddings.weight", last, narrow).whole[first:]
    if config.token_types:  # DistilBERT has none
        kinds = tensors.matrix("embeddings.token_type_embeddings.weight", config.token_types, narrow)
        positions = positions + kinds.whole[0]
    embeddings = Embeddings(
        tensors.matrix("embeddings.word_embeddings.weight", config.vocabulary_size, narrow),
        positions,
        norm("embeddings.LayerNorm", narrow),
        linear("embeddings_project", width, narrow) if narrow != width else None,
    )

    def block(number: int) -> EncoderLayer:
        name = {part: family.stack.format(number) + theirs for part, theirs in family.parts.items()}
        return EncoderLayer(
            config.heads,
            read_linears(tensors, {name[part]: width for part in ("query", "key", "value")}, width),
            linear(name["attended"], width, width),
            norm(name["attended_norm"], width),
            linear(name["inner"], config.feed_forward_width, width, ACTIVATIONS[config.activation]),
            linear(name["output"], width, config.feed_forward_width),
            norm(name["output_norm"], width),
        )

    return Encoder(embeddings, tuple(block(number) for number in range(config.layers)))
