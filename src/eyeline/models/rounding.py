"""A model with rounded weights, for where there is little room: its matrices in 8 bits a number, or in 16.

Each row of a matrix, what makes one output, is rounded by itself: its largest magnitude becomes 127, so that a row of
small weights loses no more of itself than one of large weights. Vectors (biases, norms) and positions stay as they are:
they are few. docs/live.md has the difference that it makes.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from eyeline.models.checkpoints import Array, StoredMatrix
from eyeline.models.encoder import Encoder
from eyeline.models.encoder_decoder import EncoderDecoder
from eyeline.models.errors import ModelError
from eyeline.models.linear import Linear
from eyeline.models.model import Model
from eyeline.words import worded

#: The kinds of rounded weights.
ROUNDED = ("int8", "float16")
_MOST = np.float32(127)
_LARGEST = float(np.finfo(np.float16).max)

Block = TypeVar("Block", bound=Any)


class Int8Matrix(StoredMatrix):
    """A matrix rounded to 8 bits a number: weight (i, j) is numbers[i, j] · scales[i], in float32.

    Args:
        matrix: (rows, columns), float32, finite.

    Attributes:
        numbers: (rows, columns), int8, from -127 to 127.
        scales: (rows,), float32: a row's largest magnitude / 127; 1 for a row of zeros.

    >>> made = Int8Matrix(np.array([[0.5, -1.0], [0.0, 0.0]], np.float32))
    >>> made.numbers.tolist(), made.whole[0].round(3).tolist()
    ([[64, -127], [0, 0]], [0.5040000081062317, -1.0])
    """

    def __init__(self, matrix: Array) -> None:
        most = np.abs(matrix).max(axis=1, initial=0)
        scales: Array = (most / _MOST).astype(np.float32)
        self.scales = np.where(scales > 0, scales, np.float32(1))
        # A quotient of the smallest numbers of float32 may be rounded to beyond 127.
        self.numbers: NDArray[np.int8] = np.clip(np.rint(matrix / self.scales[:, None]), -_MOST, _MOST).astype(np.int8)
        super().__init__(self.numbers.astype(np.float32) * self.scales[:, None])


def rounded(model: Model, weights: str = "int8") -> Model:
    """The model with the matrices of its weights rounded. It computes in float32, as any other.

    Args:
        model: an encoder, or an encoder-decoder.
        weights: "int8", with a scale for each row, or "float16".

    Returns:
        A model named after both, such as "minilm int8"; the model itself if its file is in float16 already.

    Raises:
        ModelError: if the model is a decoder, has weights that aren't finite, or too large ones for float16.
        ValueError: if `weights` is another name.

    >>> import eyeline as el
    >>> from eyeline.models import load
    >>> trace = el.record("time flies like an arrow", model=rounded(load("minilm")))
    >>> exact = el.record("time flies like an arrow")
    >>> trace.model.name, [round(float(one.weights(5, 11)[3, 5]), 2) for one in (trace, exact)]
    ('minilm int8', [0.71, 0.71])
    """
    if weights not in ROUNDED:
        raise ValueError(
            worded("weights must be one of {rounded}, got {weights!r}", rounded=", ".join(ROUNDED), weights=weights)
        )
    network = model.network
    if not isinstance(network, (Encoder, EncoderDecoder)):
        kind = model.config.model_type
        raise ModelError(
            worded(
                "{name} must be an encoder for its weights to be rounded, got a decoder ({kind}); take one such as "
                "minilm",
                name=model.name,
                kind=kind,
            )
        )
    if weights == "float16" and network.words.stored.dtype == np.float16:
        return model
    made: dict[int, StoredMatrix] = {}

    def matrix(given: StoredMatrix) -> StoredMatrix:
        """The rounded matrix; of one that is used twice, such as tied embeddings, the same."""
        if id(given) not in made:
            made[id(given)] = _rounded_matrix(given, weights, model.name)
        return made[id(given)]

    def block(given: Block) -> Block:
        parts = {field.name: getattr(given, field.name) for field in fields(given)}
        return replace(given, **{name: linear(part) for name, part in parts.items() if isinstance(part, Linear)})

    def linear(given: Linear) -> Linear:
        return Linear([matrix(part) for part in given.parts], given.biases, given.activation, gated=given.gated)

    changed: Encoder | EncoderDecoder
    if isinstance(network, Encoder):
        embeddings = replace(block(network.embeddings), words=matrix(network.words))
        changed = Encoder(embeddings, tuple(map(block, network.blocks)))
    else:
        changed = replace(
            block(network),
            words=matrix(network.words),
            encoder=tuple(map(block, network.encoder)),
            decoder=tuple(map(block, network.decoder)),
        )
    return Model(f"{model.name} {weights}", model.config, model.source, changed, model.tokenizer)


def _rounded_matrix(given: StoredMatrix, weights: str, name: str) -> StoredMatrix:
    whole = given.whole
    most = float(np.abs(whole).max(initial=0))
    if not np.isfinite(most):
        raise ModelError(
            worded(
                "{name} must have finite weights to be rounded, got {most}; get the model again", name=name, most=most
            )
        )
    if weights == "int8":
        return Int8Matrix(whole)
    if most > _LARGEST:
        raise ModelError(
            worded(
                "{name} must have weights below {largest:g}, the largest number of float16, got {most:g}; take int8",
                name=name,
                largest=_LARGEST,
                most=most,
            )
        )
    return StoredMatrix(whole.astype(np.float16))
