"""Documents' tokens with their types, some thousand characters of text at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from eyeline.models import ModelError, Tokens
from eyeline.models.tokenizing import check_unicode
from eyeline.models.tokens import number_words
from eyeline.surveys.document import Document
from eyeline.surveys.token_types import TokenTypes, types_of_texts

Ids = NDArray[np.int64]

#: The most characters that are tokenized at once.
PIECE = 1 << 17


class UnreadError(Exception):
    """A document, or the rest of it, that can't be read.

    Attributes:
        reason: as in `REASONS`.
        detail: one line that says more.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


@dataclass(frozen=True, eq=False)
class TypedTokens:
    """Some tokens of a document, one after the other.

    Attributes:
        ids: their ids, (n,).
        types: their types, as numbers in `TYPES`, (n,).
        labels: the numbers of their labels, as `TokenTypes.labels` gives them, (n,).
        texts: each one's text with the spaces before it, so that neighbours joined give the text; special tokens by
            their names.
    """

    ids: Ids
    types: Ids
    labels: Ids
    texts: list[str]

    def __len__(self) -> int:
        return len(self.ids)

    def __add__(self, other: TypedTokens) -> TypedTokens:
        if not len(self):
            return other
        ids, types, labels = (
            np.concatenate([mine, its])
            for mine, its in ((self.ids, other.ids), (self.types, other.types), (self.labels, other.labels))
        )
        return TypedTokens(ids, types, labels, self.texts + other.texts)

    def cut(self, first: int, last: int | None = None) -> TypedTokens:
        """The tokens [first, last)."""
        chosen = slice(first, last)
        return TypedTokens(self.ids[chosen], self.types[chosen], self.labels[chosen], self.texts[chosen])


@dataclass(frozen=True, eq=False)
class Piece:
    """A piece of a document.

    Attributes:
        document: the document.
        place: its place among those that are read.
        read: its tokens, special ones around them included, or why it can't be read.
        has_words: whether any token belongs to a word.
    """

    document: Document
    place: int
    read: TypedTokens | UnreadError
    has_words: bool = False


def read_pieces(
    documents: Iterable[Document], tokens_of: Callable[[str], Tokens], types: TokenTypes
) -> Iterator[Piece]:
    """Tokenize documents, in their order: each in one piece, or, beyond `PIECE` characters, in several.

    What all tokens need is computed for many documents at once, so a short one costs little; memory is bounded.

    Args:
        documents: the documents.
        tokens_of: the tokenizer, for a whole text.
        types: gives the tokens their labels.

    Raises:
        SurveyError: if a user's function for labels fails.
    """
    waiting: list[tuple[Document, int, Tokens | UnreadError]] = []
    size = 0
    for place, document in enumerate(documents):
        for found in _tokenized(document, tokens_of):
            waiting.append((document, place, found))
            size += len(found.text) if isinstance(found, Tokens) else 0
            if size >= PIECE // 2:
                yield from _typed(waiting, types)
                waiting, size = [], 0
    yield from _typed(waiting, types)


def _tokenized(document: Document, tokens_of: Callable[[str], Tokens]) -> Iterator[Tokens | UnreadError]:
    try:
        check_unicode(document.text)
    except ModelError as error:
        yield UnreadError("encoding" if isinstance(document.text, str) else "not text", str(error))
        return
    for text in pieces_of(document.text):
        try:
            yield tokens_of(text)
        except ModelError as error:
            yield UnreadError("failed", str(error))
            return


def _typed(waiting: Sequence[tuple[Document, int, Tokens | UnreadError]], types: TokenTypes) -> Iterator[Piece]:
    every = [found for _, _, found in waiting if isinstance(found, Tokens)]
    counts = [len(tokens) for tokens in every]
    special = np.fromiter(chain.from_iterable(tokens.special for tokens in every), np.bool_)
    ids = np.fromiter(chain.from_iterable(tokens.ids for tokens in every), np.int64)
    flat = chain.from_iterable(chain.from_iterable(tokens.offsets for tokens in every))
    offsets = np.fromiter(flat, np.int64).reshape(-1, 2)
    # One text of all, with a line's end between two, where no word goes on.
    text = "\n".join([tokens.text for tokens in every])
    sizes = np.array([len(tokens.text) + 1 for tokens in every], np.int64)
    begins = np.repeat(np.cumsum(sizes) - sizes, counts)
    offsets += begins[:, None]
    words, _ = number_words(text, offsets, ~special)
    kinds = types_of_texts(text, offsets, words, special)
    # Parts of one character have its place each: the first has its text.
    ends = np.maximum.accumulate(offsets[:, 1])
    starts = np.maximum(np.append(0, ends[:-1]), begins)
    texts = [text[first:last] for first, last in zip(starts.tolist(), ends.tolist(), strict=True)]
    lasts = iter(np.cumsum(counts, dtype=np.int64).tolist())
    last = 0
    for document, place, found in waiting:
        if isinstance(found, UnreadError):
            yield Piece(document, place, found)
            continue
        first, last = last, next(lasts)
        here = slice(first, last)
        own_texts = texts[here]
        for at in np.flatnonzero(special[here]).tolist():
            own_texts[at] = found.pieces[at]
        read = TypedTokens(ids[here], kinds[here], types.labels(found), own_texts)
        yield Piece(document, place, read, bool((words[here] >= 0).any()))


def pieces_of(text: str, most: int = PIECE) -> Iterator[str]:
    """A text in pieces of at most `most` characters; each but the first begins with a white space if there is any.

    >>> list(pieces_of("time flies like an arrow", 9))
    ['time', ' flies', ' like an', ' arrow']
    """
    at = 0
    while len(text) - at > most:
        cut = _last_space(text, at + 1, at + most) or at + most
        yield text[at:cut]
        at = cut
    if at < len(text) or not text:
        yield text[at:]


def _last_space(text: str, first: int, last: int) -> int | None:
    """The place of the last white space in [first, last]; None if there is none."""
    return next((place for place in range(last, first - 1, -1) if text[place].isspace()), None)
