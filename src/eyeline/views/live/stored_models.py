"""A model as a live page stores it: its tensors in one run of bytes, cut into pieces that are compressed by themselves.

A piece is in gzip's format, whose checksum every browser checks, with Huffman coding alone: weights hardly repeat.
`live/stored_weights.js` reads them.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.models import Model, ModelError
from eyeline.models.catalogue import CATALOGUE
from eyeline.models.checkpoints import StoredMatrix, shards_of, weights_file
from eyeline.models.encoder import Encoder, EncoderLayer
from eyeline.models.encoder_decoder import CrossDecoderLayer, EncoderDecoder
from eyeline.models.families import FAMILIES
from eyeline.models.linear import Linear
from eyeline.models.rounding import Int8Matrix
from eyeline.words import worded

#: The bytes of weights in a piece: the browser decodes one while it reads the next.
PIECE = 2 << 20
#: Each tensor begins at a multiple of so many bytes, for the page to view it in place.
_ALIGNED = 8
#: The families whose graph is BERT's and that WordPiece may cut texts for.
_GRAPHS = ("bert", "distilbert", "electra")


@dataclass(frozen=True)
class StoredModel:
    """A model's entry in the contents, and its pieces.

    Attributes:
        entry: `name`, `config`, `tensors`, `size`, `pieces` and `source`, as docs/live.md describes them.
        pieces: the compressed pieces.
    """

    entry: dict[str, Any]
    pieces: tuple[bytes, ...]


def check_runs(model: Model) -> None:
    """Check that the page can run a model.

    Raises:
        ModelError: if it is a decoder or of a family with another graph.
    """
    network, kind = model.network, model.config.model_type
    if isinstance(network, EncoderDecoder):
        return
    if not isinstance(network, Encoder):
        raise ModelError(
            worded(
                "model must be an encoder for a live page, such as minilm, got {name}, a decoder ({kind}); eyeline "
                "view shows it, and what it writes",
                name=model.name,
                kind=kind,
            )
        )
    if kind not in _GRAPHS or network.embeddings.project is not None:
        raise ModelError(
            worded(
                "model must be one of {there}, with embeddings as wide as its layers, for a live page, got {name} "
                "({kind}); eyeline view shows it",
                there=", ".join(_GRAPHS),
                name=model.name,
                kind=kind,
            )
        )


def stored_model(model: Model, original: Model) -> StoredModel:
    """Lay out a model.

    Args:
        model: the model with the weights that the page is to have (`eyeline.models.rounding.rounded`).
        original: the model that these were made from.
    """
    tensors: dict[str, list[Any]] = {}
    parts: list[bytes] = []
    size = 0

    def add(array: NDArray[Any]) -> int:
        nonlocal size
        at = size
        data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        padding = -len(data) % _ALIGNED
        parts.extend((data, bytes(padding)))
        size += len(data) + padding
        return at

    for name, tensor in tensors_of(model):
        if isinstance(tensor, Int8Matrix):
            tensors[name] = ["int8", list(tensor.numbers.shape), add(tensor.numbers), add(tensor.scales)]
        else:
            array = tensor.stored if isinstance(tensor, StoredMatrix) else tensor
            array = array if array.dtype in (np.float16, np.float32) else np.asarray(array, np.float32)
            tensors[name] = [array.dtype.name, list(array.shape), add(array)]
    whole = memoryview(b"".join(parts))
    pieces = tuple(_packed(whole[at : at + PIECE]) for at in range(0, size, PIECE))
    entry = {
        "name": model.name,
        "config": _config(model),
        "tensors": tensors,
        "size": size,
        "pieces": [len(piece) for piece in pieces],
        "source": source_of(original),
    }
    return StoredModel(entry, pieces)


def source_of(model: Model) -> dict[str, str | None]:
    """Where weights are from: the `summary` and `license` of a model of the catalogue, else null; and the `sha256` of
    the file of weights, of several one after the other."""
    known = CATALOGUE.get(model.name)
    path = weights_file(model.source)
    found = hashlib.sha256()
    for file in shards_of(path) if path.suffix == ".json" else [path]:
        with open(file, "rb") as opened:
            while some := opened.read(1 << 20):
                found.update(some)
    return {
        "model": model.name,
        "summary": None if known is None else known.summary,
        "license": None if known is None else known.license,
        "sha256": found.hexdigest(),
    }


def tensors_of(model: Model) -> Iterator[tuple[str, StoredMatrix | NDArray[Any]]]:
    """The tensors by name: an encoder's by BERT's names, whatever its family, an encoder-decoder's by its own.

    Positions have the first token type's vector added, and begin with the first that is used.
    """
    network = model.network
    if isinstance(network, EncoderDecoder):
        yield "letters.weight", network.words
        yield "positions.weight", network.positions
        for number, block in enumerate(network.encoder):
            yield from _own_layer(f"encoder.{number}", block)
        for number, crossing in enumerate(network.decoder):
            yield from _own_layer(f"decoder.{number}", crossing)
        return
    assert isinstance(network, Encoder)
    embeddings = network.embeddings
    yield "embeddings.word_embeddings.weight", embeddings.words
    yield "embeddings.position_embeddings.weight", embeddings.positions
    yield from _norm("embeddings.LayerNorm", embeddings.norm)
    for number, block in enumerate(network.blocks):
        name = {part: f"encoder.layer.{number}.{theirs}" for part, theirs in FAMILIES["bert"].parts.items()}
        yield from _linear([name[part] for part in ("query", "key", "value")], block.query_key_value)
        for part in ("attended", "inner", "output"):
            yield from _linear([name[part]], getattr(block, part))
        for part in ("attended_norm", "output_norm"):
            yield from _norm(name[part], getattr(block, part))


def _own_layer(name: str, block: EncoderLayer | CrossDecoderLayer) -> Iterator[tuple[str, StoredMatrix | NDArray[Any]]]:
    """The tensors of a layer of Eyeline's encoder-decoder."""
    own = f"{name}.attention"
    yield from _linear([f"{own}.query", f"{own}.key", f"{own}.value"], block.query_key_value)
    yield from _linear([f"{own}.output"], block.attended)
    yield from _norm(f"{own}_norm", block.attended_norm)
    if isinstance(block, CrossDecoderLayer):
        across = f"{name}.cross"
        yield from _linear([f"{across}.query"], block.cross_query)
        yield from _linear([f"{across}.key", f"{across}.value"], block.cross_key_value)
        yield from _linear([f"{across}.output"], block.crossed)
        yield from _norm(f"{across}_norm", block.crossed_norm)
    yield from _linear([f"{name}.feed_forward.0"], block.inner)
    yield from _linear([f"{name}.feed_forward.2"], block.output)
    yield from _norm(f"{name}.output_norm", block.output_norm)


def _linear(names: list[str], layer: Linear) -> Iterator[tuple[str, StoredMatrix | NDArray[Any]]]:
    for name, part, bias in zip(names, layer.parts, layer.biases, strict=True):
        yield f"{name}.weight", part
        if bias is not None:
            yield f"{name}.bias", bias


def _norm(name: str, norm: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    yield f"{name}.weight", norm.weight
    yield f"{name}.bias", norm.bias


def _config(model: Model) -> dict[str, Any]:
    """What config.json has that the page needs: an encoder's by BERT's names, an encoder-decoder's as it is."""
    if isinstance(model.network, EncoderDecoder):
        whole: dict[str, Any] = json.loads((model.source / "config.json").read_bytes())
        return whole
    config = model.config
    theirs = FAMILIES["bert"].settings
    sizes = {theirs[name]: getattr(config, name) for name in theirs if name not in ("activation", "token_types")}
    return {
        "model_type": "bert",
        **sizes,
        "hidden_act": config.activation,
        "layer_norm_eps": config.norm_epsilon,
        "type_vocab_size": 0,  # they are in the positions
    }


def _packed(data: memoryview) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, 31, 7, zlib.Z_HUFFMAN_ONLY)
    return packer.compress(data) + packer.flush()
