"""Texts as vectors: sentence embeddings by an encoder, and what it looked at on the way."""

from __future__ import annotations

import operator
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from eyeline.models.checkpoints import Array
from eyeline.models.encoder import Encoder
from eyeline.models.errors import ModelError
from eyeline.models.loading import load
from eyeline.models.model import Model
from eyeline.models.packing import Ids, PackedTexts, packed
from eyeline.models.pooling import pooling_of
from eyeline.models.tokenizing import check_ids, check_unicode, errors_caught
from eyeline.readouts import Readout, several
from eyeline.readouts.chosen import check_of_tokens
from eyeline.readouts.observation import Observation
from eyeline.words import worded

#: The number of texts that are tokenized at a time.
_TOKENIZED = 256


@dataclass(frozen=True, eq=False)
class Embedded:
    """Texts' vectors, and readouts of every layer's weights.

    Attributes:
        vectors: (texts, width), float32.
        ids: each text's token ids as the model read them, special ones included, (tokens,) each.
        blocks: the packed texts' observations, layer by layer, without the heads' outputs: (H, N, ...) each.
        places: for each text, its block, and the place of its first token there.
    """

    vectors: Array
    ids: tuple[Ids, ...]
    blocks: tuple[tuple[Observation, ...], ...]
    places: tuple[tuple[int, int], ...]

    def layers(self, text: int) -> tuple[Observation, ...]:
        """What one text's tokens looked at, in each layer: as if it had been run alone, (H, N, ...) each.

        Args:
            text: the text's number, from 0; below 0, from the end.

        Raises:
            IndexError: if there is no such text.
        """
        block, first = self.places[operator.index(text)]
        last = first + len(self.ids[text])
        return tuple(layer.document(first, last) for layer in self.blocks[block])


@overload
def embed(
    texts: Iterable[str],
    model: str | os.PathLike[str] | Model = ...,
    *,
    prefix: str = ...,
    read: None = None,
    progress: Callable[[str], None] | None = None,
    texts_done: Callable[[int], None] | None = None,
) -> Array: ...
@overload
def embed(
    texts: Iterable[str],
    model: str | os.PathLike[str] | Model = ...,
    *,
    prefix: str = ...,
    read: Readout | Sequence[Readout],
    progress: Callable[[str], None] | None = None,
    texts_done: Callable[[int], None] | None = None,
) -> Embedded: ...
def embed(
    texts: Iterable[str],
    model: str | os.PathLike[str] | Model = "minilm",
    *,
    prefix: str = "",
    read: Readout | Sequence[Readout] | None = None,
    progress: Callable[[str], None] | None = None,
    texts_done: Callable[[int], None] | None = None,
) -> Array | Embedded:
    """Embed texts: one vector for each, close to those of texts of a similar meaning.

    Texts are packed into sequences of some thousand tokens, in which each looks at itself alone, so nothing is computed
    for padding, and memory does not grow with the number of texts but for the result. A vector does not depend on the
    other texts, but for rounding (about 1e-7: where a text begins decides how its keys fall into blocks).

    Args:
        texts: the texts, in any iterable but a string.
        model: an encoder: a name from the catalogue, a folder, or a model that `eyeline.models.load` gave, which saves
            many calls its loading.
        prefix: put in front of every text, as a model's card may ask: e5's asks for "query: " before a question and
            "passage: " before what may answer it, or "query: " before all texts that are compared with each other.
        read: the readouts of every layer's weights; see `eyeline.observe`. They must be of single tokens: `TopK`,
            `Entropy`, `Received`, `MeanDistance`, `OffsetMass`.
        progress: called with a line of text at each step of fetching the model.
        texts_done: called after each block of texts with the number of finished texts.

    Returns:
        (texts, width), float32, in the texts' order; with `read`, an `Embedded` with these `vectors`. They are pooled
        as the model's files say (modules.json, 1_Pooling/config.json, of sentence-transformers): for all-MiniLM-L6-v2,
        and where there are no such files, the mean over all tokens, special ones included, divided by its length. A
        text without any token has the vector 0.

    Warns:
        UserWarning: if texts have more tokens than the model embeds, and were cut there; it says how many.
            all-MiniLM-L6-v2 embeds 256, as its card says; others what sentence_bert_config.json says, or as many as
            they have positions.

    Raises:
        TypeError: if texts isn't an iterable of texts, or model or read is something else.
        ModelError: if a text or prefix isn't a string or not valid Unicode; the model is a decoder, is unknown or
            damaged, or pools in another way.
        ValueError: if a readout isn't of single tokens.

    >>> from eyeline import Entropy, embed
    >>> vectors = embed(["A cat sat on a mat.", "There was a kitten on the rug.", "The share price fell."])
    >>> (vectors @ vectors.T).round(1)  # their cosines
    array([[1. , 0.6, 0.1],
           [0.6, 1. , 0.1],
           [0.1, 0.1, 1. ]], dtype=float32)
    >>> embedded = embed(["Time flies!"], read=Entropy())
    >>> [round(layer.entropy.mean().item(), 1) for layer in embedded.layers(0)]
    [1.0, 0.6, 0.6, 0.8, 0.5, 0.6]
    >>> sentences = ["Hà Nội là thủ đô của Việt Nam.", "The capital of Vietnam is Hanoi.", "A cat sat on a mat."]
    >>> vectors = embed(sentences, "e5", prefix="query: ")
    >>> (vectors[0] @ vectors.T).round(2)
    array([1.  , 0.85, 0.7 ], dtype=float32)
    """
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        raise TypeError(
            worded("texts must be a list of texts, got {type}; write [text] for one", type=type(texts).__name__)
        )
    check_unicode(prefix, "prefix")
    readouts = None if read is None else several(read)
    check_of_tokens(readouts or ())
    loaded = _model(model, progress)
    pooling = pooling_of(loaded)
    if not isinstance(loaded.network, Encoder):
        raise ModelError(
            worded(
                "model must be an encoder of the BERT family, got {model_type}; take minilm",
                model_type=loaded.config.model_type,
            )
        )
    reader = IdsReader(loaded, pooling.longest, prefix)
    vectors: list[Array] = [np.zeros((0, loaded.config.width), np.float32)]
    ids: list[Ids] = []
    blocks: list[tuple[Observation, ...]] = []
    places: list[tuple[int, int]] = []
    done = 0
    for block in packed(reader.ids(texts)):
        states, layers = _run(loaded.network, block, readouts)
        vectors.append(pooling(states, block.lengths))
        if readouts is not None:
            places += [(len(blocks), int(start)) for start in block.starts]
            blocks.append(layers)
            ids += block.texts
        done += len(block.texts)
        if texts_done is not None:
            texts_done(done)
    if reader.cut:
        warnings.warn(
            worded(
                "{cut} of {done} texts had more than {longest} tokens, as many as {loaded} embeds, and were "
                "cut there; split long texts to embed all of them",
                cut=reader.cut,
                done=done,
                longest=pooling.longest,
                loaded=loaded.name,
            ),
            stacklevel=2,
        )
    joined = np.concatenate(vectors)
    return joined if readouts is None else Embedded(joined, tuple(ids), tuple(blocks), tuple(places))


