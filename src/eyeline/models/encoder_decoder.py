"""The first Transformer, an encoder and a decoder, on NumPy arrays: it reads tokens, then writes others one by one.

Each layer is post-norm: norm(x + attention(x)), in the decoder norm(x + cross_attention(x, context)), then norm(x +
feed_forward(x)). One matrix holds the embeddings and, transposed, gives the logits. Source: Vaswani et al., "Attention
Is All You Need" (2017), section 3. `examples/dates.py` trains one with torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eyeline.calls import observe
from eyeline.edits import CallEdits, ModelEdits
from eyeline.masks import Causal, Mask
from eyeline.models.activations import ACTIVATIONS
from eyeline.models.checkpoints import Array, StoredMatrix, StoredTensors
from eyeline.models.encoder import EncoderLayer, LayerNorm
from eyeline.models.encoder_decoder_config import EncoderDecoderConfig
from eyeline.models.linear import Linear, read_linear, read_linears, split, split_three
from eyeline.models.run import Layer
from eyeline.readouts import Readout


@dataclass(frozen=True)
class CrossDecoderLayer:
    """A decoder layer: causal self-attention, cross-attention and feed-forward."""

    heads: int
    query_key_value: Linear
    attended: Linear
    attended_norm: LayerNorm
    cross_query: Linear
    cross_key_value: Linear
    crossed: Linear
    crossed_norm: LayerNorm
    inner: Linear
    output: Linear
    output_norm: LayerNorm

    def __call__(
        self, x: Array, context: Array, own: CallEdits | None = None, across: CallEdits | None = None
    ) -> tuple[Layer, Layer]:
        """Run the layer on tokens x, (B, N, width), that look at the encoder's, (B, M, width).

        Args:
            own, across: what is changed in its self-attention and in its cross-attention.

        Returns:
            Its self-attention and its cross-attention; the state of both is each token's vector after the layer.
        """
        mask = Causal()
        q, k, v = split_three(self.query_key_value(x), self.heads, self.heads)
        attended = observe(q, k, v, mask=mask, edits=own or ())
        x = self.attended_norm(self.attended.of_heads(attended.output, residual=x))

        cross_q = split(self.cross_query(x), self.heads)
        both = split(self.cross_key_value(context), 2 * self.heads)
        cross_k, cross_v = both[:, : self.heads], both[:, self.heads :]
        crossed = observe(cross_q, cross_k, cross_v, edits=across or ())
        x = self.crossed_norm(self.crossed.of_heads(crossed.output, residual=x))

        x = self.output_norm(self.output(self.inner(x), residual=x))
        return Layer(q, k, v, attended, x, mask), Layer(cross_q, cross_k, cross_v, crossed, x)


@dataclass(frozen=True)
class EncoderDecoder:
    """The whole model. As a `Network` it is its encoder."""

    words: StoredMatrix
    positions: Array
    encoder: tuple[EncoderLayer, ...]
    decoder: tuple[CrossDecoderLayer, ...]
    unembedding: Linear

    def embed(self, ids: NDArray[np.int64]) -> Array:
        """The tokens' embeddings times √width, plus their positions, (B, N, width)."""
        width = self.positions.shape[1]
        x: Array = self.words[ids] * np.float32(width**0.5) + self.positions[: ids.shape[1]]
        return x

    def layers(
        self,
        x: Array,
        mask: Mask | None,
        scale: float | None,
        read: Sequence[Readout] = (),
        *,
        edits: ModelEdits | None = None,
        first: int = 0,
    ) -> Iterator[Layer]:
        """Run the encoder's layers from `first` on, on tokens x, (B, N, width); yields each layer."""
        at = np.arange(x.shape[1])[None]
        for number, block in enumerate(self.encoder[first:], first):
            layer = block(x, mask, scale, read, edits.of_call("encoder self", number, at, at) if edits else None)
            x = layer.state
            yield layer

    def context(self, ids: NDArray[np.int64], edits: ModelEdits | None = None) -> Array:
        """The encoder's vectors of the tokens that are read, (B, M, width)."""
        x = self.embed(ids)
        for layer in self.layers(x, None, None, edits=edits):
            x = layer.state
        return x

    def decoder_layers(
        self, x: Array, context: Array, edits: ModelEdits | None = None
    ) -> Iterator[tuple[Layer, Layer]]:
        """Run the decoder's layers on embedded tokens x, (B, N, width), that look at the encoder's vectors, (B, M,
        width); yields each layer's self-attention and cross-attention."""
        at, read = (np.arange(vectors.shape[1])[None] for vectors in (x, context))
        for number, block in enumerate(self.decoder):
            own = edits.of_call("decoder self", number, at, at) if edits else None
            across = edits.of_call("cross", number, at, read) if edits else None
            attended, crossed = block(x, context, own, across)
            x = crossed.state
            yield attended, crossed

    def logits(self, state: Array) -> Array:
        """The logits of the token that each position writes, (..., vocabulary), from the vectors after the decoder's
        last layer, (..., width)."""
        return self.unembedding(state)

    def write(self, context: Array, start: int, end: int, most: int, edits: ModelEdits | None = None) -> list[int]:
        """Write tokens, the likeliest each time, to `end`.

        Args:
            context: the encoder's vectors of one text, (1, M, width).
            start: the token before the first.
            end: the token after the last, which is written too.
            most: the most tokens to write.
            edits: what is changed in the decoder.
        """
        ids = [start]
        while len(ids) <= most and ids[-1] != end:
            x = self.embed(np.array([ids]))
            for _, crossed in self.decoder_layers(x, context, edits):
                x = crossed.state
            ids.append(int(self.logits(x[0, -1]).argmax()))
        return ids[1:]


