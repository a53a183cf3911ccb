"""A Transformer decoder on NumPy arrays: the Llama family, with causal attention.

Each layer is pre-norm: x + attention(norm(x)), then x + feed_forward(norm(x)). Source: Touvron et al., "LLaMA: Open and
Efficient Foundation Language Models" (2023), section 2.2; grouped heads: Ainslie et al. (2023); gated feed-forward:
Shazeer, "GLU Variants Improve Transformer" (2020).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eyeline.calls import observe
from eyeline.edits import CallEdits, ModelEdits
from eyeline.kernels.rowwise import root_mean_square_norm, rotate
from eyeline.masks import Causal, Mask, Window
from eyeline.models.activations import ACTIVATIONS
from eyeline.models.cache import KeyValueCache
from eyeline.models.checkpoints import Array, StoredMatrix, StoredTensors
from eyeline.models.decoder_config import DecoderConfig
from eyeline.models.linear import Linear, read_linear, read_linears, split_three
from eyeline.models.rotary import Rotary, Turn
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
        return root_mean_square_norm(x, self.weight, self.epsilon)

    def of_heads(self, x: Array) -> Array:
        """The norm of each head's vectors, (B, H, N, D)."""
        return self(x.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)


@dataclass(frozen=True)
class DecoderLayer:
    """A decoder layer."""

    heads: int
    key_heads: int
    window: int | None
    attention_norm: RootMeanSquareNorm
    query_key_value: Linear
    query_norm: RootMeanSquareNorm | None
    key_norm: RootMeanSquareNorm | None
    attended: Linear
    feed_forward_norm: RootMeanSquareNorm
    inner: Linear
    output: Linear

    def __call__(
        self,
        x: Array,
        turn: Turn,
        mask: Mask | None,
        scale: float | None,
        read: Sequence[Readout],
        cache: KeyValueCache | None,
        edits: CallEdits | None = None,
        rows: Sequence[int] | None = None,
    ) -> Layer:
        """Run the layer on tokens x, (B, N, width), at the positions of `turn`, after the tokens in the cache; with
        `rows`, which must be the last ones, only these tokens' vectors are computed."""
        q, k, v = split_three(self.query_key_value(self.attention_norm(x)), self.heads, self.key_heads)
        if self.query_norm is not None and self.key_norm is not None:
            q, k = self.query_norm.of_heads(q), self.key_norm.of_heads(k)
        q, k = rotate(q, *turn, out=q), rotate(k, *turn, out=k)
        if cache is not None:
            k, v = cache.append(k, v)
        if rows is not None:
            q, x = q[:, :, rows], x[:, rows]
        back = self.looks_back(mask)
        seen = observe(q, k, v, mask=back, scale=scale, read=read, edits=edits or ())
        return Layer(q, k, v, seen, self.after(seen.output, x), back)

    def after(self, attended: Array, x: Array) -> Array:
        """What follows the heads' outputs, (B, H, N, D): residual, then the feed-forward layer's."""
        x = self.attended.of_heads(attended, residual=x)
        rows = x.reshape(-1, x.shape[-1])
        for first in range(0, len(rows), TOGETHER):
            some = rows[first : first + TOGETHER]
            self.output(self.inner(self.feed_forward_norm(some)), residual=some, out=some)
        return x

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
    unembedding: Linear | None

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
        positions: NDArray[np.int64] | None = None,
        *,
        edits: ModelEdits | None = None,
        first: int = 0,
        rows: Sequence[int] | None = None,
    ) -> Iterator[Layer]:
        """Run the layers from `first` on, on tokens x, (B, N, width), embedded or as the layer before left them, after
        the tokens in the caches; yields each layer.

        Their positions, (N,), are those after the caches' tokens if not given. With `rows`, the last layer is of
        these tokens alone, which must be the last ones, and `mask` must be None.
        """
        before = caches[0].length if caches else 0
        at = np.arange(before, before + x.shape[1])[None] if positions is None else positions[None]
        keys = np.arange(before + x.shape[1])[None] if positions is None else at
        turn = self.rotary.turn(before, x.shape[1]) if positions is None else self.rotary.turn_at(positions)
        for number, block in enumerate(self.blocks[first:], first):
            only = rows if number == len(self.blocks) - 1 else None
            queries = at if only is None else at[:, only]
            own = edits.of_call("decoder self", number, queries, keys) if edits else None
            layer = block(x, turn, mask, scale, read, caches[number] if caches else None, own, only)
            x = layer.state
            yield layer

    def caches(self) -> tuple[KeyValueCache, ...]:
        """An empty cache for each layer."""
        return tuple(KeyValueCache() for _ in self.blocks)

    def logits(self, state: Array) -> Array:
        """The logits of the next token, (..., vocabulary), from vectors after the last layer, (..., width)."""
        assert self.unembedding is not None
        return self.unembedding(self.norm(state))


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

        return DecoderLayer(
            config.heads,
            config.key_heads,
            config.windows[number],
            norm(f"{layer}input_layernorm"),
            read_linears(
                tensors,
                {f"{attention}q_proj": queries, f"{attention}k_proj": keys, f"{attention}v_proj": keys},
                width,
                bias=config.attention_bias,
            ),
            head_norm(f"{attention}q_norm"),
            head_norm(f"{attention}k_norm"),
            read_linear(tensors, f"{attention}o_proj", width, queries, bias=config.attended_bias),
            norm(f"{layer}post_attention_layernorm"),
            read_linears(
                tensors,
                {f"{feed_forward}gate_proj": inner, f"{feed_forward}up_proj": inner},
                width,
                bias=config.feed_forward_bias,
                activation=ACTIVATIONS[config.activation],
                gated=True,
            ),
            read_linear(tensors, f"{feed_forward}down_proj", width, inner, bias=config.feed_forward_bias),
        )

    words = tensors.matrix("embed_tokens.weight", config.vocabulary_size, width)
    unembedding = words if config.tied else None
    if not config.tied and "lm_head.weight" in tensors:  # without an output matrix, a model can still be observed
        unembedding = tensors.matrix("lm_head.weight", config.vocabulary_size, width)
    blocks = tuple(block(number) for number in range(config.layers))
    output = None if unembedding is None else Linear([unembedding], [None])
    return Decoder(words, config.rotary, blocks, norm("norm"), output)