def _model(model: Any, progress: Callable[[str], None] | None) -> Model:
    if isinstance(model, Model):
        return model
    if not isinstance(model, (str, os.PathLike)):
        raise TypeError(
            worded(
                "model must be a name, a folder, or a model that eyeline.models.load gave, got {type}",
                type=type(model).__name__,
            )
        )
    return load(model, progress=progress)


class IdsReader:
    """Tokenizes texts for a model, with a prefix in front of each.

    Attributes:
        cut: the number of texts so far that were longer than the model embeds.
    """

    def __init__(self, model: Model, longest: int, prefix: str = "") -> None:
        self._model, self._longest, self._prefix = model, longest, prefix
        self.cut = 0

    def ids(self, texts: Iterable[str]) -> Iterator[Ids]:
        """Each text's ids, at most `longest`, with the special tokens after it if it was cut."""
        rest, number = iter(texts), 0
        while some := list(islice(rest, _TOKENIZED)):
            for text in some:
                check_unicode(text, f"texts[{number}]")
                number += 1
            with errors_caught():
                found = self._model.tokenizer.encode_batch_fast([self._prefix + text for text in some])
            for encoding in found:
                yield self._shortened(encoding)

    def _shortened(self, encoding: Any) -> Ids:
        ids = np.array(encoding.ids, np.int64)
        check_ids(encoding.ids, self._model.config.vocabulary_size)
        if len(ids) <= self._longest:
            return ids
        self.cut += 1
        special = np.array(encoding.special_tokens_mask, bool)
        after = int(np.argmin(special[::-1]))
        return np.concatenate([ids[: self._longest - after], ids[len(ids) - after :]])


def _run(encoder: Encoder, block: PackedTexts, read: Sequence[Readout] | None) -> tuple[Array, tuple[Observation, ...]]:
    """The tokens' vectors after the last layer, (N, width), and every layer's observation if `read` isn't None."""
    x = encoder.embed(block.ids, block.positions)
    kept = []
    for layer in encoder.in_place(x, block.mask, read):
        if layer is not None:
            nothing = np.empty((*layer.output.shape[:-1], 0), np.float32)
            kept.append(replace(layer.seen, output=nothing).map(_without_batch))
    return x[0], tuple(kept)


def _without_batch(x: NDArray[Any]) -> NDArray[Any]:
    (only,) = x
    return np.asarray(only)
