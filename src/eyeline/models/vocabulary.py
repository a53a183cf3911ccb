"""The words of a model's vocabulary, and those whose embeddings are nearest to a vector."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from eyeline.models.checkpoints import Array

#: The rows of the embedding matrix that are multiplied at a time: a few megabytes.
_BLOCK = 4096
#: The cosine with the rows of tokens that stand in no text, from which a row was never learned.
_UNLEARNED = 0.8
#: The marks of tokens that begin a word, of byte-level BPE and of SentencePiece.
_BEGINNINGS = ("Ġ", "▁")


class EmbeddingMatrix(Protocol):
    """The embedding matrix: a row for each token id."""

    def __getitem__(self, rows: NDArray[np.int64]) -> Array:
        """Some rows, float32, (rows, width)."""


class NearWord(NamedTuple):
    """A word of the vocabulary, and the cosine of its embedding and a vector."""

    text: str
    cosine: float


class Vocabulary:
    """The whole words of a model's vocabulary, with their rows of its embedding matrix.

    Whole words are tokens of letters alone: with WordPiece those that don't go on with a word (##s), with byte-level
    BPE or SentencePiece those that begin one, after a space. Left out are tokens whose rows were never learned: they
    still lie beside those of tokens that stand in no text, such as [unused7]. Source: Land and Bartolo, "Fishing for
    Magikarp" (2024).

    Args:
        tokenizer: of the tokenizers library.
        embeddings: the embedding matrix.
        width: its number of columns.
    """

    def __init__(self, tokenizer: Any, embeddings: EmbeddingMatrix, width: int) -> None:
        self.width = width
        self._tokenizer = tokenizer
        self._embeddings = embeddings

    def nearest(self, vectors: Array, count: int = 5) -> list[list[NearWord]]:
        """The words whose embeddings have the largest cosines with each vector, the nearest first.

        Args:
            vectors: (V, width), such as a token's vector after each layer.
            count: how many words for each.

        Returns:
            For each vector a list of `count` words; fewer if the vocabulary has fewer.

        >>> from eyeline.models import load
        >>> model = load("minilm")
        >>> vocabulary = Vocabulary(model.tokenizer, model.network.embeddings.words, 384)
        >>> flies = model.network.embeddings.words[np.array(model.tokens("flies").ids[1:2])]
        >>> [(text, round(cosine, 2)) for text, cosine in vocabulary.nearest(flies, 3)[0]]
        [('flies', 1.0), ('fly', 0.68), ('flew', 0.5)]
        """
        words, ids = self._words
        directions = _directions(np.asarray(vectors, np.float32))
        best = np.full((len(directions), 0), 0, np.float32)
        places = np.full((len(directions), 0), 0, np.int64)
        for first in range(0, len(ids), _BLOCK):
            found = directions @ _directions(self._embeddings[ids[first : first + _BLOCK]]).T
            best = np.concatenate([best, found], axis=1)
            places = np.concatenate([places, np.broadcast_to(first + np.arange(found.shape[1]), found.shape)], axis=1)
            kept = np.argsort(-best, axis=1, kind="stable")[:, :count]
            best, places = np.take_along_axis(best, kept, 1), np.take_along_axis(places, kept, 1)
        return [
            [NearWord(words[place], float(cosine)) for place, cosine in zip(*row, strict=True)]
            for row in zip(places, best, strict=True)
        ]

    @cached_property
    def _words(self) -> tuple[list[str], NDArray[np.int64]]:
        """The words and their ids, in the order of their ids."""
        pieces: dict[str, int] = self._tokenizer.get_vocab(with_added_tokens=True)
        added = self._tokenizer.get_added_tokens_decoder()
        texts = _texts(self._tokenizer, {piece: id for piece, id in pieces.items() if id not in added})
        ids = np.array(sorted(id for id, text in texts.items() if text.isalpha()), np.int64)
        outside = [id for id, token in added.items() if token.special]
        outside += [id for piece, id in pieces.items() if re.fullmatch(r"\[unused\d+\]", piece)]
        if outside and len(ids):
            ids = ids[self._learned(ids, outside)]
        return [texts[int(id)] for id in ids], ids

    def _learned(self, ids: NDArray[np.int64], outside: Sequence[int]) -> NDArray[np.bool_]:
        """Whether each row lies apart from those of the tokens `outside` all texts."""
        mean = _directions(self._embeddings[np.array(outside, np.int64)]).mean(axis=0)
        mean /= np.linalg.norm(mean) or 1
        blocks = [ids[first : first + _BLOCK] for first in range(0, len(ids), _BLOCK)]
        return np.concatenate([_directions(self._embeddings[block]) @ mean < _UNLEARNED for block in blocks])


def _texts(tokenizer: Any, pieces: dict[str, int]) -> dict[int, str]:
    """The text of each token that is a whole word, or may be one."""
    for mark in _BEGINNINGS:
        beginning = [id for piece, id in pieces.items() if piece.startswith(mark) and piece != mark]
        if 100 * len(beginning) > len(pieces):
            decoded = tokenizer.decode_batch([[id] for id in beginning], skip_special_tokens=False)
            return {id: text.strip() for id, text in zip(beginning, decoded, strict=True)}
    return {id: piece for piece, id in pieces.items()}


def _directions(vectors: Array) -> Array:
    """Vectors divided by their lengths, (..., width); a vector of length 0 stays 0."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)
