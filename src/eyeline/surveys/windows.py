"""Documents cut into windows: the tokens that a model reads at once, and which of them are counted there."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from eyeline.models import Tokens
from eyeline.surveys.document import Document
from eyeline.surveys.errors import SurveyError
from eyeline.surveys.scales import SPECIAL
from eyeline.surveys.settings import Settings
from eyeline.surveys.token_types import TokenTypes
from eyeline.surveys.typed_tokens import Piece, TypedTokens, UnreadError, read_pieces
from eyeline.words import worded

Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TextWindow:
    """A part of a document's tokens, which the model reads at once.

    Attributes:
        document: the document.
        number: the window's number in it, from 0.
        ids: the token ids, special tokens around them included, (n,).
        special: which tokens are special, (n,).
        types: each token's type, as a number in `TokenTypes.names`, (n,).
        counted: which tokens are counted in this window, (n,).
        numbers: each token's number among the document's tokens of text, from 0; -1 for a special token, (n,).
        texts: each token's text with the spaces before it, so that neighbours joined give the text; special tokens by
            their names.
    """

    document: Document
    number: int
    ids: Ids
    special: Flags
    types: Ids
    counted: Flags
    numbers: Ids
    texts: list[str]

    def __len__(self) -> int:
        return len(self.ids)


def windows_of_all(
    documents: Sequence[Document],
    tokens_of: Callable[[str], Tokens],
    settings: Settings,
    causal: bool,
    types: TokenTypes,
    skip: Callable[[Document, UnreadError], None],
) -> Iterator[TextWindow]:
    """The windows of several documents, in their order; see `windows_of`.

    Args:
        documents, tokens_of, settings, causal, types: as for `windows_of`.
        skip: called with each document that can't be read, or not to its end.
    """
    for place, pieces in groupby(read_pieces(documents, tokens_of, types), lambda piece: piece.place):
        try:
            yield from _windows(pieces, settings, causal, types)
        except UnreadError as error:
            skip(documents[place], error)


def windows_of(
    document: Document, tokens_of: Callable[[str], Tokens], settings: Settings, causal: bool, types: TokenTypes
) -> Iterator[TextWindow]:
    """Cut a document into windows of at most `settings.window` tokens, in the order of the text.

    Each has the special tokens that the tokenizer puts around a text; two neighbours have `settings.overlap` tokens of
    text in common. Every token of text is counted in one window: of an overlap, in a causal model all in the earlier
    one, in others the first half there; so it has more context. Special tokens are counted in each.

    A text of more than `PIECE` characters is tokenized in pieces, each up to a white space if there is one, so memory
    doesn't grow with its length.

    Args:
        document: the document.
        tokens_of: the tokenizer, for a whole text.
        settings: the sizes of a window and of an overlap.
        causal: whether the model is causal.
        types: gives the tokens their types, and takes new ones of a user's labels up.

    Raises:
        UnreadError: if the document has no word or isn't valid Unicode, or can't be tokenized; of a long text, after
            the windows of what comes before.
        SurveyError: if a user's function for labels fails, or the window has no room for the overlap and one more
            token.
    """
    return _windows(read_pieces([document], tokens_of, types), settings, causal, types)


def _windows(pieces: Iterable[Piece], settings: Settings, causal: bool, types: TokenTypes) -> Iterator[TextWindow]:
    """The windows of one document, given as its pieces."""
    cutting: _Cutting | None = None
    nothing = np.zeros(0, np.int64)
    waiting = TypedTokens(nothing, nothing, nothing, [])
    found_word = False
    for piece in pieces:
        if isinstance(piece.read, UnreadError):
            if cutting is not None and found_word:
                yield cutting.last(waiting)
            raise piece.read
        own = np.flatnonzero(piece.read.types != SPECIAL)
        if not len(own):
            continue
        begin, end = int(own[0]), int(own[-1]) + 1
        if cutting is None:
            cutting = _Cutting(piece.document, piece.read.cut(0, begin), piece.read.cut(end), settings, causal, types)
        waiting += piece.read.cut(begin, end)
        found_word = found_word or piece.has_words
        if found_word:
            waiting = yield from cutting.full(waiting)
    if cutting is None or not found_word:
        raise UnreadError("empty", "it has no words")
    yield cutting.last(waiting)


class _Cutting:
    """Cuts a document's tokens into windows as they come."""

    def __init__(
        self,
        document: Document,
        before: TypedTokens,
        after: TypedTokens,
        settings: Settings,
        causal: bool,
        types: TokenTypes,
    ) -> None:
        self._document, self._before, self._after, self._types = document, before, after, types
        self._room = settings.window - len(before) - len(after)
        self._overlap = settings.overlap
        if self._room <= self._overlap:
            raise SurveyError(
                worded(
                    "window must have room for the special tokens, the overlap and one token more, {least} tokens, "
                    "got {window}",
                    least=settings.window - self._room + self._overlap + 1,
                    window=settings.window,
                )
            )
        self._kept = 0 if causal else self._overlap - self._overlap // 2  # of the overlap, counted in the later window
        self._number = self._first = 0

    def full(self, text: TypedTokens) -> Generator[TextWindow, None, TypedTokens]:
        """The windows that `text` fills, but for the document's last; gives the rest."""
        at, step = 0, self._room - self._overlap
        while len(text) - at > self._room:
            yield self._window(text.cut(at, at + self._room), self._room - self._kept)
            at += step
        return text.cut(at)

    def last(self, text: TypedTokens) -> TextWindow:
        """The document's last window."""
        return self._window(text, len(text))

    def _window(self, text: TypedTokens, end: int) -> TextWindow:
        """A window, whose tokens of text are counted up to `end`."""
        whole = self._before + text + self._after
        begin, first = len(self._before), self._first
        counted = np.ones(len(whole), np.bool_)
        counted[begin : begin + (self._overlap - self._kept if self._number else 0)] = False
        counted[begin + end : begin + len(text)] = False
        numbers = np.full(len(whole), -1)
        numbers[begin : begin + len(text)] = np.arange(first, first + len(text))
        window = TextWindow(
            self._document,
            self._number,
            whole.ids,
            whole.types == SPECIAL,
            self._types.numbers(whole.types, whole.labels),
            counted,
            numbers,
            whole.texts,
        )
        self._number += 1
        self._first += self._room - self._overlap
        return window
