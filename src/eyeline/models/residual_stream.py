"""What was written into the residual stream: a token's vector before a layer, as the sum of its sources, in float64.

A source is the token's embedding, its position, the output of one head after its columns of W_o, the output of one MLP,
or a bias. A norm is linear once its scale is that of the run: a layer norm centres each source and multiplies it by
γ/σ, and its β is a source of its own; a root-mean-square norm multiplies by γ/rms. Source: Elhage et al., "A
Mathematical Framework for Transformer Circuits" (2021).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.models.activations import activated
from eyeline.models.checkpoints import Array
from eyeline.models.decoder import Decoder, RootMeanSquareNorm
from eyeline.models.encoder import Encoder, EncoderLayer, LayerNorm
from eyeline.models.encoder_decoder import EncoderDecoder
from eyeline.models.linear import Linear
from eyeline.models.network import Network

Float64 = NDArray[np.float64]
SourceKind = Literal["embedding", "position", "head", "MLP", "bias"]


@dataclass(frozen=True)
class ResidualSource:
    """Something that was written into the residual stream.

    Attributes:
        name: "embedding", "position", "L3H5", "L3 MLP", "L3 W_o bias", "L3 MLP bias", "L3 attention norm bias", "L3 MLP
            norm bias", "embedding norm bias", "embedding projection bias"; "q bias" and "k bias" of the projections.
        kind: what it is.
        layer, head: from 0; None where it belongs to none.
    """

    name: str
    kind: SourceKind
    layer: int | None = None
    head: int | None = None


class ResidualStream:
    """The vectors of some tokens, each the sum of its sources.

    Attributes:
        sources: the S sources so far, the same for every token.
        parts: what each wrote, as it stands now, after the norms since then: (S, T, width).
        elsewhere: the embeddings of other positions, (T, width), if the model adds positions: treated as the tokens'
            own are, but no part of the sum.
    """

    def __init__(self, tokens: int, width: int) -> None:
        self.sources: list[ResidualSource] = []
        self.parts: Float64 = np.zeros((0, tokens, width))
        self.elsewhere: Float64 | None = None

    @property
    def total(self) -> Float64:
        """The tokens' vectors, (T, width)."""
        return np.asarray(self.parts.sum(axis=0))

    def write(self, source: ResidualSource, part: Any) -> None:
        """Add a source, whose part is (T, width) or (width,)."""
        wide = np.broadcast_to(np.asarray(part, np.float64), self.parts.shape[1:])
        self.sources.append(source)
        self.parts = np.concatenate([self.parts, wide[None]])

    def change(self, linear: Callable[[Float64], Float64]) -> None:
        """Apply a linear map, (…, T, width) → (…, T, new width), to every part."""
        self.parts = linear(self.parts)
        self.elsewhere = None if self.elsewhere is None else linear(self.elsewhere)

    def norm(self, norm: LayerNorm | RootMeanSquareNorm, name: str = "", layer: int | None = None) -> None:
        """Apply a norm, linear with the scale that it has for these tokens; `name` is that of its bias."""
        if isinstance(norm, RootMeanSquareNorm):
            self.change(root_mean_square(norm.weight, norm.epsilon, self.total))
            return
        total, weight = self.total, norm.weight.astype(np.float64)
        centred = total - total.mean(axis=-1, keepdims=True)
        factor = weight / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + norm.epsilon)
        self.change(lambda x: (x - x.mean(axis=-1, keepdims=True)) * factor)
        self.write(ResidualSource(name, "bias", layer), norm.bias)


def root_mean_square(weight: Array, epsilon: float, total: Float64) -> Callable[[Float64], Float64]:
    """The root-mean-square norm as a linear map, with the scale that it has for the vectors `total`, (T, width)."""
    factor = weight.astype(np.float64) / np.sqrt((total**2).mean(axis=-1, keepdims=True) + epsilon)
    return lambda x: x * factor


