"""Tokenized text: tokens with their places in the text, and the words that they belong to."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Span = tuple[int, int]


@dataclass(frozen=True)
class Tokens:
    """A tokenized text. All places are in characters of `text`: `text[first:last]`.

    Attributes:
        text: the text, as typed.
        ids: the token ids, the model's input.
        pieces: the tokenizer's spelling of each token, which may lack accents and capitals.
        offsets: [first, last) of each token in the text, from the tokenizer; (0, 0) for a special token.
        special: whether each token was added by the tokenizer, as [CLS] and [SEP].
        unknown: the positions of unknown tokens ([UNK]), which replace text that the vocabulary can't express.
        words: each token's word, counted from 0; None for special tokens and bare spaces.
        spans: [first, last) of each word, with all its accents and joined emoji: `text[first:last]` is the word as
            typed.
    """

    text: str
    ids: list[int]
    pieces: list[str]
    offsets: list[Span]
    special: list[bool]
    unknown: tuple[int, ...] = ()

    @property
    def words(self) -> list[int | None]:
        return self._grouped[0]

    @property
    def spans(self) -> list[Span]:
        return self._grouped[1]

    @cached_property
    def _grouped(self) -> tuple[list[int | None], list[Span]]:
        return group(
            self.text, [None if special else span for special, span in zip(self.special, self.offsets, strict=True)]
        )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def has_words(self) -> bool:
        """Whether any token belongs to a word."""
        return any(word is not None and not special for word, special in zip(self.words, self.special, strict=True))

    def word(self, number: int) -> str:
        """The word of this number, counted from 0, as typed."""
        first, last = self.spans[number]
        return self.text[first:last]


def group(text: str, offsets: Sequence[Span | None]) -> tuple[list[int | None], list[Span]]:
    """Group pieces into the words of the text.

    A piece is never split: where one overlaps several words, as an unknown or a byte-level token may, they become one
    word. A word without a piece isn't counted.

    Args:
        text: the text.
        offsets: [first, last) of each piece, in characters; None for a piece outside the text.

    Returns:
        The word of each piece, counted from 0 in reading order (None for a piece outside the text, or a bare space),
        and [first, last) of each word.

    >>> group("I don't", [None, (0, 1), (2, 5), (5, 6), (6, 7), None])
    ([None, 0, 1, 1, 1, None], [(0, 1), (2, 7)])
    """
    given = np.array([(0, 0) if span is None else span for span in offsets], np.int64).reshape(-1, 2)
    inside = np.array([span is not None for span in offsets], np.bool_)
    numbers, spans = number_words(text, given, inside)
    return [None if number < 0 else number for number in numbers.tolist()], [
        (first, last) for first, last in spans.tolist()
    ]


def number_words(
    text: str, offsets: NDArray[np.int64], inside: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """As `group`, on arrays.

    Args:
        text: the text.
        offsets: [first, last) of each piece, (N, 2).
        inside: whether each piece is in the text, (N,).

    Returns:
        The word of each piece, -1 for none, (N,); and [first, last) of each word, (words, 2).
    """
    numbers = np.full(len(offsets), -1)
    limits = np.array(split(text), np.int64).reshape(-1, 2)
    # The words that each piece overlaps, from `first` to before `last`. A piece of width 0 (a mark of a word's
    # beginning) belongs to the word there.
    first = np.searchsorted(limits[:, 1], offsets[:, 0], side="right")
    last = np.searchsorted(limits[:, 0], np.maximum(offsets[:, 1], offsets[:, 0] + 1), side="left")
    places = np.flatnonzero(inside & (first < last))
    if not len(places):
        return numbers, limits[:0]
    # Words that a piece joins: each but the first of those that it overlaps is joined to the one before.
    joined = np.bincount(first[places] + 1, minlength=len(limits) + 1)
    joined -= np.bincount(last[places], minlength=len(joined))
    begins = np.cumsum(joined)[: len(limits)] == 0
    whole = np.cumsum(begins) - 1  # each word's number after joining
    used, numbers[places] = np.unique(whole[first[places]], return_inverse=True)
    firsts = limits[np.flatnonzero(begins), 0]
    lasts = limits[np.flatnonzero(np.append(begins[1:], True)), 1]
    return numbers, np.stack([firsts[used], lasts[used]], axis=1)


def split(text: str) -> list[Span]:
    """Split a text into words: [first, last) of each, in order; only spaces and control characters lie outside them.

    Letters and digits stay together, with their marks (accents), and with an apostrophe or full stop between two
    letters or two digits, or a comma between two digits: "don't", "U.S", "3.14". Hyphens split, so that each part of
    "state-of-the-art" can be looked at. Every ideograph is a word, and so is every symbol; an emoji includes the
    symbols joined to it. Source: Unicode Standard Annex #29, section 4.1, without its rules for single scripts.

    >>> text = "Don't go, naïve 東京 👍🏽!"
    >>> [text[first:last] for first, last in split(text)]
    ["Don't", 'go', ',', 'naïve', '東', '京', '👍🏽', '!']
    """
    return [match.span() for match in _WORD.finditer(kinds(text))]


def kinds(text: str) -> str:
    """The kind of each character of a text in its words, a letter each; see `_kind`.

    >>> kinds("Don't go!")
    'lll.lsllp'
    """
    return text.translate(_KINDS)


# The pattern of a word, on the kinds of its characters (see _kind).
_WORD = re.compile(
    r"(?:l[mz]*(?:\.(?=l))?|d[mz]*(?:[.,](?=d))?)+"  # letters and digits, with punctuation between two of them
    r"|ff[mz]*"  # a flag is a pair of letters of its own kind
    r"|[fi][mz]*"
    r"|[p.,](?:m|zp?)*"  # a symbol, with the symbols that are joined to it
    r"|[mz]+"
)
_BETWEEN = {"'": ".", "’": ".", "·": ".", ".": ".", ",": ","}
_JOINER, _BREAK = "\u200d", "\u200b"


def _kind(character: str) -> str:
    """l letter, d digit, i ideograph, m mark (of what precedes), z joiner, f half a flag, s space, p other; . and ,."""
    if (between := _BETWEEN.get(character)) is not None:
        return between
    category = unicodedata.category(character)
    if category in ("Lo", "Nl") and (
        "\u3400" <= character <= "\u9fff" or "\uf900" <= character <= "\ufaff" or character >= "\U00020000"
    ):
        return "i"
    if category[0] == "L" or category == "Pc":
        return "l"
    if category[0] == "N":
        return "d"
    if category[0] == "Z" or character == _BREAK or category == "Cc":
        return "s"
    if character == _JOINER:
        return "z"
    if category[0] == "M" or category == "Cf" or "\U0001f3fb" <= character <= "\U0001f3ff":
        return "m"  # accents, selectors of a picture's form, skin tones
    return "f" if "\U0001f1e6" <= character <= "\U0001f1ff" else "p"


class _Kinds(dict[int, str]):
    """The kind of each character, by its code point; remembered."""

    def __missing__(self, code: int) -> str:
        kind = self[code] = _kind(chr(code))
        return kind


_KINDS = _Kinds()