def sinusoids(positions: int, width: int) -> Array:
    """The positions' vectors, (positions, width): of each angle its sine, then its cosine; the angles grow by 1 to
    1/10000 radians a position."""
    angles = np.arange(positions)[:, None] * 10_000.0 ** (-np.arange(0, width, 2) / width)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(positions, -1)[:, :width].astype(np.float32)


def read_encoder_decoder(path: Path, config: EncoderDecoderConfig) -> EncoderDecoder:
    """Read an encoder-decoder's weights from `path`, a model.safetensors or its index."""
    tensors, width, inner = StoredTensors(path), config.width, config.feed_forward_width

    def together(layer: str, *parts: str) -> Linear:
        return read_linears(tensors, {f"{layer}.{part}": width for part in parts}, width)

    def linear(name: str) -> Linear:
        return read_linear(tensors, name, width, width)

    def norm(name: str) -> LayerNorm:
        weight, bias = (tensors.vector(f"{name}.{part}", width) for part in ("weight", "bias"))
        return LayerNorm(weight, bias, config.norm_epsilon)

    def feed_forward(layer: str) -> tuple[Linear, Linear, LayerNorm]:
        first, last = f"{layer}.feed_forward.0", f"{layer}.feed_forward.2"  # 1 is the activation
        widened = read_linear(tensors, first, inner, width, activation=ACTIVATIONS[config.activation])
        return widened, read_linear(tensors, last, width, inner), norm(f"{layer}.output_norm")

    def self_attention(layer: str) -> tuple[int, Linear, Linear, LayerNorm]:
        projections = together(f"{layer}.attention", "query", "key", "value")
        return config.heads, projections, linear(f"{layer}.attention.output"), norm(f"{layer}.attention_norm")

    def encoder_layer(layer: str) -> EncoderLayer:
        return EncoderLayer(*self_attention(layer), *feed_forward(layer))

    def decoder_layer(layer: str) -> CrossDecoderLayer:
        return CrossDecoderLayer(
            *self_attention(layer),
            linear(f"{layer}.cross.query"),
            together(f"{layer}.cross", "key", "value"),
            linear(f"{layer}.cross.output"),
            norm(f"{layer}.cross_norm"),
            *feed_forward(layer),
        )

    words = tensors.matrix("letters.weight", config.vocabulary_size, width)
    return EncoderDecoder(
        words,
        sinusoids(config.positions, width),
        tuple(encoder_layer(f"encoder.{number}") for number in range(config.layers)),
        tuple(decoder_layer(f"decoder.{number}") for number in range(config.decoder_layers)),
        Linear([words], [None]),
    )
