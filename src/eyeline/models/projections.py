"""A layer's projections, head by head: the matrices that make q, k and v of its input, and the one after the heads.

`AttentionParts` finds them in a layer; `HeadMatrices` holds one head's, and computes q, k and v by the textbook.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.models.checkpoints import Array
from eyeline.models.decoder import Decoder, RootMeanSquareNorm
from eyeline.models.encoder import Encoder
from eyeline.models.encoder_decoder import EncoderDecoder
from eyeline.models.linear import Linear
from eyeline.models.network import Network
from eyeline.models.rotary import Rotary

#: The attention of an encoder; of a decoder's own tokens; of a decoder's tokens at an encoder's.
Kind = Literal["encoder", "decoder", "cross"]


@dataclass(frozen=True, eq=False)
class HeadMatrices:
    """The projections of one head, as W·x + b takes them.

    Attributes:
        W_q, W_k, W_v: (D, width), (D, width) and (E, width), float32; the key head's where several heads share one.
        b_q, b_k, b_v: (D,), (D,) and (E,); None if the model has no biases.
        W_o: the head's columns of the matrix after the heads, (width, E).
        b_o: its bias, (width,), which all heads share; None if there is none.
        rotary: the speeds at which pairs of a query's or key's numbers turn with its position, in radians per token,
            (D/2,); None if they don't.
        q_norm, k_norm: the weights, (D,), of the root-mean-square norm of queries and of keys (Qwen 3); None without.
        epsilon: what that norm adds to the mean square.
    """

    W_q: Array
    b_q: Array | None
    W_k: Array
    b_k: Array | None
    W_v: Array
    b_v: Array | None
    W_o: Array
    b_o: Array | None
    rotary: Array | None = None
    q_norm: Array | None = None
    k_norm: Array | None = None
    epsilon: float = 0.0

    def query(self, x: Array, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """The queries, (n, D), of inputs x, (n, width), at these positions, (n,): in float64."""
        return self._placed(_product(x, self.W_q, self.b_q), self.q_norm, positions)

    def key(self, x: Array, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """The keys, (n, D), likewise."""
        return self._placed(_product(x, self.W_k, self.b_k), self.k_norm, positions)

    def value(self, x: Array) -> NDArray[np.float64]:
        """The values, (n, E), of inputs x, (n, width): in float64."""
        return _product(x, self.W_v, self.b_v)

    def _placed(self, x: NDArray[np.float64], norm: Array | None, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Normed, then turned, as far as the model does either."""
        if norm is not None:
            x = x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + self.epsilon) * norm
        return self.turned(x, positions)

    def turned(self, x: NDArray[np.float64], positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Queries or keys, (…, n, D), turned by their positions, (n,), if the model does so."""
        if self.rotary is None:
            return x
        # The angles in float32, as the model has them.
        angles = (positions.astype(np.float32)[:, None] * self.rotary).astype(np.float64)
        cosines, sines = np.cos(angles), np.sin(angles)
        first, second = np.split(x, 2, axis=-1)
        return np.concatenate([first * cosines - second * sines, second * cosines + first * sines], axis=-1)


@dataclass(frozen=True, eq=False)
class AttentionParts:
    """The parts of one layer's attention.

    Attributes:
        query_key_value: the projections, three matrices side by side.
        attended: the projection of the joined heads.
        heads, key_heads: H and G.
        input_norm: the norm before the projections, if there is one.
        norm_before, norm_after: the names of the norms before the projections and after the residual sum; None without.
        rotary: the rotary positions, if there are any.
        head_norms: the norms of queries and of keys, if there are any.
    """

    query_key_value: Linear
    attended: Linear
    heads: int
    key_heads: int
    input_norm: Callable[[Array], Array] | None = None
    norm_before: str | None = None
    norm_after: str | None = None
    rotary: Rotary | None = None
    head_norms: tuple[RootMeanSquareNorm, RootMeanSquareNorm] | None = None

    def input(self, state: Array) -> Array:
        """What the projections take, (N, width), of the vectors before the layer: these, or their norms."""
        return state if self.input_norm is None else self.input_norm(state)

    def added(self, output: Array) -> Array:
        """What is added to the residual, (N, width), for the heads' outputs, (H, N, E)."""
        return np.asarray(self.attended.of_heads(np.ascontiguousarray(output)[None])[0])

    def lengths(self, output: Array) -> Array:
        """The length of each head's own part of that, without the bias, (H, N)."""
        columns = np.split(self.attended.parts[0].whole, self.heads, axis=1)
        return np.stack([np.linalg.norm(of @ W.T, axis=-1) for of, W in zip(output, columns, strict=True)])

    def head(self, head: int) -> HeadMatrices:
        """The matrices of a head, counted from 0; copies, in float32."""
        group = head // (self.heads // self.key_heads)
        cuts = [(self.heads, head), (self.key_heads, group), (self.key_heads, group)]
        (W_q, b_q), (W_k, b_k), (W_v, b_v) = (
            (_rows(matrix.whole, *cut), None if bias is None else _rows(bias, *cut))
            for matrix, bias, cut in zip(self.query_key_value.parts, self.query_key_value.biases, cuts, strict=True)
        )
        q_norm, k_norm = self.head_norms or (None, None)
        return HeadMatrices(
            W_q, b_q, W_k, b_k, W_v, b_v,
            np.ascontiguousarray(np.split(self.attended.parts[0].whole, self.heads, axis=1)[head]),
            self.attended.biases[0],
            None if self.rotary is None else self.rotary.speeds,
            None if q_norm is None else q_norm.weight,
            None if k_norm is None else k_norm.weight,
            0.0 if q_norm is None else q_norm.epsilon,
        )  # fmt: skip


def attention_parts(network: Network, layer: int, kind: Kind = "encoder") -> AttentionParts | None:
    """The parts of a layer's attention, counted from 0; None for a network whose parts aren't known.

    Args:
        network: a model's.
        layer: the layer.
        kind: which attention of an encoder-decoder; others have one.
    """
    if isinstance(network, EncoderDecoder) and kind != "encoder":
        both = network.decoder[layer]
        joined = both.query_key_value
        if kind == "cross":  # as one product, which it never is: its queries and keys are of different texts
            joined = Linear(
                [*both.cross_query.parts, *both.cross_key_value.parts],
                [*both.cross_query.biases, *both.cross_key_value.biases],
            )
        attended = both.crossed if kind == "cross" else both.attended
        return AttentionParts(joined, attended, both.heads, both.heads, norm_after="LayerNorm")
    if isinstance(network, Encoder | EncoderDecoder):
        block = (network.blocks if isinstance(network, Encoder) else network.encoder)[layer]
        return AttentionParts(block.query_key_value, block.attended, block.heads, block.heads, norm_after="LayerNorm")
    if isinstance(network, Decoder):
        of = network.blocks[layer]
        norms = None if of.query_norm is None or of.key_norm is None else (of.query_norm, of.key_norm)
        return AttentionParts(
            of.query_key_value,
            of.attended,
            of.heads,
            of.key_heads,
            of.attention_norm,
            "RMSNorm",
            rotary=network.rotary,
            head_norms=norms,
        )
    return None


@dataclass(frozen=True, eq=False)
class EmbeddingParts:
    """The first layer's input, in its parts.

    Attributes:
        words, positions: the embeddings of tokens and of their positions, (N, narrow) each; these have the first token
            type's embedding in them, if the model has types.
        norm: the name of the norm of their sum; None without.
    """

    words: Array
    positions: Array
    norm: str | None


def embedding_parts(network: Network, ids: NDArray[np.int64]) -> EmbeddingParts | None:
    """The parts of the first layer's input; None for a model without embeddings of positions."""
    if isinstance(network, EncoderDecoder):
        positions = network.positions[: len(ids)]
        return EmbeddingParts(network.words[ids] * np.float32(positions.shape[1] ** 0.5), positions, None)
    if isinstance(network, Encoder):
        return EmbeddingParts(network.embeddings.words[ids], network.embeddings.positions[: len(ids)], "LayerNorm")
    return None


def _product(x: Array, W: Array, b: Array | None) -> NDArray[np.float64]:
    made: NDArray[np.float64] = x.astype(np.float64) @ W.T.astype(np.float64)
    return made if b is None else made + b


def _rows(x: Array, count: int, at: int) -> Array:
    """Part `at` of `count` equal parts of the rows, in memory of its own: the whole may be a view of a mapped file."""
    return np.array(np.split(x, count)[at])
