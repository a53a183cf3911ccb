"""The types of tokens: `TYPES` by precedence, and the labels of a user's function."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.behaviour.token_groups import is_punctuation
from eyeline.models import Tokens
from eyeline.surveys.errors import SurveyError
from eyeline.surveys.scales import FIRST, SPECIAL, TYPES
from eyeline.words import worded

Numbers = NDArray[np.int64]
#: A user's function that labels tokens: one label for each token of a text, "" for none.
Classes = Callable[[Tokens], Sequence[str]]

#: The most types of tokens, with a user's labels.
MOST_TYPES = 64
_PUNCTUATION, _DIGITS, _CAPITAL, _PIECE, _WORD, _OTHER = (
    TYPES.index(name) for name in ("punctuation", "digits", "capital", "piece", "word", "other")
)


class _TypesOfTexts(dict[str, int]):
    """The type of a token's text, where it stands by itself; remembered, since a corpus has few different tokens."""

    _MOST = 1 << 18

    def __missing__(self, text: str) -> int:
        if len(self) >= self._MOST:
            self.clear()
        found = self[text] = _type_of(text.strip())
        return found


def _type_of(text: str) -> int:
    if is_punctuation(text):
        return _PUNCTUATION
    kinds = [unicodedata.category(character) for character in text]
    if kinds and all(kind[0] == "N" for kind in kinds):
        return _DIGITS
    if kinds and kinds[0] in ("Lu", "Lt"):
        return _CAPITAL
    return _WORD if any(kind[0] == "L" for kind in kinds) else _OTHER


_types_of_texts = _TypesOfTexts()


def types_of_texts(text: str, offsets: Numbers, words: Numbers, special: NDArray[np.bool_]) -> Numbers:
    """The type of each token of a text as a number in `TYPES`, but for "first", which depends on the window.

    A token is the first of these that it can be: special; punctuation (`is_punctuation`); digits (Unicode's category
    N); capital, where it begins with a capital in the text as typed; piece, a token with letters of the same word as
    the token before it; word, another with letters; and other: symbols, bare spaces, emoji.

    Args:
        text: the text.
        offsets: [first, last) of each token, (N, 2).
        words: the number of each one's word, below 0 for none, (N,).
        special: which tokens are special, (N,).

    >>> from eyeline.models import load
    >>> from eyeline.models.tokens import number_words
    >>> tokens = load("minilm").tokens("Well, tokenizers cost 3€!")
    >>> offsets, special = np.array(tokens.offsets), np.array(tokens.special)
    >>> words, spans = number_words(tokens.text, offsets, ~special)
    >>> [TYPES[number] for number in types_of_texts(tokens.text, offsets, words, special)][:6]
    ['special', 'capital', 'punctuation', 'word', 'piece', 'piece']
    """
    known = _types_of_texts
    numbers = np.array([known[text[first:last]] for first, last in offsets.tolist()], np.int64)
    same = np.zeros(len(words), np.bool_)
    same[1:] = (words[1:] == words[:-1]) & (words[1:] >= 0)
    numbers[same & (numbers == _WORD)] = _PIECE
    numbers[special] = SPECIAL
    return numbers


class TokenTypes:
    """The types of a block's tokens: `TYPES`, and those that a user's labels split off, in the order in which they
    come.

    Attributes:
        names: their names.
        parents: the number of each one's own type in `TYPES`.
    """

    def __init__(self, classes: Classes | None = None) -> None:
        self.names = list(TYPES)
        self.parents = list(range(len(TYPES)))
        self._classes = classes
        self._labels = {"": 0}
        self._numbers = {(parent, 0): parent for parent in self.parents}

    def labels(self, tokens: Tokens) -> Numbers:
        """The number of each token's label, as `numbers` takes it; 0 for none.

        Raises:
            SurveyError: if the user's function fails, or gives something other than a label for each token.
        """
        if self._classes is None:
            return np.zeros(len(tokens), np.int64)
        try:
            given = self._classes(tokens)
            labels = None if isinstance(given, (str, bytes)) else list(given)
        except Exception as error:  # whatever a user's function raises
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise SurveyError(
                worded("classes must give a label for each token of a text, but it raised {reason}", reason=reason)
            ) from error
        if labels is None or len(labels) != len(tokens):
            got = type(given).__name__ if labels is None else len(labels)
            raise SurveyError(
                worded(
                    'classes must give one label for each token of a text, {count} of them, got {got}; give "" for '
                    "tokens without a label",
                    count=len(tokens),
                    got=got,
                )
            )
        for label in labels:
            if label not in self._labels if isinstance(label, str) else True:
                self._labels[_checked(label)] = len(self._labels)
        return np.array([self._labels[label] for label in labels], np.int64)

    def numbers(self, types: Numbers, labels: Numbers) -> Numbers:
        """The types of a window's tokens as numbers in `names`, its first token's being "first".

        Args:
            types: as `types_of_texts` gives them.
            labels: as `labels` gives them.

        Raises:
            SurveyError: if there are more than 64 types now.
        """
        types = types.copy()
        types[:1] = FIRST
        if self._classes is None:
            return types
        pairs, places = np.unique(np.stack([types, labels]), axis=1, return_inverse=True)
        numbers = [self._number(parent, label) for parent, label in pairs.T.tolist()]
        return np.array(numbers, np.int64)[places.reshape(-1)]

    def _number(self, parent: int, label: int) -> int:
        known = self._numbers.get((parent, label))
        if known is not None:
            return known
        if len(self.names) >= MOST_TYPES:
            raise SurveyError(
                worded(
                    "classes must split the types of tokens into at most {most}, got more, the last one {name}; use "
                    "fewer labels",
                    most=MOST_TYPES,
                    name=f"{TYPES[parent]}/{list(self._labels)[label]}",
                )
            )
        number = self._numbers[parent, label] = len(self.names)
        self.names.append(f"{TYPES[parent]}/{list(self._labels)[label]}")
        self.parents.append(parent)
        return number


def _checked(label: object) -> str:
    if isinstance(label, str):
        try:
            label.encode()
        except UnicodeEncodeError:
            pass
        else:
            return label
    raise SurveyError(
        worded("labels that classes gives must be texts of valid Unicode, got {label}", label=repr(label))
    )
