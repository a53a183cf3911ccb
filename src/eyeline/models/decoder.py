"""A Transformer decoder in plain NumPy: the Llama family, with causal attention.

Each layer is pre-norm: x + attention(norm(x)), then x + feed_forward(norm(x)). Source: Touvron et al., "LLaMA: Open and
Efficient Foundation Language Models" (2023), section 2.2; grouped heads: Ainslie et al. (2023); gated feed-forward:
Shazeer, "GLU Variants Improve Transformer" (2020).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eyeline.calls import observe
from eyeline.masks import Causal, Mask, Window
from eyeline.models.activations import ACTIVATIONS
from eyeline.models.cache import KeyValueCache
from eyeline.models.checkpoints import Array, StoredMatrix, StoredTensors
from eyeline.models.decoder_config import DecoderConfig
from eyeline.models.linear import Linear, join, read_linear, split
from eyeline.models.rotary import Rotary, Turn, rotate
from eyeline.models.run import Layer
from eyeline.readouts import Readout

#: The number of tokens that go through the feed-forward layer at a time, to limit the memory of its inner vectors.
TOGETHER = 1024


@dataclass(frozen=True)
class RootMeanSquareNorm:
    """Each vector divided by its root mean square, then scaled by learned weights. Zhang & Sennrich (2019)."""

    weight: Array
    epsilon: float

    def __call__(self, x: Array) -> Array:
        mean_square = np.square(x).mean(axis=-1, keepdims=True)
        normed: Array = x / np.sqrt(mean_square + np.float32(self.epsilon))
        normed *= self.weight
        return normed


@dataclass(frozen=True)
class FeedForward:
    """The gated feed-forward layer: down(activation(gate(x)) · up(x))."""

    gate: Linear
    up: Linear
    down: Linear
    activation: Callable[[Array], Array]

    def __call__(self, x: Array) -> Array:
        inner = self.activation(self.gate(x))
        inner *= self.up(x)
        return self.down(inner)


@dataclass(frozen=True)
class DecoderLayer:
    """A decoder layer."""

    heads: int
    key_heads: int
    window: int | None
    attention_norm: RootMeanSquareNorm
    query: Linear
    key: Linear
    value: Linear
    query_norm: RootMeanSquareNorm | None
    key_norm: RootMeanSquareNorm | None
    attended: Linear
    feed_forward_norm: RootMeanSquareNorm
    feed_forward: FeedForward

    def __call__(
        self,
        x: Array,
        turn: Turn,
        mask: Mask | None,
        scale: float | None,
        read: Sequence[Readout],
        cache: KeyValueCache | None,
    ) -> Layer:
        """Run the layer on tokens x, (B, N, width), at the positions of `turn`, after the tokens in the cache."""
        normed = self.attention_norm(x)
        q, k = split(self.query(normed), self.heads), split(self.key(normed), self.key_heads)
        v = split(self.value(normed), self.key_heads)
        q = rotate(q if self.query_norm is None else self.query_norm(q), turn)
        k = rotate(k if self.key_norm is None else self.key_norm(k), turn)
        if cache is not None:
            k, v = cache.append(k, v)
        back = self.looks_back(mask)
        seen = observe(q, k, v, mask=back, scale=scale, read=read)
        x = x + self.attended(join(seen.output))
        rows = x.reshape(-1, x.shape[-1])
        for first in range(0, len(rows), TOGETHER):
            some = rows[first : first + TOGETHER]
            some += self.feed_forward(self.feed_forward_norm(some))
        return Layer(q, k, v, seen, x, back)

    def looks_back(self, mask: Mask | None) -> Mask:
        """The layer's mask: causal, within the layer's window if it has one, and within `mask`."""
        seen: Mask = Causal(align="end")
        if self.window is not None:
            seen &= Window(before=self.window - 1, after=0, align="end")
        return seen if mask is None else seen & mask


@dataclass(frozen=True)
class Decoder:
    """The whole model."""

    words: StoredMatrix
    rotary: Rotary
    blocks: tuple[DecoderLayer, ...]
    norm: RootMeanSquareNorm
    unembedding: StoredMatrix | None

    def embed(self, ids: NDArray[np.int64]) -> Array:
        """The tokens' embeddings, (B, N, width)."""
        return self.words[ids]

    def layers(
        self,
        x: Array,
        mask: Mask | None,
        scale: float | None,
        read: Sequence[Readout] = (),
        caches: Sequence[KeyValueCache] | None = None,
    ) -> Iterator[Layer]:
        """Run the layers on embedded tokens x, (B, N, width), after the tokens in the caches; yields each layer."""
        turn = self.rotary.turn(caches[0].length if caches else 0, x.shape[1])
        for number, block in enumerate(self.blocks):
            layer = block(x, turn, mask, scale, read, caches[number] if caches else None)
            x = layer.state
            yield layer

    def caches(self) -> tuple[KeyValueCache, ...]:
        """An empty cache for each layer."""
        return tuple(KeyValueCache() for _ in self.blocks)

    def logits(self, state: Array) -> Array:
        """The logits of the next token, (..., vocabulary), from vectors after the last layer, (..., width)."""
        assert self.unembedding is not None
        return Linear(self.unembedding, None)(self.norm(state))


def read_decoder(path: Path, config: DecoderConfig) -> Decoder:
    """Read a decoder's weights from `path`, a model.safetensors or its index."""
    width, inner = config.width, config.feed_forward_width
    queries, keys = config.heads * config.head_dim, config.key_heads * config.head_dim
    tensors = StoredTensors(path, "model.")

    def norm(name: str, size: int = width) -> RootMeanSquareNorm:
        return RootMeanSquareNorm(tensors.vector(f"{name}.weight", size), config.norm_epsilon)

    def head_norm(name: str) -> RootMeanSquareNorm | None:
        return norm(name, config.head_dim) if config.head_norms else None

    def block(number: int) -> DecoderLayer:
        layer = f"layers.{number}."
        attention, feed_forward = f"{layer}self_attn.", f"{layer}mlp."

        def linear(name: str, outputs: int, inputs: int, bias: bool) -> Linear:
            return read_linear(tensors, name, outputs, inputs, bias=bias)

        return DecoderLayer(
            config.heads,
            config.key_heads,
            config.windows[number],
            norm(f"{layer}input_layernorm"),
            linear(f"{attention}q_proj", queries, width, config.attention_bias),
            linear(f"{attention}k_proj", keys, width, config.attention_bias),
            linear(f"{attention}v_proj", keys, width, config.attention_bias),
            head_norm(f"{attention}q_norm"),
            head_norm(f"{attention}k_norm"),
            linear(f"{attention}o_proj", width, queries, config.attended_bias),
            norm(f"{layer}post_attention_layernorm"),
            FeedForward(
                linear(f"{feed_forward}gate_proj", inner, width, config.feed_forward_bias),
                linear(f"{feed_forward}up_proj", inner, width, config.feed_forward_bias),
                linear(f"{feed_forward}down_proj", width, inner, config.feed_forward_bias),
                ACTIVATIONS[config.activation],
            ),
        )

    words = tensors.matrix("embed_tokens.weight", config.vocabulary_size, width)
    unembedding = words if config.tied else None
    if not config.tied and "lm_head.weight" in tensors:  # without an output matrix, a model can still be observed
        unembedding = tensors.matrix("lm_head.weight", config.vocabulary_size, width)
    blocks = tuple(block(number) for number in range(config.layers))
    return Decoder(words, config.rotary, blocks, norm("norm"), unembedding)
