"""Documents cut into windows: the tokens that a model reads at once, and which of them are counted there."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.behaviour.token_groups import around
from eyeline.models import ModelError, Tokens
from eyeline.models.tokenizing import check_unicode
from eyeline.surveys.document import Document
from eyeline.surveys.errors import SurveyError
from eyeline.surveys.scales import SPECIAL
from eyeline.surveys.settings import Settings
from eyeline.surveys.token_types import TokenTypes, types_of
from eyeline.words import worded

Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: The most characters that are tokenized at once.
PIECE = 1 << 17


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

    @cached_property
    def special_list(self) -> list[bool]:
        """`special`, as a list."""
        return list(self.special.tolist())


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
class _Around:
    """The special tokens before or after a text: their ids, names and labels."""

    ids: Ids
    names: list[str]
    labels: Ids | None

    @staticmethod
    def of(tokens: Tokens, places: range, labels: Ids | None) -> _Around:
        chosen = slice(places.start, places.stop)
        return _Around(
            np.array(tokens.ids[chosen], np.int64), tokens.pieces[chosen], None if labels is None else labels[chosen]
        )


@dataclass(eq=False)
class _Text:
    """Some tokens of a document's text."""

    ids: Ids = field(default_factory=lambda: np.zeros(0, np.int64))
    types: Ids = field(default_factory=lambda: np.zeros(0, np.int64))
    labels: Ids | None = None
    texts: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ids)

    def __add__(self, other: _Text) -> _Text:
        if not len(self):
            return other
        labels = None
        if self.labels is not None and other.labels is not None:
            labels = np.concatenate([self.labels, other.labels])
        return _Text(
            np.concatenate([self.ids, other.ids]),
            np.concatenate([self.types, other.types]),
            labels,
            self.texts + other.texts,
        )

    def cut(self, first: int, last: int | None = None) -> _Text:
        chosen = slice(first, last)
        return _Text(
            self.ids[chosen],
            self.types[chosen],
            None if self.labels is None else self.labels[chosen],
            self.texts[chosen],
        )


def windows_of(
    document: Document, tokens_of: Callable[[str], Tokens], settings: Settings, causal: bool, types: TokenTypes
) -> Iterator[TextWindow]:
    """Cut a document into windows of at most `settings.window` tokens, in the order of the text.

    Each has the special tokens that the tokenizer puts around a text; two neighbours have `settings.overlap` tokens of
    text in common. Every token of text is counted in one window: of an overlap, in a causal model all in the earlier
    one, in others the first half there; so it has more context. Special tokens are counted in each.

    A text of more than `PIECE` characters is tokenized in pieces, each up to a white space if there is one, so memory
    doesn't grow with its length.

    Raises:
        UnreadError: if the document has no word or isn't valid Unicode, or can't be tokenized; of a long text, after
            the windows of what comes before.
        SurveyError: if a user's function for labels fails, or the window has no room for the overlap and one more
            token.
    """
    try:
        check_unicode(document.text)
    except ModelError as error:
        raise UnreadError("encoding" if isinstance(document.text, str) else "not text", str(error)) from None
    cutting: _Cutting | None = None
    waiting = _Text()
    found_word = False
    for piece in pieces_of(document.text):
        try:
            tokens = tokens_of(piece)
        except ModelError as error:
            if cutting is not None and found_word:
                yield cutting.last(waiting)
            raise UnreadError("failed", str(error)) from None
        labels = types.labels(tokens)
        before, after = around(tokens)
        own = range(before, len(tokens) - after)
        if not own:
            continue
        if cutting is None:
            ends = _Around.of(tokens, range(before), labels), _Around.of(tokens, range(own.stop, len(tokens)), labels)
            cutting = _Cutting(document, *ends, settings, causal, types)
        waiting += _own(tokens, own, labels)
        found_word = found_word or tokens.has_words
        if found_word:
            waiting = yield from cutting.full(waiting)
    if cutting is None or not found_word:
        raise UnreadError("empty", worded("it has no words"))
    yield cutting.last(waiting)


class _Cutting:
    """Cuts a document's tokens into windows as they come."""

    def __init__(
        self, document: Document, before: _Around, after: _Around, settings: Settings, causal: bool, types: TokenTypes
    ) -> None:
        self._document, self._before, self._after, self._types = document, before, after, types
        self._room = settings.window - len(before.ids) - len(after.ids)
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

    def full(self, text: _Text) -> Generator[TextWindow, None, _Text]:
        """The windows that `text` fills, but for the document's last; gives the rest."""
        at, step = 0, self._room - self._overlap
        while len(text) - at > self._room:
            yield self._window(text.cut(at, at + self._room), self._room - self._kept)
            at += step
        return text.cut(at)

    def last(self, text: _Text) -> TextWindow:
        """The document's last window."""
        return self._window(text, len(text))

    def _window(self, text: _Text, end: int) -> TextWindow:
        """A window, whose tokens of text are counted up to `end`."""
        begin = self._overlap - self._kept if self._number else 0
        before, after = self._before, self._after
        n = len(text)
        special = np.ones(len(before.ids) + n + len(after.ids), np.bool_)
        own = slice(len(before.ids), len(before.ids) + n)
        special[own] = text.types == SPECIAL
        counted = np.ones(len(special), np.bool_)
        counted[own] = (np.arange(n) >= begin) & (np.arange(n) < end)
        numbers = np.full(len(special), -1)
        numbers[own] = self._first + np.arange(n)
        types = np.full(len(special), SPECIAL)
        types[own] = text.types
        labels = None
        if before.labels is not None and text.labels is not None and after.labels is not None:
            labels = np.concatenate([before.labels, text.labels, after.labels])
        window = TextWindow(
            self._document,
            self._number,
            np.concatenate([before.ids, text.ids, after.ids]),
            special,
            self._types.numbers(types, labels),
            counted,
            numbers,
            [*before.names, *text.texts, *after.names],
        )
        self._number += 1
        self._first += self._room - self._overlap
        return window


def _own(tokens: Tokens, own: range, labels: Ids | None) -> _Text:
    """A piece's own tokens, without the special ones around it."""
    chosen = slice(own.start, own.stop)
    offsets = np.array(tokens.offsets[chosen], np.int64).reshape(-1, 2)
    # Parts of one character have its place each: the first has its text.
    ends = np.maximum.accumulate(offsets[:, 1])
    text, starts = tokens.text, [0, *ends[:-1].tolist()]
    texts = [text[first:last] for first, last in zip(starts, ends.tolist(), strict=True)]
    return _Text(
        np.array(tokens.ids[chosen], np.int64),
        types_of(tokens)[chosen],
        None if labels is None else labels[chosen],
        texts,
    )


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
    """The place of the last white space in [first, last); None if there is none."""
    return next((place for place in range(last, first - 1, -1) if text[place].isspace()), None)
