"""A Transformer encoder in plain NumPy: embeddings, then layers of self-attention and feed-forward.

Each layer adds to every token what it gathers from the tokens it looks at, and then what it makes of that by itself; a
layer norm follows each. Source: Vaswani et al., "Attention Is All You Need" (2017), section 3, as BERT has it: Devlin
et al. (2018).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eyeline.attention import observe
from eyeline.masks import Mask
from eyeline.models.activations import ACTIVATIONS
from eyeline.models.checkpoints import Config, Weights
from eyeline.models.run import Array, Layer
from eyeline.readouts import Readout


@dataclass(frozen=True)
class Linear:
    """x·Wᵀ + b."""

    weight: Array
    bias: Array

    def __call__(self, x: Array) -> Array:
        y = x @ self.weight.T
        y += self.bias
        return y


@dataclass(frozen=True)
class Norm:
    """Layer norm: each vector moved to mean 0 and scaled to variance 1, then by learned weights. Ba et al. (2016)."""

    weight: Array
    bias: Array
    epsilon: float

    def __call__(self, x: Array) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = np.square(centred).mean(axis=-1, keepdims=True)
        return np.asarray(centred / np.sqrt(variance + np.float32(self.epsilon)) * self.weight + self.bias)


@dataclass(frozen=True)
class Embeddings:
    """Each token's first vector: what it is, plus where it stands, plus which text it belongs to (always the first)."""

    words: Array
    positions: Array
    kind: Array
    norm: Norm
    project: Linear | None

    def __call__(self, ids: NDArray[np.int64]) -> Array:
        x = self.norm(self.words[ids] + self.positions[: ids.shape[-1]] + self.kind)
        return x if self.project is None else self.project(x)


@dataclass(frozen=True)
class Block:
    """One layer."""

    heads: int
    query: Linear
    key: Linear
    value: Linear
    attended: Linear
    attended_norm: Norm
    inner: Linear
    activation: Callable[[Array], Array]
    output: Linear
    output_norm: Norm

    def __call__(self, x: Array, mask: Mask | None, scale: float | None, read: Sequence[Readout]) -> Layer:
        q, k, v = (self.split(part(x)) for part in (self.query, self.key, self.value))
        seen = observe(q, k, v, mask=mask, scale=scale, read=read)
        x = self.attended_norm(x + self.attended(self.join(seen.output)))
        x = self.output_norm(x + self.output(self.activation(self.inner(x))))
        return Layer(q, k, v, seen, x)

    def split(self, x: Array) -> Array:
        """(B, N, H·D) → (B, H, N, D)."""
        return x.reshape(*x.shape[:2], self.heads, -1).transpose(0, 2, 1, 3)

    def join(self, x: Array) -> Array:
        """(B, H, N, D) → (B, N, H·D)."""
        return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


@dataclass(frozen=True)
class Encoder:
    """The whole model."""

    embeddings: Embeddings
    blocks: tuple[Block, ...]

    def layers(self, x: Array, mask: Mask | None, scale: float | None, read: Sequence[Readout] = ()) -> Iterator[Layer]:
        """Each layer as it is done, for embedded tokens x, (B, N, width)."""
        for block in self.blocks:
            layer = block(x, mask, scale, read)
            x = layer.state
            yield layer


def read_encoder(path: Path, config: Config) -> Encoder:
    """The encoder whose weights are in `path`, a model.safetensors."""
    family, width = config.family, config.width
    tensors = Weights(path, family.prefix)

    def linear(name: str, outputs: int, inputs: int) -> Linear:
        return Linear(tensors.get(f"{name}.weight", outputs, inputs), tensors.get(f"{name}.bias", outputs))

    def norm(name: str, size: int) -> Norm:
        return Norm(tensors.get(f"{name}.weight", size), tensors.get(f"{name}.bias", size), config.norm_epsilon)

    # ELECTRA's smaller models have narrower embeddings, and widen them before the first layer.
    _, narrow = tensors.shape("embeddings_project.weight", (width, width))
    first, last = config.first_position, config.first_position + config.positions
    kinds = np.zeros((1, narrow), np.float32)  # DistilBERT has none
    if config.token_types:
        kinds = tensors.get("embeddings.token_type_embeddings.weight", config.token_types, narrow)
    embeddings = Embeddings(
        tensors.get("embeddings.word_embeddings.weight", config.vocabulary_size, narrow),
        tensors.get("embeddings.position_embeddings.weight", last, narrow)[first:],
        kinds[0],
        norm("embeddings.LayerNorm", narrow),
        linear("embeddings_project", width, narrow) if narrow != width else None,
    )

    def block(number: int) -> Block:
        name = {part: family.stack.format(number) + theirs for part, theirs in family.parts.items()}
        return Block(
            config.heads,
            linear(name["query"], width, width),
            linear(name["key"], width, width),
            linear(name["value"], width, width),
            linear(name["attended"], width, width),
            norm(name["attended_norm"], width),
            linear(name["inner"], config.feed_forward_width, width),
            ACTIVATIONS[config.activation],
            linear(name["output"], width, config.feed_forward_width),
            norm(name["output_norm"], width),
        )

    return Encoder(embeddings, tuple(block(number) for number in range(config.layers)))