def stream_before(
    network: Network,
    ids: NDArray[np.int64],
    positions: NDArray[np.int64],
    elsewhere: NDArray[np.int64],
    outputs: Sequence[Array],
) -> ResidualStream:
    """The residual stream of some tokens before a layer.

    Its total is what a forward pass in float64 has there, given the outputs of the heads.

    Args:
        network: a model's; of an encoder-decoder, its encoder.
        ids, positions: of the tokens, (T,) each.
        elsewhere: other positions of them, (T,); see `ResidualStream`.
        outputs: each earlier layer's heads' outputs for the tokens, before W_o, (H, T, E).
    """
    if isinstance(network, Decoder):
        return _of_decoder(network, ids, outputs)
    if isinstance(network, EncoderDecoder):
        width = network.positions.shape[1]
        stream = ResidualStream(len(ids), width)
        stream.write(ResidualSource("embedding", "embedding"), network.words[ids].astype(np.float64) * width**0.5)
        stream.write(ResidualSource("position", "position"), network.positions[positions])
        stream.elsewhere = network.positions[elsewhere].astype(np.float64)
        return _through(stream, network.encoder, outputs)
    assert isinstance(network, Encoder)
    return _through(_embedded(network, ids, positions, elsewhere), network.blocks, outputs)


def _embedded(
    network: Encoder, ids: NDArray[np.int64], positions: NDArray[np.int64], elsewhere: NDArray[np.int64]
) -> ResidualStream:
    """An encoder's embeddings. The position's has the first token type's in it."""
    embeddings = network.embeddings
    words = embeddings.words[ids]
    stream = ResidualStream(len(ids), words.shape[1])
    stream.write(ResidualSource("embedding", "embedding"), words)
    stream.write(ResidualSource("position", "position"), embeddings.positions[positions])
    stream.elsewhere = embeddings.positions[elsewhere].astype(np.float64)
    stream.norm(embeddings.norm, "embedding norm bias")
    if embeddings.project is not None:
        (matrix,), (bias,) = embeddings.project.parts, embeddings.project.biases
        wide = matrix.whole.T.astype(np.float64)
        stream.change(lambda x: x @ wide)
        if bias is not None:
            stream.write(ResidualSource("embedding projection bias", "bias"), bias)
    return stream


def _through(stream: ResidualStream, blocks: Sequence[EncoderLayer], outputs: Sequence[Array]) -> ResidualStream:
    """Post-norm layers: norm(x + attention), then norm(x + MLP)."""
    for layer, output in enumerate(outputs):
        block = blocks[layer]
        _write_heads(stream, block.attended, output, layer)
        stream.norm(block.attended_norm, f"L{layer} attention norm bias", layer)
        _write_mlp(stream, block.inner, block.output, stream.total, layer)
        stream.norm(block.output_norm, f"L{layer} MLP norm bias", layer)
    return stream


def _of_decoder(network: Decoder, ids: NDArray[np.int64], outputs: Sequence[Array]) -> ResidualStream:
    """Pre-norm layers: x + attention(norm(x)), then x + MLP(norm(x))."""
    words = network.embed(ids)
    stream = ResidualStream(len(ids), words.shape[1])
    stream.write(ResidualSource("embedding", "embedding"), words)
    for layer, output in enumerate(outputs):
        block = network.blocks[layer]
        _write_heads(stream, block.attended, output, layer)
        total, norm = stream.total, block.feed_forward_norm
        _write_mlp(stream, block.inner, block.output, root_mean_square(norm.weight, norm.epsilon, total)(total), layer)
    return stream


def _write_heads(stream: ResidualStream, attended: Linear, output: Array, layer: int) -> None:
    """Each head's output through its columns of W_o, and the bias."""
    columns = np.split(attended.parts[0].whole, len(output), axis=1)
    for head, (of, W) in enumerate(zip(output, columns, strict=True)):
        stream.write(
            ResidualSource(f"L{layer}H{head}", "head", layer, head), of.astype(np.float64) @ W.T.astype(np.float64)
        )
    if attended.biases[0] is not None:
        stream.write(ResidualSource(f"L{layer} W_o bias", "bias", layer), attended.biases[0])


def _write_mlp(stream: ResidualStream, inner: Linear, output: Linear, x: Float64, layer: int) -> None:
    """The MLP's output for its input x, (T, width), and its last bias."""
    first, *rest = (_product(matrix, bias, x) for matrix, bias in zip(inner.parts, inner.biases, strict=True))
    hidden = first if inner.activation is None else activated(inner.activation, first)
    hidden = hidden * rest[0] if inner.gated else hidden
    stream.write(ResidualSource(f"L{layer} MLP", "MLP", layer), _product(output.parts[0], None, hidden))
    if output.biases[0] is not None:
        stream.write(ResidualSource(f"L{layer} MLP bias", "bias", layer), output.biases[0])


def _product(matrix: Any, bias: Array | None, x: Float64) -> Float64:
    made: Float64 = x @ matrix.whole.T.astype(np.float64)
    matrix.release()  # the kernels have a copy of their own
    return made if bias is None else made + bias
